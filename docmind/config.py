"""What can be set: where things lie. Nothing is read at import."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args

from docmind.errors import UsageError
from docmind.registry import unknown

Profile = Literal["default", "hub"]
PROFILES: tuple[str, ...] = get_args(Profile)

DEPTH = 10
"""How many hits of a question the reports show. Evaluation asks for as many, and for more where a metric takes more."""

COVERED = 0.8
"""The share of an alternative's characters that a hit must show to cover the piece. Part of the instrument."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where a command reads and writes. The defaults are the project's own folders, relative to the current one.

    What foreign retrievers reply is written to the folder `record`, or taken from the folder `replay` instead of asking
    them; None: neither. With `base`, a git commit by any name, the thresholds, strategies and baseline are those of that
    commit; `accept` says who let the folder's own count all the same. A text does for a path, and one pattern for `exclude`.
    Raises UsageError for another profile.
    """

    corpus: Path = Path("corpus")
    questions: Path = Path("eval/questions.jsonl")
    out: Path = Path("results")
    baseline: Path = Path("results/baseline.json")
    answers: Path = Path("results/answers.json")
    grades: Path = Path("eval/human_grades.csv")
    thresholds: Path = Path("eval/thresholds.yaml")
    strategies: Path = Path("eval/strategies.yaml")
    index_dir: Path = Path(".docmind")
    profile: Profile = "default"
    exclude: tuple[str, ...] = ()
    record: Path | None = None
    replay: Path | None = None
    base: str | None = None
    accept: str | None = None

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise UsageError(unknown("profile", str(self.profile), PROFILES))
        for field in fields(self):
            given = getattr(self, field.name)
            if isinstance(field.default, Path) or (field.name in ("record", "replay") and given is not None):
                object.__setattr__(self, field.name, Path(given))
        object.__setattr__(self, "exclude", (self.exclude,) if isinstance(self.exclude, str) else tuple(self.exclude))
