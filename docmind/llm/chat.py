"""What all providers share: pieces of an answer become a completion. A provider adds how the pieces are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel

from docmind.llm.account import Account
from docmind.llm.failure import AttemptError
from docmind.llm.retry import persist
from docmind.types import Completion, Message, Usage

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0
"""How long a server may be silent, before its answer and within it."""


def timeout() -> httpx.Timeout:
    """The time-outs of every request."""
    import httpx

    return httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer: some of its text, why it ended, what it cost; each may be missing."""

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None


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
        """As `LLM.complete` says. `Completion.model` is the name without the provider, as `prices.cost` wants it."""
        request = Request(tuple(map(_sendable, messages)), schema, max_tokens, stream=on_text is not None)

        def attempt() -> Completion:
            with closing(self._pieces(request)) as pieces:
                return _gathered(pieces, self._label, on_text)

        return persist(attempt, self._label)

    @property
    def _label(self) -> str:
        return f"{self._model}@{self._account.elsewhere}" if self._account.elsewhere else self._model

    @abstractmethod
    def _pieces(self, request: Request) -> Generator[Piece]:
        """The answer, in one piece unless it is streamed. Raises AttemptError."""


def _sendable(message: Message) -> Message:
    """Lone surrogates, which a terminal gives for bytes that it cannot decode, cannot be sent and become "?"."""
    return Message(message.role, message.text.encode("utf-8", "replace").decode("utf-8"))


def _gathered(pieces: Iterator[Piece], model: str, on_text: Callable[[str], object] | None) -> Completion:
    """The completion that `pieces` add up to, each told to `on_text`. Raises AttemptError where they are not a whole one."""
    texts: list[str] = []
    finish: str | None = None
    usage = Usage()
    try:
        for piece in pieces:
            finish = piece.finish or finish
            usage = piece.usage or usage
            if piece.text:
                texts.append(piece.text)
                if on_text:
                    on_text(piece.text)
        if finish is None or finish == "error":
            raise AttemptError("The answer ended before it was whole.", again=True, usage=usage)
        if finish == "content_filter":
            raise AttemptError("The provider's content filter withholds the answer. Ask in other words.", usage=usage)
    except AttemptError as failure:
        if on_text and texts:
            raise AttemptError(f"The answer broke off in the middle; ask again. {failure}", usage=usage) from None
        raise
    return Completion("".join(texts), model, usage, cut=finish in {"length", "model_length"})
