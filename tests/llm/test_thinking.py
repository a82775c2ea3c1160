"""What is thought and what is said of one text, however it is cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.llm.thinking import Thinking


def parted(*pieces):
    """All that is said, told piece by piece; what is said in the end; what is thought."""
    thinking = Thinking()
    told = [*map(thinking.more, pieces), thinking.rest()]
    return "".join(told), thinking.said, thinking.thought


WHOLE = {
    "plain": ("Five days [1].", "Five days [1].", ""),
    "nothing": ("", "", ""),
    "before": ("<think>\nMaybe [2]? no.\n</think>\n\nFive days [1].", "Five days [1].", "Maybe [2]? no."),
    "an abstention in it": (
        "<think>The documents do not answer this. Passage 1 tells it.</think>Up to $500 [1].",
        "Up to $500 [1].",
        "The documents do not answer this. Passage 1 tells it.",
    ),
    "white space first": (" \n<think>a</think> b", " \n b", "a"),
    "between": ("Five <think>or six?</think>days.", "Five days.", "or six?"),
    "twice": ("<think>a</think>b<think>c</think>d", "bd", "ac"),
    "nothing thought": ("<think>\n\n</think>\n\nYes.", "Yes.", ""),
    "other names": ("<Thinking>a</Thinking><reasoning>b</reasoning>[THINK]c[/THINK]<thought>d</thought>e", "e", "abcd"),
    "never opened": ("Maybe [2]? no.</think>Five days [1].", "Five days [1].", "Maybe [2]? no."),
    "never closed": ("<think>Maybe [2]?", "", "Maybe [2]?"),
    "no mark": ("a <thinker> <think a> [thin] < think > [1] <", "a <thinker> <think a> [thin] < think > [1] <", ""),
    "json": ('<think>hm</think>{"verdict": "wrong"}', '{"verdict": "wrong"}', "hm"),
}


@pytest.mark.parametrize(("text", "said", "thought"), WHOLE.values(), ids=WHOLE)
def test_what_is_thought_is_parted_from_what_is_said(text, said, thought):
    told, *found = parted(text)
    assert found == [said, thought]
    assert told == said


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "[THINK]", "<", "</", "a", " ", "\n", "[1]", "think>"]), max_size=12
    ),
    st.data(),
)
def test_it_does_not_matter_where_pieces_end(parts, data):
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert parted(*pieces)[1:] == parted(text)[1:]
    if "</think>" not in text:
        assert parted(*pieces)[0] == parted(text)[0]


def test_much_of_it_takes_no_long_time():
    thinking = Thinking()
    for _ in range(100_000):
        thinking.more("<thin")
    assert len(thinking.said + thinking.rest()) == 500_000
    assert parted("<" * 500_000)[1] == "<" * 500_000
