"""Answers where nothing can quote and nothing can write: the passages, whole. For models that give no token vectors."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from docmind.generation.context import passages
from docmind.generation.prompts import ABSTENTION
from docmind.types import Answer, Citation, Query, Ranking


class Whole:
    """Points to the passages that were found, each under its number. It chooses nothing, so it has no confidence and abstains
    only where there is no passage."""

    name = "passages"

    def answer(self, query: Query, ranking: Ranking, on_text: Callable[[str], object] | None = None) -> Answer:
        """The answer to `query` from the first hits of `ranking`; `on_text` is told it whole."""
        started = perf_counter()
        found = passages(ranking)
        text = ABSTENTION
        if found:
            cited = " ".join(f"[{passage.number}]" for passage in found)
            text = f"No sentence is quoted, since this model gives no token vectors to choose one by. What was found: {cited}"
        if on_text:
            on_text(text)
        return Answer(
            text=text,
            citations=tuple(Citation(passage.number, passage.hit, passage.hit.chunk.spans) for passage in found),
            abstained=not found,
            ranking=ranking,
            answerer=self.name,
            timings={"answer": perf_counter() - started},
        )
