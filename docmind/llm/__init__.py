"""The catalogue of language models behind an API. It reads no key and connects to nothing at import."""

from __future__ import annotations

from docmind.llm.mistral import Mistral
from docmind.llm.openai import OpenAI
from docmind.llm.provider import Provider
from docmind.registry import Registry

__all__ = ["PROVIDERS", "Provider", "available"]

PROVIDERS: Registry[Provider] = Registry(
    "provider",
    [
        (row.name, row)
        for row in (
            Provider(
                "mistral",
                "https://api.mistral.ai/v1",
                Mistral,
                model="mistral-small-2506",
                judge="mistral-large-latest",
                prices={"mistral-small-2506": (0.10, 0.30), "mistral-large-latest": (2.00, 6.00)},
            ),
            Provider(
                "openai",
                "https://api.openai.com/v1",
                OpenAI,
                model="gpt-4.1-mini",
                key_elsewhere=False,
                prices={"gpt-4.1-mini": (0.40, 1.60)},
            ),
            Provider("groq", "https://api.groq.com/openai/v1", OpenAI, model="openai/gpt-oss-20b"),
            Provider(
                "ollama", "http://localhost:11434/v1", OpenAI, model="llama3.2", key_at_home=False, key_elsewhere=False
            ),
        )
    ],
)
"""By name: `PROVIDERS["mistral"]()` is Mistral's default model. To add one that speaks a protocol known here: a row.

Another protocol is a file beside this one. `openai` at another address, OPENAI_BASE_URL, stands for any server that speaks
OpenAI's.

Prices change, and a name such as mistral-large-latest comes to mean another model. These were gathered on
30 November 2026 from published lists, not from an invoice; for mistral-large-latest those lists disagree, and the highest
stands here. Before you rely on a cost, compare https://mistral.ai/pricing and https://openai.com/api/pricing.
"""


def available() -> tuple[str, ...]:
    """The providers that could be asked: those whose key is set, and of those that need none those whose address is."""
    return tuple(name for name, provider in PROVIDERS.items() if provider.usable)
