"""The catalogue of language models behind an API. It reads no key and connects to nothing at import."""

from __future__ import annotations

from collections.abc import Callable

from docmind.errors import LanguageModelError
from docmind.llm.mistral import Mistral
from docmind.llm.openai import OpenAI
from docmind.protocols import LLM
from docmind.registry import Registry

PROVIDERS: Registry[Callable[[str | None], LLM]] = Registry("provider", [("mistral", Mistral), ("openai", OpenAI)])
"""By name, what makes a model of that provider: `PROVIDERS["mistral"](None)` is its default model.

Making one reads key and address, and raises LanguageModelError where they are missing; nothing is sent yet.
"""


def available() -> tuple[str, ...]:
    """The providers that can be asked: those whose key, where they need one, is set."""

    def can_be_asked(provider: str) -> bool:
        try:
            PROVIDERS[provider](None)
        except LanguageModelError:
            return False
        return True

    return tuple(filter(can_be_asked, PROVIDERS))
