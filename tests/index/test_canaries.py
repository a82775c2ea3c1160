"""Some texts are embedded anew and held against what is kept: noise is borne, anything more is not."""

import numpy as np
import pytest

from docmind.index.canaries import AMONG, CANARIES, OF_AN_INDEX, chosen, decoded, differing
from docmind.protocols import TokenVectors

TEXTS = ["annual leave", "sick pay", "travel by train"]


@pytest.fixture
def kept(embedder):
    """What an index holds of TEXTS; each value may be changed."""
    vectors, tokens = embedder.embed_tokens(TEXTS)
    return {text: (vector, decoded(t)) for text, vector, t in zip(TEXTS, vectors, tokens, strict=True)}


@pytest.mark.parametrize("count", [CANARIES, OF_AN_INDEX])
def test_some_of_the_shortest_are_chosen_always_the_same(count):
    texts = [f"{'x' * (number % 200)} {number}" for number in range(400)]
    found = chosen(texts, count)
    assert found == chosen(reversed(texts + texts), count)
    assert len(set(found)) == len(found) == count
    assert max(map(len, found)) <= sorted(map(len, texts))[AMONG * count]
    assert found != sorted(texts, key=len)[:count]
    assert sorted(chosen(TEXTS, count)) == sorted(TEXTS)[:count]


def test_what_is_as_it_was_made_does_not_differ(embedder, kept):
    assert differing(embedder, kept) == 0
    assert differing(embedder, {text: (vector, None) for text, (vector, _) in kept.items()}) == 0
    assert differing(embedder, {}) == 0


def test_another_processors_last_digits_are_borne(embedder, kept):
    noise = np.random.default_rng(1)
    _, tokens = embedder.embed_tokens(TEXTS)
    for text, of_text in zip(TEXTS, tokens, strict=True):
        vector, _ = kept[text]
        codes = of_text.codes.copy()
        codes[1, 7] += 1 if codes[1, 7] < 127 else -1  # it lay between two
        turned = decoded(TokenVectors(codes, of_text.scales * np.float32(1 + 1e-7)))
        kept[text] = (vector + noise.uniform(-5e-7, 5e-7, vector.shape).astype(np.float32), turned)
    assert differing(embedder, kept) == 0


ODD = {
    "a component": lambda vector, tokens: (vector + np.float32(1e-4) * (np.arange(384) == 5), tokens),
    "the sign": lambda vector, tokens: (-vector, tokens),
    "no number": lambda vector, tokens: (vector * np.float32(np.nan), tokens),
    "another length": lambda vector, tokens: (vector[:-1], tokens),
    "a token": lambda vector, tokens: (vector, np.concatenate([tokens[:-1], -tokens[-1:]])),
    "the signs of tokens": lambda vector, tokens: (vector, np.abs(tokens)),
    "a code of a token": lambda vector, tokens: (vector, tokens + np.float32(0.05) * (np.arange(384) == 5)),
    "a step everywhere": lambda vector, tokens: (vector, tokens + np.abs(tokens).max(axis=1, keepdims=True) / 127),
    "a token less": lambda vector, tokens: (vector, tokens[:-1]),
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_any_more_of_one_text_is_found(embedder, kept, change):
    kept[TEXTS[1]] = change(*kept[TEXTS[1]])
    assert differing(embedder, kept) == 1
