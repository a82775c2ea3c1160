"""What every report draws on, and what a report is. It computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from docmind.evaluation.gate.verdict import Verdict
from docmind.evaluation.record.types import Record
from docmind.evaluation.scoring.latency import Latency
from docmind.spec import slug
from docmind.types import Document, Question


@dataclass(frozen=True, slots=True)
class Material:
    """`timings` are by strategy; `documents` by id, those that were searched; `key` is the path of the answer key, and
    `link` a web address that a path of the repository follows, "" where there is none; `corpus` the folder, `commit` what
    was checked out, and `made` when, each "" where it is not known. `relevant` maps strategies and
    questions to the ids of the chunks that cover a piece. `verdict` is None where nothing was compared. `notes` are
    sentences on what limits the figures."""

    record: Record
    timings: Mapping[str, Latency]
    questions: Sequence[Question]
    documents: Mapping[str, Document]
    relevant: Mapping[str, Mapping[str, frozenset[str]]]
    key: str
    link: str = ""
    verdict: Verdict | None = None
    corpus: str = ""
    commit: str = ""
    made: str = ""
    notes: tuple[str, ...] = ()

    @property
    def medians(self) -> Mapping[str, float]:
        """Milliseconds a query by strategy that was timed."""
        return {name: taken.query.p50 for name, taken in self.timings.items()}


@dataclass(frozen=True, slots=True)
class Report:
    """A way to tell results: `render` gives its files, as texts by name; none where there is nothing to tell.

    `files` are the names that they may have, in which "{strategy}" stands for the slug of one of the record: what an
    earlier run may have left behind under these would be taken for this one's. `failed` gives the files that tell of a run
    which ended in an error, from its message and the exit code.
    """

    render: Callable[[Material], Mapping[str, str]]
    files: tuple[str, ...]
    failed: Callable[[str, int], Mapping[str, str]] = lambda _error, _code: {}

    def names(self, strategies: Iterable[str]) -> frozenset[str]:
        """The names of its files where these strategies are told."""
        return frozenset(
            name.replace("{strategy}", slug(strategy))
            for name in self.files
            for strategy in (strategies if "{strategy}" in name else [""])
        )
