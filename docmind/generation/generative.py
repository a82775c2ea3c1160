"""Answers written by a language model from the passages, its citations checked."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from docmind.generation.citations import check
from docmind.generation.context import passages
from docmind.generation.prompts import ABSTENTION, messages
from docmind.protocols import LLM
from docmind.types import Answer, Citation, Completion, Query, Ranking, Usage


class Generative:
    """Puts the passages to `llm`. Without a passage it abstains and asks nobody."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.name

    def answer(self, query: Query, ranking: Ranking, on_text: Callable[[str], object] | None = None) -> Answer:
        """The answer to `query` from the first hits of `ranking`; `on_text` is told each piece as it comes, unchecked.

        Raises LanguageModelError.
        """
        started = perf_counter()
        given = passages(ranking)
        done = Completion(ABSTENTION, "", Usage())
        if given:
            done = self._llm.complete(messages(query, given), on_text=on_text)
        elif on_text:
            on_text(ABSTENTION)
        checked = check(done.text.strip(), len(given))
        before, said, _ = checked.text.casefold().partition(ABSTENTION.rstrip(".").casefold())
        abstained = bool(said) and not check(before, len(given)).cited  # an answer may say it of a part of the question
        hits = {passage.number: passage.hit for passage in given}
        return Answer(
            text=checked.text,
            citations=() if abstained else tuple(Citation(n, hits[n], hits[n].shown) for n in checked.cited),
            abstained=abstained,
            ranking=ranking,
            answerer=self.name,
            model=done.model,
            removed=checked.removed,
            usage=done.usage,
            timings={"answer": perf_counter() - started},
            cut=done.cut,
            served=done.served,
            thought=done.thought,
        )
