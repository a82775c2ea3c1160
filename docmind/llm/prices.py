"""What an answer cost, from the list prices of PROVIDERS. It asks no provider."""

from __future__ import annotations

from docmind.llm import PROVIDERS
from docmind.types import Usage


def cost(name: str, usage: Usage) -> float | None:
    """US dollars for `usage` of the model that `LLM.name` calls so: "openai/gpt-4.1-mini". None, which is not 0, where the
    model's price or the number of tokens is unknown.

    A model at another address than its provider's own is called "provider/model@host", and so has no price here.
    """
    provider, _, model = name.partition("/")
    price = PROVIDERS[provider].prices.get(model) if provider in PROVIDERS else None
    if price is None or usage == Usage():
        return None
    into, out = price
    return (usage.input_tokens * into + usage.output_tokens * out) / 1_000_000
