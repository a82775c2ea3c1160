"""Asks: retrieves with a strategy and answers from what was found. The one call behind chat and page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from docmind import text
from docmind.errors import UsageError
from docmind.generation.context import PASSAGES
from docmind.generation.extractive import Extractive
from docmind.generation.generative import Generative
from docmind.generation.whole import Whole
from docmind.llm import PROVIDERS
from docmind.protocols import Answerer
from docmind.retrieval.searcher import Searcher, asked
from docmind.retrieval.strategies import Strategy
from docmind.types import Answer, Query

ANSWERERS = (Extractive.name, *PROVIDERS)
"""Who can answer: without a key the first, the others with one."""

LONGEST_QUESTION = 4_000
"""Characters. A language model is paid by the word, and the embedder reads some 2,000."""


def answerer(name: str, searcher: Searcher, strategy: str | Strategy, model: str | None = None) -> Answerer:
    """The answerer of that name for what `strategy` finds; `model` is a provider's, its default if None. Where the searcher's
    model gives no token vectors, by which sentences are chosen, or the strategy is foreign, the passages stand in for the
    extractive answers.

    Raises UsageError for an unknown name, LanguageModelError where its key is missing.
    """
    wanted = searcher.find(strategy)
    if name == Extractive.name and (wanted.foreign or not searcher.embedder.has_tokens):
        return Whole()
    if name == Extractive.name:
        collection = searcher.collection(wanted.chunker)
        return Extractive(searcher.embedder, collection.token_vectors, searcher.documents)
    return Generative(PROVIDERS[name](model))


def checked(question: str) -> str:
    """The question without characters that cannot be seen. Raises UsageError where no word is left, or too much."""
    plain = asked(text.visible(question, " ").strip()).text
    if len(plain) > LONGEST_QUESTION:
        raise UsageError(f"The question has {len(plain):,} characters; it may have {LONGEST_QUESTION:,}. Shorten it.")
    return plain


def ask(
    searcher: Searcher,
    strategy: str | Strategy,
    answerer_name: str,
    question: str | Query,
    *,
    model: str | None = None,
    on_text: Callable[[str], object] | None = None,
) -> Answer:
    """The answer, with the seconds of `retrieval` and `answer` in its timings. Raises UsageError as `checked` does."""
    query = Query(question) if isinstance(question, str) else question
    query = replace(query, text=checked(query.text))
    started = perf_counter()
    ranking = searcher(strategy, query, PASSAGES)
    retrieval = perf_counter() - started
    found = answerer(answerer_name, searcher, strategy, model).answer(query, ranking, on_text)
    return replace(found, timings={"retrieval": retrieval, **found.timings})
