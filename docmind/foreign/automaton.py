"""The suffix automaton of a row of numbers: how much of it stands at each place of another row, in linear time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Automaton:
    """Of a row, by A. Blumer, J. Blumer, D. Haussler, A. Ehrenfeucht, M. T. Chen and J. Seiferas, "The smallest automaton
    recognizing the subwords of a text" (Theoretical Computer Science 40, 1985). Each state stands for the parts of the row
    that end at the same places; the longest has `_lengths[state]` numbers and ends first before `_ends[state]`."""

    def __init__(self, row: Sequence[int]) -> None:
        self._next: list[dict[int, int]] = [{}]
        self._links = [-1]
        self._lengths = [0]
        self._ends = [0]
        last = 0
        for end, number in enumerate(row, start=1):
            last = self._extend(last, number, end)

    def _extend(self, last: int, number: int, end: int) -> int:
        new = self._state({}, 0, end, end)
        at = last
        while at >= 0 and number not in self._next[at]:
            self._next[at][number] = new
            at = self._links[at]
        if at >= 0:
            known = self._next[at][number]
            length = self._lengths[at] + 1
            if self._lengths[known] > length:
                copy = self._state(dict(self._next[known]), self._links[known], length, self._ends[known])
                self._links[known] = copy
                while at >= 0 and self._next[at].get(number) == known:
                    self._next[at][number] = copy
                    at = self._links[at]
                known = copy
            self._links[new] = known
        return new

    def _state(self, following: dict[int, int], link: int, length: int, end: int) -> int:
        self._next.append(following)
        self._links.append(link)
        self._lengths.append(length)
        self._ends.append(end)
        return len(self._next) - 1

    def runs(self, other: Sequence[int], first: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The longest parts of the row that stand in `other[first:end]` and cannot be longer there, each as the start and end
        of where it stands first in the row, and the place in `other` before which it ends. Those ends rise."""
        state = length = 0
        for at in range(first, end):
            number = other[at]
            before, had = state, length
            while state and number not in self._next[state]:
                state = self._links[state]
                length = self._lengths[state]
            state = self._next[state].get(number, 0)
            length = length + 1 if state else 0
            if length <= had and had:
                yield self._ends[before] - had, self._ends[before], at
        if length:
            yield self._ends[state] - length, self._ends[state], end
