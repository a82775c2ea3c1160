"""What types cannot say of a record: which values go together. A record that a run made has none of these faults."""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from docmind.evaluation.record.checking import plain_fault
from docmind.evaluation.record.rules import faults as rules_faults
from docmind.evaluation.record.types import HitResult, QuestionResult, Record, SliceResult, StrategyResult
from docmind.evaluation.scoring.spans import is_hit

DISPLACING = 3
"""How many chunk ids a baseline keeps of a question: those that stand where a lost one might have stood."""

WHOLE = ("ranks", "lost_at", "hits", "error")
KEPT = ("ranks", "chunks")
"""What is written of a question: of results, and of a baseline."""


def faults(record: Record) -> Iterator[str]:
    """Sentences that begin with the field. A later one may follow from an earlier."""
    treatment = plain_fault(record.fingerprint.treatment, "fingerprint.treatment")
    if treatment:
        yield treatment
    if record.rules:
        yield from rules_faults(record.rules, "rules")
    if not record.counts.answerable:
        yield "counts.answerable: 0 was found; expected: at least 1, since a run without one is not scored."
    if not record.strategies:
        yield "strategies: there is none; at least one was expected."
    yield from _groups("types", record.types, "type", record)
    yield from _groups("splits", record.splits, "split", record)
    for name, strategy in record.strategies.items():
        at = f"strategies.{name}"
        yield from _names(f"{at}.questions", strategy.questions, record.instrument.questions, "question")
        yield from _metrics(at, strategy, record)
        yield from _foreign(at, strategy)
        for question, found in strategy.questions.items():
            yield from _question(f"{at}.questions.{question}", found, record, foreign=strategy.foreign is not None)
    yield from _pieces(record)
    yield from _counts(record)
    yield from _leakage(record)


def _names(at: str, found: Collection[str], expected: Collection[str], what: str) -> Iterator[str]:
    for name in expected:
        if name not in found:
            yield f"{at}.{name}: is missing; every {what} of the instrument was expected."
    for name in found:
        if name not in expected:
            yield f"{at}.{name}: is unknown; a {what} of the instrument was expected."


def _groups(part: str, groups: Mapping[str, Sequence[str]], what: str, record: Record) -> Iterator[str]:
    seen: set[str] = set()
    for name, ids in groups.items():
        for index, question in enumerate(ids):
            at = f"{part}.{name}[{index}]: {reprlib.repr(question)}"
            if question not in record.instrument.questions:
                yield f"{at} was found; expected: a question of the instrument."
            if question in seen:
                yield f"{at} stands twice; one {what} a question was expected."
            seen.add(question)


def _metrics(at: str, strategy: StrategyResult, record: Record) -> Iterator[str]:
    names = record.instrument.metrics.names
    if strategy.errors:
        for part, values in (
            ("metrics", strategy.metrics),
            ("by_type", strategy.by_type),
            ("by_split", strategy.by_split),
        ):
            if values:
                yield f"{at}.{part}: figures were found; expected: none, since a question ended in an error."
        return
    if strategy.metrics is None:
        yield f"{at}.metrics: null was found; expected: an object, since no question ended in an error."
    else:
        yield from _names(f"{at}.metrics", strategy.metrics, names, "metric")
    if strategy.metrics is not None and (unknown := [name for name in strategy.by_type if name not in record.types]):
        yield f"{at}.by_type.{unknown[0]}: is unknown; a type of `types` was expected."
    slices: Mapping[str, Mapping[str, SliceResult]] = {"by_type": strategy.by_type, "by_split": strategy.by_split}
    for part, of_part in slices.items():
        for name, one in of_part.items():
            yield from _names(f"{at}.{part}.{name}", one.metrics, names, "metric")
            if one.n > record.counts.answerable:
                yield f"{at}.{part}.{name}.n: {one.n} was found; expected: at most {record.counts.answerable}, all answerable."


def _foreign(at: str, strategy: StrategyResult) -> Iterator[str]:
    if (strategy.ceiling is None) != (strategy.foreign is not None):
        yield f"{at}.ceiling: {strategy.ceiling} was found; expected: null of a foreign strategy, and a share of any other."
    if strategy.foreign is None:
        return
    found = strategy.foreign
    if found.unplaced > found.passages:
        yield f"{at}.foreign.unplaced: {found.unplaced} was found; expected: at most {found.passages}, all passages."
    if len(found.unstable) > found.asked_again:
        yield f"{at}.foreign.unstable: {len(found.unstable)} were found; expected: at most {found.asked_again}, all asked again."
    for index, name in enumerate(found.unstable):
        if name not in strategy.questions:
            yield f"{at}.foreign.unstable[{index}]: {reprlib.repr(name)} was found; expected: a question."


