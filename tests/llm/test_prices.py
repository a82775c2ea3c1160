"""What an answer cost."""

import pytest

from docmind.llm import PROVIDERS
from docmind.llm.prices import cost
from docmind.types import Usage


def test_tokens_in_and_out_have_prices_of_their_own():
    # 2,000,000 in at $0.10 and 500,000 out at $0.30 a million: 0.20 + 0.15
    assert cost("mistral/mistral-small-2506", Usage(2_000_000, 500_000)) == pytest.approx(0.35)
    # 1,000 in at $0.40 and 100 out at $1.60 a million: 0.0004 + 0.00016
    assert cost("openai/gpt-4.1-mini", Usage(1_000, 100)) == pytest.approx(0.00056)


@pytest.mark.parametrize(
    "model",
    [
        "mistral/mistral-huge",
        "openai/gpt-4.1-mini@localhost:11434",
        "ollama/gpt-4.1-mini",  # what one provider asks for a model says nothing of another
        "gpt-4.1-mini",
        "extractive",
        "",
    ],
)
def test_what_is_not_in_the_list_is_unknown_and_not_free(model):
    assert cost(model, Usage(1_000, 100)) is None


LISTED = [f"{name}/{model}" for name, provider in PROVIDERS.items() for model in provider.prices]


@pytest.mark.parametrize("model", LISTED)
def test_tokens_that_were_not_told_are_unknown_and_not_free(model):
    assert cost(model, Usage()) is None
