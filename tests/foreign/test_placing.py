"""Passages of other systems, placed: the chunks of DocMind's own, told as other systems would tell them, win what they won."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from docmind import corpus
from docmind.chunking import CHUNKERS
from docmind.evaluation.key.dataset import load_questions
from docmind.evaluation.scoring.spans import covers
from docmind.foreign.placing import Placer
from docmind.foreign.reply import Passage
from docmind.models import load
from docmind.types import Block, Document, Span

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def handbook():
    return {document.id: document for document in corpus.load(ROOT / "corpus")}


@pytest.fixture(scope="module")
def gold(handbook):
    return [
        piece
        for question in load_questions(ROOT / "eval/questions.jsonl", handbook.values()).questions
        for piece in question.gold
    ]


@pytest.fixture(scope="module")
def placer(handbook):
    return Placer(handbook.values())


def stripped(text):
    return re.sub(r"[*_`#|>\\-]+", " ", text)


TOLD = {
    "as it is": lambda text: text,
    "white space collapsed": lambda text: " ".join(text.split()),
    "a title before it": lambda text: f"Handbook > Benefits\n\n{text}",
    "marks stripped": stripped,
    "ends cut": lambda text: text[3:-3],
    "capitals": str.upper,
    "decomposed, CRLF": lambda text: unicodedata.normalize("NFD", text).replace("\n", "\r\n"),
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("chunker", ["recursive", "fixed", "headers"])
def test_a_chunk_told_as_text_wins_what_it_won(handbook, gold, placer, chunker, told):
    embedder = load("default").embedder
    maker = CHUNKERS[chunker](embedder)
    wanted = {span.doc_id for piece in gold for span in piece.spans}
    lost, won, extra = [], 0, 0
    for doc_id in sorted(wanted)[::4]:
        near = [piece for piece in gold if any(span.doc_id == doc_id for span in piece.spans)]
        for chunk in maker.split(handbook[doc_id]).chunks:
            placed = placer.place(Passage(TOLD[told](chunk.body), doc_id))
            for piece in near:
                mine, theirs = covers(chunk.spans, piece), covers(placed.spans, piece)
                won += mine
                extra += theirs and not mine
                if mine and not theirs:
                    lost.append((chunk.body, placed, piece))
    assert won > 100
    assert (lost, extra) == ([], 0)


PAGES = {
    "hr/leave.md": "# Leave\n\nYou get 25 days a year. Ask your lead a week before, by mail or in person.\n\n"
    "| Code | Days |\n|---|---|\n| A | 25 |\n| B | 1,480 |\n",
    "hr/pay.md": "# Pay\n\nPaid on the 25th of each month, in the currency of the country.\n\n"
    "Questions go to the people team, who answer within two days.\n",
    "it/laptops.md": "# Laptops\n\nA laptop is replaced after 36 months.\n\n"
    "Questions go to the people team, who answer within two days.\n",
    "de/urlaub.md": "# Urlaub\n\nJeder hat Anspruch auf 30 Urlaubstage im Jahr, über die früh gesprochen wird.\n",
    "zh/假期.md": "# 假期\n\n每位员工每年有二十五天带薪年假，需要提前一周申请。\n",
    "twin/a/readme.md": "One page of two that have one name, with words of its own here.\n",
    "twin/b/readme.md": "Another page of that name, and it says something else altogether.\n",
}


def document(name, text):
    return Document(
        name,
        name,
        text,
        url=f"https://intra/{name.removesuffix('.md')}",
        blocks=(Block("paragraph", Span(name, 0, len(text))),),
    )


@pytest.fixture(scope="module")
def small():
    return Placer(document(name, text) for name, text in PAGES.items())


def shown(placed):
    return [PAGES[span.doc_id][span.start : span.end] for span in placed.spans]


LEAVE = "You get 25 days a year. Ask your lead a week before, by mail or in person."


@pytest.mark.parametrize(
    ("passage", "how", "texts"),
    [
        (Passage("You get 25 days a year.", "hr/leave.md", 9, 32), "offsets", ["You get 25 days a year."]),
        (Passage("", "hr/leave.md", 9, 32), "offsets", ["You get 25 days a year."]),
        (Passage("", "hr/leave.md", 9, 10**9), "offsets", [PAGES["hr/leave.md"][9:]]),
        (Passage("", "hr/leave.md", 10**6, 10**9), "nowhere", []),
        (Passage("", "hr/gone.md", 0, 5), "nowhere", []),
        (Passage("Leave: You get 25 days a year.", "hr/leave.md", 9, 32), "offsets", ["You get 25 days a year."]),
        # characters of the raw file, front matter and all: the text decides
        (Passage(LEAVE, "hr/leave.md", 40, 114), "source", [LEAVE]),
        (Passage(LEAVE, "hr/pay.md"), "anywhere", [LEAVE]),
        (Passage(LEAVE), "anywhere", [LEAVE]),
        (Passage("", "hr/pay.md"), "document", [PAGES["hr/pay.md"]]),
        (Passage("25 days", "hr/leave.md"), "source", [" 25 days "]),
        (Passage("5 days", "hr/leave.md"), "nowhere", []),
        (Passage("A 25 B 1,480", "hr/leave.md"), "source", ["| A | 25 |\n| B | 1,480 |"]),
        (Passage("HR › Leave ›\nget 25 days a year. Ask your lead a week before, by ma", "hr/leave.md"), "source",
         [" get 25 days a year. Ask your lead a week before, by ma"]),
        (Passage("…t 25 days a year. Ask your lead a week before, b…"), "anywhere",
         ["t 25 days a year. Ask your lead a week before, b"]),
        (Passage("Jeder hat Anspruch auf 30 Urlaubs\u00adtage im Jahr, u\u0308ber die"), "anywhere",
         ["Jeder hat Anspruch auf 30 Urlaubstage im Jahr, über die "]),
        (Passage("年有二十五天带薪年假"), "anywhere", ["年有二十五天带薪年假，"]),
        (Passage("Questions go to the people team, who answer within two days."), "anywhere",
         ["Questions go to the people team, who answer within two days."] * 2),
        (Passage("Questions go to the people team, who answer within two days.", "it/laptops.md"), "source",
         ["Questions go to the people team, who answer within two days."]),
        (Passage("The moon is made of green cheese, and the people team will answer."), "nowhere", []),
        (Passage("word " * 1000), "nowhere", []),
        (Passage("?! …"), "nowhere", []),
    ],
)  # fmt: skip
def test_a_passage_is_placed_by_offsets_else_by_its_text_in_its_source_else_anywhere(small, passage, how, texts):
    placed = small.place(passage)
    assert (placed.how, shown(placed)) == (how, texts)
    assert small.place(passage) is placed or small.place(passage) == placed


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("hr/leave.md", "hr/leave.md"),
        ("leave.md", "hr/leave.md"),
        ("/srv/data/hr/leave.md", "hr/leave.md"),
        ("./hr/leave.md", "hr/leave.md"),
        ("C:\\data\\hr\\leave.md", "hr/leave.md"),
        ("file:///srv/hr/leave.md", "hr/leave.md"),
        ("https://intra/hr/leave", "hr/leave.md"),
        ("zh/%E5%81%87%E6%9C%9F.md", "zh/假期.md"),
        ("b/readme.md", "twin/b/readme.md"),
        ("readme.md", None),  # of two nobody knows which
        ("eave.md", None),
        ("", None),
        ("/", None),
    ],
)
def test_a_source_is_an_id_an_address_or_a_path_that_ends_alike(small, source, page):
    placed = small.place(Passage("", source))
    assert {span.doc_id for span in placed.spans} == ({page} if page else set())


def test_phrases_from_many_places_are_no_passage_of_any(handbook, placer):
    """Five words of every page: each stands somewhere, half of them nowhere together."""
    phrases = [" ".join(document.text.split()[20:25]) for document in handbook.values()]
    assert placer.place(Passage(" ".join(phrases))).how == "nowhere"
