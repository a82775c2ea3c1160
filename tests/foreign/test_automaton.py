from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from docmind.foreign.automaton import Automaton

ROWS = st.lists(st.integers(0, 2), max_size=24)


def stands(part, row):
    return any(row[at : at + len(part)] == part for at in range(len(row) - len(part) + 1))


def longest(row, other):
    """The same by trying all: at each end the longest part that stands in `row`, unless one more number would do."""
    ends = [next(at - n for n in range(at, -1, -1) if stands(other[at - n : at], row)) for at in range(len(other) + 1)]
    return [
        (start, end) for end, start in enumerate(ends) if end > start and (end == len(other) or ends[end + 1] > start)
    ]


@settings(max_examples=300, deadline=None)
@given(ROWS, ROWS)
def test_the_runs_are_those_that_trying_all_finds(row, other):
    found = list(Automaton(row).runs(other, 0, len(other)))
    assert [(at - (end - start), at) for start, end, at in found] == longest(row, other)
    for start, end, at in found:
        part = other[at - (end - start) : at]
        assert row[start:end] == part
        assert not stands(part, row[: end - 1])  # it is where it stands first


def test_a_part_of_the_other_row_is_looked_at_alone():
    assert list(Automaton([1, 2, 3]).runs([1, 2, 3, 1, 2, 3], 1, 4)) == [(1, 3, 3), (0, 1, 4)]