def _question(at: str, found: QuestionResult, record: Record, *, foreign: bool) -> Iterator[str]:
    expected: tuple[str, ...] = KEPT if record.kind == "baseline" else WHOLE
    if foreign and found.steps and record.kind != "baseline":
        expected = (*expected, "steps")
        for index, step in enumerate(found.steps):
            if len(step.ranks) != len(found.ranks):
                yield f"{at}.steps[{index}].ranks: {len(step.ranks)} were found; expected: {len(found.ranks)}, a rank a piece."
    for field in expected:
        if field not in found.model_fields_set:
            yield f"{at}.{field}: is missing."
    for field in sorted(found.model_fields_set):
        if field not in expected:
            yield f"{at}.{field}: is unknown; {', '.join(expected)} were expected."
    depth = record.instrument.metrics.depth
    for index, rank in enumerate(found.ranks):
        if rank is not None and rank > depth:
            yield f"{at}.ranks[{index}]: {rank} was found; expected: null or a rank up to the depth, {depth}."
    if record.kind == "baseline":
        if len(found.chunks) > DISPLACING:
            yield f"{at}.chunks: {len(found.chunks)} were found; expected: at most {DISPLACING}."
    else:
        yield from _whole(at, found, record, foreign=foreign)


def _whole(at: str, found: QuestionResult, record: Record, *, foreign: bool) -> Iterator[str]:
    if found.error is not None and (found.ranks or found.hits):
        yield f"{at}.{'ranks' if found.ranks else 'hits'}: something was found; expected: nothing, of an error."
    if len(found.hits) > record.instrument.metrics.depth:
        yield f"{at}.hits: {len(found.hits)} were found; expected: at most {record.instrument.metrics.depth}, the depth."
    for index, rank in enumerate(found.ranks):
        if rank is not None and rank > len(found.hits):
            yield f"{at}.ranks[{index}]: {rank} was found; expected: the rank of one of {len(found.hits)} hits."
    missed = bool(found.ranks) and not is_hit(found.rank)
    if missed != (found.lost_at is not None):
        yield f"{at}.lost_at: {found.lost_at!r} was found; expected: {'a place, of a miss' if missed else 'null, of no miss'}."
    for index, hit in enumerate(found.hits):
        if hit.source or hit.spans or not foreign:  # else a passage that is in no document
            yield from _hit(f"{at}.hits[{index}]", hit, record)


def _hit(at: str, hit: HitResult, record: Record) -> Iterator[str]:
    if hit.source not in record.instrument.pages:
        yield f"{at}.source: {reprlib.repr(hit.source)} was found; expected: a document of the instrument's pages."
    if not hit.spans:
        yield f"{at}.spans: is empty; at least one span was expected."
    for index, (start, end) in enumerate(hit.spans):
        if start >= end:
            yield f"{at}.spans[{index}]: [{start}, {end}] was found; expected: a start before its end."
    for index, ((_, end), (start, _)) in enumerate(pairwise(hit.spans), start=1):
        if start <= end:
            yield f"{at}.spans[{index}]: begins at {start}; expected: after {end}, where the one before it ends."


def _pieces(record: Record) -> Iterator[str]:
    """The pieces of gold are the question's, so every strategy has as many ranks of it, but where it ended in an error."""
    pieces: dict[str, int] = {}
    for name, strategy in record.strategies.items():
        for question, found in strategy.questions.items():
            n = len(found.ranks)
            if found.error is None and pieces.setdefault(question, n) != n:
                yield (
                    f"strategies.{name}.questions.{question}.ranks: {n} were found; expected: {pieces[question]}, as in the "
                    "first strategy."
                )
    empty = sum(n == 0 for n in pieces.values())
    for part, known, told in (("unanswerable", empty, "no ranks"), ("answerable", len(pieces) - empty, "ranks")):
        counted = getattr(record.counts, part)
        if known > counted:
            yield f"counts.{part}: {counted} was found; expected: {known} or more, since so many questions have {told}."


def _counts(record: Record) -> Iterator[str]:
    counts, asked = record.counts, len(record.instrument.questions)
    if counts.answerable + counts.unanswerable != asked:
        yield (
            f"counts.answerable: {counts.answerable} was found, and counts.unanswerable: {counts.unanswerable}; expected: "
            f"{asked} together, the instrument's questions."
        )
    errors = sum(len(strategy.errors) for strategy in record.strategies.values())
    if counts.errors != errors:
        yield f"counts.errors: {counts.errors} was found; expected: {errors}, as many as questions have an error."


def _leakage(record: Record) -> Iterator[str]:
    if record.leakage:
        groups = record.leakage.shared_words
        for chunker, gaps in record.leakage.bm25_minus_vector.items():
            for name in [
                *(name for name in groups if name not in gaps),
                *(name for name in gaps if name not in groups),
            ]:
                yield f"leakage.bm25_minus_vector.{chunker}.{name}: stands alone; the groups of shared_words were expected."
