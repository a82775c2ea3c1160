"""What a metric may look at: a ranking beside its gold. It computes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from docmind.types import Gold, Span


@dataclass(frozen=True, slots=True)
class Judged:
    """One answerable question's ranking, judged.

    Per piece of `gold`: `ranks`, from 1, of the first hit that covers it, or None. Per hit, best first: `shown`, the
    spans that its reader sees, and `tokens`, how many its text has.
    """

    gold: tuple[Gold, ...]
    ranks: tuple[int | None, ...]
    shown: tuple[tuple[Span, ...], ...]
    tokens: tuple[int, ...]

    def within(self, k: int) -> tuple[int, ...]:
        """The ranks of the pieces that stand in the top `k`, rising."""
        return tuple(sorted(rank for rank in self.ranks if rank is not None and rank <= k))

    def top(self, k: int) -> Judged:
        """What would have been judged had the ranking ended after `k` hits."""
        ranks = tuple(rank if rank is not None and rank <= k else None for rank in self.ranks)
        return Judged(self.gold, ranks, self.shown[:k], self.tokens[:k])
