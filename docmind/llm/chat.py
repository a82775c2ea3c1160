"""What all providers share: pieces of an answer become a completion. A provider adds how the pieces are asked for."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from pydantic import BaseModel

from docmind.llm.account import Account
from docmind.llm.concealing import MARK, Concealing, conceal
from docmind.llm.failure import AttemptError, empty, misrouted, shown, unreachable
from docmind.llm.retry import persist
from docmind.llm.thinking import Thinking
from docmind.types import Completion, Message, Usage

logger = logging.getLogger(__name__)

MOST_TOKENS = 1_000_000_000
"""A greater count is none."""


def tokens(told: object) -> int:
    """The number of tokens that a server tells; 0, which means unknown, where that is no such number."""
    return int(told) if isinstance(told, int | float) and 0 <= told <= MOST_TOKENS else 0


def served(model: object, fingerprint: object = None) -> str:
    """What a server says that it answers with: "gpt-4.1-mini-2025-04-14 fp_3502f4eb73", "" where it does not tell."""
    return " ".join(told for told in (model, fingerprint) if isinstance(told, str) and told)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer: some of its text, why it ended, what it cost, what the model thinks apart from the text, and
    by whom it is `served`; each may be missing."""

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None
    thought: str = ""
    served: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked, once."""

    messages: tuple[Message, ...]
    schema: type[BaseModel] | None
    max_tokens: int
    stream: bool


class ChatModel(ABC):
    """An `LLM` over HTTP, thread-safe. It connects when it is first asked."""

    def __init__(self, account: Account, model: str) -> None:
        self._account = account
        self._model = model

    @property
    def name(self) -> str:
        """Provider and model, and the host if it is not the provider's own: "openai/llama3.2@localhost:11434"."""
        return f"{self._account.provider}/{self._label}"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        max_tokens: int = 1024,
        on_text: Callable[[str], object] | None = None,
    ) -> Completion:
        """As `LLM.complete` says. `Completion.model` is the name without the provider.

        What the model thinks aloud is no part of the text (thinking.py). An empty text is an error, save with `schema` where
        it is `cut`: the caller may ask again with a larger limit.
        """
        request = Request(tuple(map(_sendable, messages)), schema, max_tokens, stream=on_text is not None)

        def attempt() -> Completion:
            showing = Concealing(on_text, self._account.unmistakable) if on_text else None
            with closing(self._asked(request)) as pieces:
                whole = _gathered(pieces, showing)
            finish, usage = whole.finish or "", whole.usage or Usage()
            clean, thought = (conceal(text, self._account.unmistakable) for text in (whole.text, whole.thought))
            if (clean, thought) != (whole.text, whole.thought):
                logger.warning(
                    "%s wrote its key into the answer; %s stands there instead. Check the server.", self.name, MARK
                )
            cut = finish in {"length", "model_length"}
            if not whole.text.strip() and not (cut and schema):
                raise empty(self._account, finish, usage)
            by = shown(self._account, whole.served)
            return Completion(clean, self._label, usage, cut, thought, by)

        return persist(attempt, self._label)

    @property
    def _label(self) -> str:
        return f"{self._model}@{self._account.elsewhere}" if self._account.elsewhere else self._model

    def _asked(self, request: Request) -> Generator[Piece]:
        """As `_pieces`, where what fails on the way to the server is an AttemptError too."""
        import httpx

        try:
            yield from self._pieces(request)
        except httpx.RequestError as error:
            raise unreachable(self._account, error) from None
        except (httpx.InvalidURL, UnicodeError) as error:  # a name that cannot be looked up
            raise misrouted(self._account, error) from None

    @abstractmethod
    def _pieces(self, request: Request) -> Generator[Piece]:
        """The answer, in one piece unless it is streamed. Raises AttemptError, and what httpx raises on the way."""


def _sendable(message: Message) -> Message:
    """Lone surrogates, which a terminal gives for bytes that it cannot decode, cannot be sent and become "?"."""
    return Message(message.role, message.text.encode("utf-8", "replace").decode("utf-8"))


def _gathered(pieces: Iterator[Piece], showing: Concealing | None) -> Piece:
    """All `pieces` as one. `showing` is told what is said as it comes, not what is thought. Raises AttemptError where they
    are no whole."""
    parted = Thinking()
    apart: list[str] = []
    finish: str | None = None
    usage = Usage()
    by, told = "", False

    def tell(said: str) -> None:
        nonlocal told
        if said and showing:
            showing.write(said)
            told = True

    try:
        for piece in pieces:
            finish = piece.finish or finish
            usage = piece.usage or usage
            by = by or piece.served
            apart.append(piece.thought)
            tell(parted.more(piece.text))
        tell(parted.rest())
        if finish is None or finish == "error":
            raise AttemptError("The answer ended before it was whole.", again=True, usage=usage)
        if finish == "content_filter":
            raise AttemptError("The provider's content filter withholds the answer. Ask in other words.", usage=usage)
    except AttemptError as failure:
        if showing and told:
            showing.end()
            raise AttemptError(f"The answer broke off in the middle; ask again. {failure}", usage=usage) from None
        raise
    if showing:
        showing.end()
    thought = "\n\n".join(filter(None, ("".join(apart).strip(), parted.thought)))
    return Piece(parted.said, finish, usage, thought, by)
