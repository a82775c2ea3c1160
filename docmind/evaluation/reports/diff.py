"""Two runs held against each other, as lines for a terminal: what differs, then each strategy's flips. It judges nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from docmind.evaluation.gate.compare import Change, Comparison, Flip
from docmind.evaluation.gate.verdict import probability
from docmind.evaluation.record.types import HitResult
from docmind.evaluation.reports.excerpts import NOWHERE
from docmind.evaluation.reports.tables import MISSING
from docmind.text import plural


def lines(comparison: Comparison, types: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The lines, without ends. `types` maps a type to the ids of its questions."""
    for refusal in comparison.refusals:
        yield f"not comparable: {refusal}"
    yield from (difference for difference in comparison.differences if not difference.endswith(": same"))
    for reason, ids in comparison.not_compared.items():
        more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
        yield f"not compared, {reason}: {plural(len(ids), 'question')} ({', '.join(ids[:5])}{more})"
    for reason, names in (
        ("in the first run alone", comparison.missing),
        ("in the second run alone", comparison.added),
    ):
        if names:
            yield f"{reason}: {', '.join(names)}"
    type_of = {question: kind for kind, ids in types.items() for question in ids}
    for change in comparison.changes:
        yield ""
        yield from flips(change, type_of)


def flips(change: Change, type_of: Mapping[str, str]) -> Iterator[str]:
    """The lines of one strategy; `type_of` maps questions to their types."""
    yield (
        f"{change.strategy}: Hit@3 {change.before} → {change.after} of {change.n}; lost {len(change.lost)}, gained "
        f"{len(change.gained)}, p = {probability(change.p)}"
    )
    lost, gained = (
        Counter(type_of.get(f.question_id, MISSING) for f in found) for found in (change.lost, change.gained)
    )
    for kind in sorted((lost | gained).keys() - {MISSING}):
        yield f"  {kind}: lost {lost[kind]}, gained {gained[kind]}"
    for verb, found in (("lost", change.lost), ("gained", change.gained)):
        for flip in found:
            yield f"  {verb} {flip.question_id}: rank {flip.old or MISSING} → {flip.new or MISSING}{_instead(flip)}"


def _instead(flip: Flip) -> str:
    at = f", lost at {flip.lost_at}" if flip.lost_at else ""
    return f"{at}; in its place {_place(flip.instead)}" if flip.instead else at


def _place(hit: HitResult | str) -> str:
    if isinstance(hit, str):
        return f"chunk {hit}"
    if not hit.spans:
        return NOWHERE
    spans = ", ".join(f"{start}:{end}" for start, end in hit.spans)
    return f"{hit.source} [{spans}] (chunk {hit.chunk})"
