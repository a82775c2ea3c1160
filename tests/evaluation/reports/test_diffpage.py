"""The page of two runs: it tells every flip, shows passages of the documents that were searched alone, and escapes all."""

import re
from dataclasses import replace
from typing import get_args

from handmade import DOCUMENTS, hits, reference, results

from docmind.evaluation.gate.compare import compare
from docmind.evaluation.key.dataset import Written
from docmind.evaluation.record.instrument import document_hashes
from docmind.evaluation.reports import diffpage
from docmind.evaluation.reports.reading import LOST_AT
from docmind.evaluation.scoring.attribution import LostAt

PAGES = document_hashes(DOCUMENTS.values())
ATTACK = "</title><script>alert(1)</script><!--\x1b"


def page(new, old=None, questions=(), documents=None):
    before = old or results({"s+a": hits(60)}, pages=PAGES)
    sides = diffpage.Side("a.json", before), diffpage.Side("b.json", new)
    return diffpage.render(*sides, compare(before, new), questions, documents)


def flips(text):
    return re.findall(r'<li data-strategy="(.*?)" data-type=".*?" data-outcome="(.*?)" data-question="(.*?)">', text)


def test_each_flip_stands_in_the_page_without_a_script():
    found = flips(page(results({"s+a": hits(60, 2, 1)}, pages=PAGES)))
    assert found == [("s+a", "lost", "q0000"), ("s+a", "lost", "q0001"), ("s+a", "gained", "q0060")]


def test_passages_are_of_the_documents_that_were_searched():
    lost = results({"s+a": hits(60, 1)}, pages=PAGES)
    place, passage = "In its place: page.md [10:20]", '<p class="passage">0123456789</p>'
    assert place in page(lost)
    assert passage not in page(lost)
    assert passage in page(lost, documents=DOCUMENTS)
    changed = {"page.md": replace(DOCUMENTS["page.md"], text="Other words, on another day.")}
    assert '<p class="passage">' not in page(lost, documents=changed)
    assert "In its place: chunk q0000 at 1" in page(reference({"s+a": hits(60, 1)}, pages=PAGES)).replace("old q", "q")


def test_what_strangers_wrote_is_text():
    asked = [Written("q0000", ATTACK, ATTACK, 1, ((ATTACK, ATTACK),))]
    found = results({"s+a": hits(60, 1)}, pages=PAGES, types={ATTACK: ["q0000"]}, treatment={ATTACK: ATTACK})
    shown = page(found, questions=asked, documents=DOCUMENTS)
    assert shown.count("<script") == 1  # its own
    assert "alert(1)</script>" not in shown
    assert "<!--" not in shown
    assert "\x1b" not in shown
    assert "&lt;script&gt;alert(1)" in shown


def test_runs_that_cannot_be_compared_say_so():
    other = results({"s+a": hits(60)}, gold_rule={"covered": 0.9, "code": "r" * 64}, pages=PAGES)
    assert "Not comparable: the gold rule is another: covered: 0.8 → 0.9" in page(other)


def test_over_the_budget_passages_are_left_out_and_counted(monkeypatch):
    monkeypatch.setattr(diffpage, "BUDGET", 25)
    shown = page(results({"s+a": hits(60, 4)}, pages=PAGES), documents=DOCUMENTS)
    assert shown.count('<p class="passage">') == 2  # of ten characters each
    assert "2 passages left out" in shown


def test_every_place_where_a_question_can_be_lost_has_its_sentence():
    assert set(LOST_AT) == set(get_args(LostAt))
