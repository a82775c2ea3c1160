"""What an answer cost, from list prices. It asks no provider.

Prices change, and a name such as mistral-large-latest comes to mean another model. These were gathered on
30 November 2026 from published lists, not from an invoice; for mistral-large-latest those lists disagree, and the highest
stands here. Before you rely on a cost, compare https://mistral.ai/pricing and https://openai.com/api/pricing.
"""

from __future__ import annotations

from docmind.types import Usage

PRICES = {
    "mistral-small-2506": (0.10, 0.30),
    "mistral-large-latest": (2.00, 6.00),
    "gpt-4.1-mini": (0.40, 1.60),
}
"""US dollars for a million tokens in, and for a million out, by `Completion.model`."""


def cost(model: str, usage: Usage) -> float | None:
    """US dollars. None, which is not 0, where the model's price or the number of tokens is unknown.

    A model at another address than its provider's own is called "model@host", and so has no price here.
    """
    if model not in PRICES or usage == Usage():
        return None
    into, out = PRICES[model]
    return (usage.input_tokens * into + usage.output_tokens * out) / 1_000_000
