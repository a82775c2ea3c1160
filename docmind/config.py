"""What can be set: where things lie, and which strategies there are. Nothing is read at import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from docmind.errors import UsageError

Profile = Literal["default", "hub"]
PROFILES: tuple[str, ...] = get_args(Profile)

DEPTH = 10
"""How many hits evaluation asks for. Part of the instrument: runs of different depth are not compared."""

COVERED = 0.8
"""The share of an alternative's characters that a hit must show to cover the piece. Part of the instrument."""

TOKEN_BUDGET = 1000
"""Tokens of context of hit@1000tok."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where a command reads and writes. The defaults are the project's own folders, relative to the current one."""

    corpus: Path = Path("corpus")
    questions: Path = Path("eval/questions.jsonl")
    out: Path = Path("results")
    baseline: Path = Path("results/baseline.json")
    answers: Path = Path("results/answers.json")
    grades: Path = Path("eval/human_grades.csv")
    thresholds: Path = Path("eval/thresholds.yaml")
    index_dir: Path = Path(".docmind")
    profile: Profile = "default"
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Strategy:
    """A chunker and a mode under a name. Their parameters stand at their entries in CHUNKERS and MODES."""

    name: str
    chunker: str
    mode: str


ORIGINAL = Strategy("s0_original", "recursive_1000", "mmr")
CONTENDERS = ("fixed_500", "semantic", "headers")
MATRIX: tuple[Strategy, ...] = (
    ORIGINAL,
    *(
        Strategy(f"{chunker}+{mode}", chunker, mode)
        for chunker in CONTENDERS
        for mode in ("vector", "hybrid", "rerank")
    ),
)
"""The ten strategies that `make eval` scores."""


def strategy(name: str) -> Strategy:
    """The strategy of that name: one of MATRIX, or any `chunker+mode`. Whether both exist is told where they are made.

    Raises UsageError where the name has neither form.
    """
    for known in MATRIX:
        if known.name == name:
            return known
    chunker, plus, mode = name.partition("+")
    if not (chunker and plus and mode) or "+" in mode:
        names = ", ".join(s.name for s in MATRIX)
        raise UsageError(f"unknown strategy {name!r}. Name one of {names}; or any CHUNKER+MODE, such as headers+bm25.")
    return Strategy(name, chunker, mode)
