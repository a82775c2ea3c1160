"""The passages that an answer may rest on: the first few hits, numbered as they are cited."""

from __future__ import annotations

from dataclasses import dataclass

from docmind.types import Hit, Ranking

PASSAGES = 3
"""How many hits an answer may rest on: evaluation's hit@3 is about the same three."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit under the `number`, from 1, by which an answer cites it."""

    number: int
    hit: Hit


def passages(ranking: Ranking) -> tuple[Passage, ...]:
    """The first PASSAGES hits, or as many as there are."""
    return tuple(Passage(number, hit) for number, hit in enumerate(ranking.hits[:PASSAGES], start=1))
