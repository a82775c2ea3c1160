"""Any server that speaks OpenAI's chat completions: OpenAI, Groq, Ollama, vLLM. It does not retry.

The protocol's one call is spoken through httpx; the package `openai` would bring retries and time-outs of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from docmind.llm.chat import ChatModel, Piece, Request, served, tokens
from docmind.llm.connection import connection
from docmind.llm.failure import refused, unreadable
from docmind.llm.schema import response_format
from docmind.types import Usage

if TYPE_CHECKING:
    import httpx


class OpenAI(ChatModel):
    """A model of OpenAI, or of another server that speaks its protocol. A key is sent where there is one."""

    @cached_property
    def _client(self) -> httpx.Client:
        client = connection(self._account)
        client.base_url = self._account.address
        if key := self._account.secret:
            client.headers["Authorization"] = f"Bearer {key}"
        weakref.finalize(self, client.close)
        return client

    def _pieces(self, request: Request) -> Generator[Piece]:
        from httpx_sse import EventSource, SSEError

        body: dict[str, object] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            "temperature": 0,
            "max_tokens": request.max_tokens,
        }
        if request.schema:
            body["response_format"] = response_format(request.schema)
        if request.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        try:
            with self._client.stream("POST", "chat/completions", json=body) as response:
                if response.status_code != 200:
                    response.read()
                    raise refused(self._account, self._model, response.status_code, response.headers, response.text)
                if not request.stream:
                    response.read()
                    yield self._read(response.text)
                    return
                for event in EventSource(response).iter_sse():
                    if event.data == "[DONE]":
                        return
                    yield self._read(event.data)
        except SSEError as error:
            raise unreadable(self._account, str(error)) from None

    def _read(self, text: str) -> Piece:
        try:
            return _Completion.model_validate_json(text).piece
        except ValidationError:
            raise unreadable(self._account, text) from None


class _Part(BaseModel):
    """A part of a content that is a list, as Mistral's reasoning models have it: text, or thoughts with texts in them."""

    text: str = ""
    thinking: str | list[_Part] = ""


class _Said(BaseModel):
    """Some servers give what a model thinks in a field of its own; which, differs."""

    content: str | list[_Part] | None = None
    reasoning_content: Any = None
    reasoning: Any = None

    @property
    def text(self) -> str:
        return _text(self.content or "")

    @property
    def thought(self) -> str:
        apart = next((told for told in (self.reasoning_content, self.reasoning) if isinstance(told, str)), "")
        parts = self.content if isinstance(self.content, list) else []
        return apart + "".join(_text(part.thinking) for part in parts)


def _text(content: str | list[_Part]) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)


class _Choice(BaseModel):
    said: _Said = Field(validation_alias=AliasChoices("message", "delta"))
    finish_reason: str | None = None


class _Completion(BaseModel):
    """A whole answer, or one event of a stream; the one that tells the usage has no choices.

    A good answer is not refused for its usage, whatever stands there.
    """

    choices: list[_Choice]
    model: Any = None
    system_fingerprint: Any = None
    usage: Any = None

    @property
    def piece(self) -> Piece:
        usage = _usage(self.usage) if isinstance(self.usage, dict) else None
        if not self.choices:
            return Piece(usage=usage)
        choice, by = self.choices[0], served(self.model, self.system_fingerprint)
        return Piece(choice.said.text, choice.finish_reason, usage, choice.said.thought, by)


def _usage(told: dict[str, Any]) -> Usage:
    return Usage(tokens(told.get("prompt_tokens")), tokens(told.get("completion_tokens")))
