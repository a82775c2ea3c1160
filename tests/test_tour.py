"""The tour runs from end to end, and prints what stands in it."""

import re
from pathlib import Path

import notebook
import pytest

TOUR = Path(__file__).parent.parent / "docs" / "tour.ipynb"
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


@pytest.mark.slow
def test_every_cell_prints_what_stands_below_it():
    """Figures within a little: on another kind of CPU near-ties swap, and a question or two with them."""
    for cell, text in notebook.run(notebook.cells(TOUR)):
        there = notebook.printed(cell)
        assert NUMBER.sub("#", text) == NUMBER.sub("#", there)
        expected = [float(number) for number in NUMBER.findall(there)]
        assert [float(number) for number in NUMBER.findall(text)] == pytest.approx(expected, rel=0.05, abs=0.03)


def test_the_tour_is_a_notebook_that_has_been_run():
    found = notebook.cells(TOUR)
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in found["cells"]]
    assert len(ids) == len(set(ids))
    code = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert sum(bool(cell["outputs"]) for cell in code) >= len(code) - 1
