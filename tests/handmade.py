"""Records made by hand, as small as the gate and its reports can be asked about. It tests nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from docmind.evaluation.record.baseline import baseline
from docmind.evaluation.record.types import (
    Counts,
    Fingerprint,
    GoldRule,
    HitResult,
    Instrument,
    MetricsRule,
    QuestionResult,
    Record,
    SliceResult,
    StrategyResult,
)
from docmind.evaluation.scoring.latency import Latency, Percentiles
from docmind.types import Document, Gold, Question, Span

GOLD_RULE = {"covered": 0.8, "code": "r" * 64}
TREATMENT = {
    "strategies": {},
    "chunkers": {"headers": {"size": 500, "cap": 500}},
    "models": {"embedder": "MiniLM", "reranker": None},
    "libraries": {"numpy": "2.4"},
    "code": {"retrieval/bm25.py": "aa", "retrieval/mmr.py": "bb"},
}
PAGE = "0123456789" * 20
"""The page of all hits: that at rank r shows ten characters from 10 r on."""

DOCUMENTS = {"page.md": Document("page.md", "Page", PAGE)}

Found = int | None | Sequence[int | None] | str
"""What a strategy did with a question: the rank of its one piece, the ranks of several, () if it has no gold, or the
text of an error."""


def results(
    strategies: Mapping[str, Mapping[str, Found]],
    *,
    asked: Mapping[str, str] | None = None,
    pages: Mapping[str, str] | None = None,
    types: Mapping[str, Sequence[str]] | None = None,
    gold_rule: Mapping[str, Any] = GOLD_RULE,
    treatment: Mapping[str, Any] = TREATMENT,
    run: str = "",
    left_out: int = 0,
) -> Record:
    """A record of latest.json. `asked` changes hashes of questions; the chunks' ids begin with `run`."""
    questions = {name: f"hash of {name}" for found in strategies.values() for name in found}
    first = next(iter(strategies.values()))
    return Record(
        fingerprint=Fingerprint(
            instrument=Instrument(
                answer_key="k" * 64,
                pages={"page.md": "p1"} if pages is None else dict(pages),
                questions=questions | dict(asked or {}),
                gold_rule=GoldRule(**gold_rule),
                metrics=MetricsRule(names=("hit@3",), depth=10, code="m" * 64),
            ),
            treatment=dict(treatment),
        ),
        counts=Counts(
            answerable=sum(found != () for found in first.values()),
            unanswerable=sum(found == () for found in first.values()),
            left_out=left_out,
            errors=sum(isinstance(f, str) for found in strategies.values() for f in found.values()),
        ),
        types={name: tuple(ids) for name, ids in (types or {}).items()},
        leakage=None,
        strategies={name: strategy(found, run, *parts(name)) for name, found in strategies.items()},
    )


def reference(strategies: Mapping[str, Mapping[str, Found]], **rest: Any) -> Record:
    """A record of baseline.json."""
    return baseline(results(strategies, run="old ", **rest))


def parts(name: str) -> tuple[str, str]:
    """The chunker and the mode of a name, as the packaged strategies have them."""
    chunker, _, mode = name.partition("+")
    return ("recursive_1000", "mmr") if name == "s0_original" else (chunker, mode)


def latency(p50: float) -> Latency:
    """Of queries that all took as long."""
    return Latency(n=1, query=Percentiles(p50=p50, p95=p50), stages={})


def hits(n: int, lost: int = 0, gained: int = 0, of: int = 100) -> dict[str, Found]:
    """`of` questions, q0000 on, of which a run before won `n` at rank 1, and this one lost the first `lost` of those and
    won `gained` of the others: 0 flips are the run before."""
    won = [*range(lost, n), *range(n, n + gained)]
    return {f"q{i:04}": 1 if i in set(won) else None for i in range(of)}


def questions(found: Mapping[str, Found], **text: str) -> list[Question]:
    """The questions asked, in lines from 1; `text` of one by its id."""
    gold = (Gold((Span("page.md", 0, 10),)),)
    return [
        Question(name, text.get(name, f"What of {name}?"), () if ranks == () else gold, line=line)
        for line, (name, ranks) in enumerate(found.items(), start=1)
    ]


def strategy(found: Mapping[str, Found], run: str = "", chunker: str = "headers", mode: str = "bm25") -> StrategyResult:
    """What a strategy found; half of it is won, whatever the ranks say."""
    errors = any(isinstance(f, str) for f in found.values())
    return StrategyResult(
        chunker=chunker,
        mode=mode,
        metrics=None if errors else {"hit@3": 0.5},
        by_type={},
        by_split={},
        ceiling=1.0,
        questions={name: _question(name, f, run) for name, f in found.items()},
    )


def sliced(n: int, hit3: float) -> SliceResult:
    """A slice with one figure."""
    return SliceResult.of(n, {"hit@3": hit3})


def _question(name: str, found: Found, run: str) -> QuestionResult:
    error = found if isinstance(found, str) else None
    ranks = () if error else (found,) if found is None or isinstance(found, int) else tuple(found)
    rank = min((r for r in ranks if r is not None), default=None)
    return QuestionResult(
        ranks=ranks,
        lost_at="fusion" if ranks and (rank is None or rank > 3) else None,
        hits=() if error else tuple(_hit(f"{run}{name} at {place}", place) for place in range(1, 11)),
        error=error,
    )


def _hit(chunk: str, place: int) -> HitResult:
    return HitResult(chunk=chunk, source="page.md", spans=((10 * place, 10 * place + 10),), score=1 / place)
