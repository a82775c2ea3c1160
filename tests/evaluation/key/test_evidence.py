"""Evidence is found by the words that a reader of the rendered page copies, and by those of its source."""

from __future__ import annotations

import pytest

from docmind.corpus.markdown import document
from docmind.evaluation.key.evidence import Pages
from docmind.markup import clean


def found(source: str, evidence: str, section: str | None = None) -> list[str]:
    page = document("page.md", clean(source).text)
    return [page.text[place.start : place.end] for place in Pages([page]).find("page.md", evidence, section)]


CODE = "Lines that start with `#` are comments, `-` opens, `>` quotes, `|` parts, `~` is home and `:` ends."


@pytest.mark.parametrize(
    ("source", "evidence"),
    [
        (CODE, CODE),
        (CODE, CODE.replace("`", "")),
        ("Die **Urlaubs**tage verfallen.", "Die Urlaubstage verfallen."),
        ("Die **Urlaubs**tage verfallen.", "Die **Urlaubs**tage verfallen."),
        ("Days [[Annual leave#Carry-over|may be carried over]] once.", "Days may be carried over once."),
        ("!!! note\n\n    Badges are **personal**.", "Badges are personal."),
        ("<table><thead><tr><th>A</th></tr></thead><tbody><tr><td>25</td></tr></tbody></table>", "A 25"),
        ("A day's pay is $r=\\frac{{S}}{{260}}$ now.", "A day's pay is $r=\\frac{{S}}{{260}}$ now."),
    ],
)
def test_rendered_words_and_source_are_both_found(source: str, evidence: str) -> None:
    assert len(found(source, evidence)) == 1


@pytest.mark.parametrize(
    "title", ["Annual leave { .wide #annual }", "Annual leave {#leave}", "Annual leave {: #leave}"]
)
def test_a_section_is_found_by_the_title_that_is_seen(title: str) -> None:
    assert found(f"# Pay\n\nTake 25 days.\n\n## {title}\n\nTake 25 days.", "25 days", "Annual leave") == ["25 days"]
