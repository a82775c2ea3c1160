"""Mistral's models through the package `mistralai`, whose own retries, logger and time-outs are not used."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from docmind.llm.chat import ChatModel, Piece, Request, served, tokens
from docmind.llm.connection import connection, timeout
from docmind.llm.failure import refused, shown, unreadable
from docmind.llm.schema import response_format
from docmind.types import Usage

if TYPE_CHECKING:
    import httpx
    from mistralai.client import Mistral as Client
    from mistralai.client import models

logger = logging.getLogger(__name__)


class Mistral(ChatModel):
    """A model of Mistral, or of another server that speaks its protocol."""

    @cached_property
    def _client(self) -> Client:
        from mistralai.client import Mistral as Client
        from mistralai.client.utils.logger import NoOpLogger

        home, model = self._account, self._model
        limits = timeout().as_dict()

        def keep_time(request: httpx.Request) -> None:
            """The package knows one time-out for everything, and sets it on each request."""
            request.extensions["timeout"] = limits

        def settle(response: httpx.Response) -> None:
            """The package looks into two answers that it has not read, and fails: an error without a body, and a
            stream whose header tells that the model will end."""
            if response.status_code != 200 or "event-stream" not in response.headers.get("content-type", ""):
                response.read()
            if end := response.headers.pop("x-model-deprecation-timestamp", None):
                logger.warning("mistral ends the model %r at %s. Choose another.", model, shown(home, end))

        http = connection(home)
        http.event_hooks["request"].append(keep_time)
        http.event_hooks["response"].append(settle)
        weakref.finalize(self, http.close)
        return Client(
            api_key=lambda: home.secret,  # as text, the repr of the client's settings would show it
            server_url=home.address.removesuffix("/v1"),  # the package adds it
            client=http,
            retry_config=None,
            debug_logger=NoOpLogger(),  # with MISTRAL_DEBUG set, its own writes every prompt to the root logger
        )

    def _pieces(self, request: Request) -> Generator[Piece]:
        from mistralai.client import errors, models

        kinds = {"system": models.SystemMessage, "user": models.UserMessage, "assistant": models.AssistantMessage}
        messages = [kinds[m.role](content=m.text) for m in request.messages]
        form = models.ResponseFormat.model_validate(response_format(request.schema)) if request.schema else None
        ask = self._client.chat
        try:
            if not request.stream:
                whole = ask.complete(
                    model=self._model,
                    messages=messages,
                    temperature=0,
                    max_tokens=request.max_tokens,
                    response_format=form,
                )
                for choice in whole.choices[:1]:
                    said, thought = _parted(choice.message.content if choice.message else None)
                    yield Piece(said, choice.finish_reason, _usage(whole.usage), thought, served(whole.model))
                return
            with ask.stream(
                model=self._model,
                messages=messages,
                temperature=0,
                max_tokens=request.max_tokens,
                response_format=form,
            ) as events:
                yield from self._told(events)
        except errors.MistralError as error:
            if error.status_code == 200:
                raise unreadable(self._account, error.body) from None
            raise refused(self._account, self._model, error.status_code, error.headers, error.body) from None

    def _told(self, events: Iterator[models.CompletionEvent]) -> Iterator[Piece]:
        try:
            for event in events:
                for part in event.data.choices[:1]:
                    said, thought = _parted(part.delta.content)
                    by = served(event.data.model)
                    yield Piece(said, part.finish_reason, _usage(event.data.usage), thought, by)
        except (ValueError, RecursionError) as error:  # no UTF-8, too deep, or a number of too many digits
            raise unreadable(self._account, str(error)) from None


def _parted(content: object) -> tuple[str, str]:
    """What is said and what is thought of a message's content, which is text, nothing, or a list in which a reasoning model
    also thinks."""
    from mistralai.client import models

    def texts(chunks: Sequence[object]) -> str:
        return "".join(chunk.text for chunk in chunks if isinstance(chunk, models.TextChunk))

    if isinstance(content, list):
        return texts(content), "".join(texts(c.thinking) for c in content if isinstance(c, models.ThinkChunk))
    return content if isinstance(content, str) else "", ""


def _usage(told: models.UsageInfo | None) -> Usage | None:
    return Usage(tokens(told.prompt_tokens), tokens(told.completion_tokens)) if told else None
