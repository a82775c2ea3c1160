"""What an entry of the catalogue is: a metric at any k. It computes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from docmind.evaluation.scoring.metrics.judged import Judged

Sees = Literal["ranks", "grades", "passages"]
"""What of a judged ranking a metric looks at: the ranks of the pieces alone, the pieces' grades too, or what is shown."""


@dataclass(frozen=True, slots=True)
class Family:
    """A metric at any k, which stands in its name as a letter: "hit@k", "hit@ktok".

    `of` is a pure function of a judged ranking and k, k > 0, to [0, 1]. None: not defined for this question, which is no
    score; the mean is then not defined. `standard` are the ks that are measured where nobody asks for others. `depth` is
    how many hits are looked at where k counts something else than hits; None: the first k. A metric that `sees` ranks alone
    can be made anew from them, and is a fraction of a rank or of a count of pieces.
    """

    of: Callable[[Judged, int], float | None]
    standard: tuple[int, ...]
    depth: int | None = None
    sees: Sees = "passages"
