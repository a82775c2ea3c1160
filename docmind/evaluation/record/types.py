"""What a run leaves behind, typed: its record, whole in latest.json, and in baseline.json with ranks and ids of chunks
alone. Which values go together is told by consistency.py."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictStr
from pydantic.dataclasses import dataclass

from docmind.evaluation.record.rules import Rules
from docmind.evaluation.scoring.attribution import LostAt
from docmind.evaluation.scoring.form import Form, Row, Share
from docmind.evaluation.scoring.leakage import Leakage
from docmind.evaluation.scoring.score import Values
from docmind.evaluation.scoring.spans import best
from docmind.extras import need
from docmind.registry import Named

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["results", "baseline"]
Count = Annotated[int, Field(ge=0)]
Position = Annotated[int, Field(ge=0, strict=True)]
Rank = Annotated[int, Field(ge=1)]
Metrics = Annotated[dict[str, Share | None], AfterValidator(partial(Named, "metric"))]
"""By name; None where a metric is not defined for one of the questions. A name that is not there is a UsageError."""


class GoldRule(Form):
    """Which share of an alternative a hit must show to cover the piece, and the hash of the code that decides. Runs under
    other rules are not compared."""

    covered: Share
    code: str


class MetricsRule(Form):
    """The metrics that are computed, in the order in which tables show them; how many hits of a question were asked for,
    which changes none of the first ones; and the hash of their code."""

    names: Row[str]
    depth: Rank
    code: str


class Instrument(Form):
    """All that a figure depends on beside the strategies. `answer_key` is the SHA-256 of its file; `pages` and `questions`
    map ids, rising, to hashes, so that what changed can be named and what did not be compared."""

    answer_key: str
    pages: dict[str, str]
    questions: dict[str, str]
    gold_rule: GoldRule
    metrics: MetricsRule


class Fingerprint(Form):
    """What a run was made with. `treatment` is plain JSON, compared and shown and never read: all that may change what is
    retrieved."""

    instrument: Instrument
    treatment: dict[str, Any]


class Counts(Form):
    """Of questions, but `errors`: of the answers, over all strategies, that ended in one. `left_out` are the questions of
    the answer key that a filter kept out of the run."""

    answerable: Count
    unanswerable: Count
    left_out: Count
    errors: Count


class SliceResult(Form):
    """The means over `n` answerable questions. In the file the metrics stand beside `n`."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Share | None] = Field(init=False)

    n: Rank

    @classmethod
    def of(cls, n: int, metrics: Values) -> SliceResult:
        """`n` and, by name, `metrics`."""
        return cls.model_validate({**metrics, "n": n})

    @property
    def metrics(self) -> Metrics:
        """The means by name."""
        return Named("metric", self.__pydantic_extra__)


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class HitResult:
    """A hit: the id of its chunk, the document that it is from, and where in that stands all that its reader sees, merged
    and rising: (start, end), half-open. Of a foreign passage that is in no document `source` is "" and `spans` are none.
    A slotted dataclass, as strict as a Form: a record has tens of thousands."""

    chunk: StrictStr
    source: StrictStr
    spans: tuple[tuple[Position, Position], ...]
    score: Annotated[float, Field(strict=True)]


class StepResult(Form):
    """One of a foreign system's searches for a question: what it searched for, and `ranks` as of the question, in the list
    of this step alone."""

    query: str
    ranks: Row[Rank | None]


class ForeignResult(Form):
    """What is known of a foreign retriever beside its ranks. `kind` is how it is reached. Of all `passages` that were graded
    `unplaced` could not be found in the documents, the first of them told as `examples`; of a run that can be judged they
    are at most the share `max_unplaced`. `few` questions got fewer passages than were asked for. Of `asked_again` questions
    those named in `unstable` got other passages the second time."""

    kind: str
    passages: Count
    unplaced: Count
    examples: Row[str]
    max_unplaced: Share
    few: Count
    asked_again: Count
    unstable: Row[str]

    @property
    def misplaced(self) -> bool:
        """Whether more could not be found in the documents than may be."""
        return self.unplaced > Fraction(str(self.max_unplaced)) * self.passages


class QuestionResult(Form):
    """What a strategy found for a question. `ranks`: for each piece of gold the rank of the first hit that covers it, or
    None; of an unanswerable question and of an error there are none. `lost_at` says of a miss at 3 where it was lost.

    `steps` are those of a foreign system that searched several times.

    A baseline has the `ranks` alone, and `chunks`: of an answerable question the ids of the first three.
    """

    ranks: Row[Rank | None]
    lost_at: LostAt | None = None
    hits: Row[HitResult] = ()
    error: str | None = None
    chunks: Row[str] = ()
    steps: Row[StepResult] = ()

    @property
    def rank(self) -> int | None:
        """The best of the ranks."""
        return best(self.ranks)

    def at(self, rank: int) -> HitResult | str | None:
        """What stands at `rank`: a hit, or the id of its chunk where no more was kept; None where nothing does."""
        found = self.hits or self.chunks
        return found[rank - 1] if rank <= len(found) else None


class StrategyResult(Form):
    """What a strategy, a chunker and a mode, is worth. With an error there are no `metrics` and no slices. `ceiling` is
    the share of the answerable questions that some single chunk can win, None of a `foreign` one, whose chunks nobody
    knows."""

    chunker: str
    mode: str
    metrics: Metrics | None
    by_type: Annotated[dict[str, SliceResult], AfterValidator(partial(Named, "type of question"))] = Field(repr=False)
    by_split: Annotated[dict[str, SliceResult], AfterValidator(partial(Named, "split"))] = Field(repr=False)
    ceiling: Share | None
    questions: Annotated[dict[str, QuestionResult], AfterValidator(partial(Named, "question"))] = Field(repr=False)
    foreign: ForeignResult | None = None

    def metric(self, name: str) -> float | None:
        """The mean over all answerable questions, None where there is none."""
        return self.metrics.get(name) if self.metrics else None

    @property
    def errors(self) -> dict[str, str]:
        """By question what it ended in."""
        return {name: found.error for name, found in self.questions.items() if found.error is not None}


class Record(Form):
    """A run. `types` maps each type of question to the ids of its questions, both rising, and `splits` each split.
    `strategies` stand in the order in which they were asked for, their questions by id; `record[name]` is one of them.
    Files of earlier versions tell no `splits`, and no `rules`: they are None then."""

    kind: Kind = "results"
    fingerprint: Fingerprint = Field(repr=False)
    counts: Counts
    types: dict[str, Row[str]] = Field(repr=False)
    splits: dict[str, Row[str]] = Field(default_factory=dict, repr=False)
    leakage: Leakage | None = Field(repr=False)
    rules: Rules | None = Field(default=None, repr=False)
    strategies: Annotated[dict[str, StrategyResult], AfterValidator(partial(Named, "strategy of this run"))]

    def __getitem__(self, strategy: str) -> StrategyResult:
        """Raises UsageError, which lists the strategies there are, for another."""
        return self.strategies[strategy]

    def to_pandas(self) -> pd.DataFrame:
        """A row a strategy, a column a metric. Raises MissingPackageError where there is no pandas."""
        need("page", "to_pandas()", "pandas")
        import pandas as pd

        rows = {name: dict(found.metrics or {}) for name, found in self.strategies.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

    @property
    def instrument(self) -> Instrument:
        """What it was measured with."""
        return self.fingerprint.instrument
