"""hit@ktok: is any piece in what fits a budget of tokens? Fair between chunkers of different chunk size."""

from itertools import accumulate

from docmind.evaluation.scoring.metrics.judged import Judged


def hit_within_tokens(judged: Judged, budget: int) -> float:
    """1 if any piece is covered by one of the first hits, taken whole and in rank order while their tokens sum to at
    most `budget`, else 0. hit@k where k is what the budget allows; no published measure has this name.
    No more hits are looked at than the reports show (DEPTH), however large the budget."""
    fitting = sum(total <= budget for total in accumulate(judged.tokens))
    return float(bool(judged.within(fitting)))
