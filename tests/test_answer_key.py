"""The committed answer key keeps what eval/README.md says of it."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from docmind.chunking.headers import Headers
from docmind.corpus import load
from docmind.evaluation.key.dataset import load_questions
from docmind.evaluation.scoring.spans import covers
from docmind.text import find_all, stems, words

ROOT = Path(__file__).parent.parent
QUOTAS = {
    "direct": 110,
    "paraphrase": 90,
    "exact_term": 50,
    "multi_evidence": 30,
    "vague": 20,
    "unanswerable": 40,
}


@pytest.fixture(scope="module")
def documents():
    return {document.id: document for document in load(ROOT / "corpus")}


@pytest.fixture(scope="module")
def key(documents):
    return load_questions(ROOT / "eval" / "questions.jsonl", documents.values())


def of_type(key, kind):
    return [question for question in key.questions if question.type == kind]


def pages_of(question):
    return {span.doc_id for piece in question.gold for span in piece.spans}


def test_every_evidence_stands_once_in_its_page(key):
    """Otherwise loading it fails, or warns."""
    assert key.warnings == ()


def test_the_quotas_are_kept(key):
    assert Counter(question.type for question in key.questions) == QUOTAS


def test_dev_and_test_share_each_type_half_and_half(key):
    splits = Counter((question.type, question.split) for question in key.questions)
    assert {(kind, split): n // 2 for kind, n in QUOTAS.items() for split in ("dev", "test")} == splits


def test_only_unanswerable_questions_have_no_gold(key):
    assert {q.id for q in key.questions if not q.gold} == {q.id for q in of_type(key, "unanswerable")}
    assert all((question.answer is None) == (not question.gold) for question in key.questions)


def test_half_of_the_unanswerable_are_near_misses_in_both_splits(key):
    near = Counter((question.near_miss, question.split) for question in of_type(key, "unanswerable"))
    assert near == {(True, "dev"): 10, (True, "test"): 10, (False, "dev"): 10, (False, "test"): 10}
    assert not [question.id for question in key.questions if question.near_miss and question.gold]


def test_several_pieces_are_what_makes_multi_evidence(key):
    pieces = {q.id: len(q.gold) for q in key.questions if len(q.gold) > 1}
    assert pieces.keys() == {q.id for q in of_type(key, "multi_evidence")}
    assert set(pieces.values()) <= {2, 3}


def test_a_paraphrase_shares_no_content_word_with_its_evidence(key, documents):
    for question in of_type(key, "paraphrase"):
        for span in (span for piece in question.gold for span in piece.spans):
            evidence = documents[span.doc_id].text[span.start : span.end]
            assert not set(stems(question.text)) & set(stems(evidence)), question.id


NAME = re.compile(r'"([^"]+)"|(?:\b(?=[\w-]*[A-Z])[\w-]{2,} ?)+')
"""Words in quotes, or a run of words of two letters or more that hold a capital."""


def names(question, places):
    """What `question` calls by name: no place, and no word that has its capital from beginning a sentence."""
    for found in NAME.finditer(question):
        name = found[1] or found[0].strip()
        begins = question[: found.start()].rstrip()[-1:] in ("", ".", "?", "!")
        code = re.search(r"[A-Z].*[A-Z\d]", name)
        if (code or not begins) and not places & set(words(name)):
            yield name


@pytest.fixture(scope="module")
def places():
    facts = yaml.safe_load((ROOT / "eval" / "handbook_facts.yaml").read_text(encoding="utf-8"))
    countries = facts["countries"].values()
    return {"uk", *(word for country in countries for word in words(f"{country['name']} {country['sites']}"))}


@pytest.fixture(scope="module")
def is_exact(documents, places):
    """Whether a name of the question stands in one to three pages."""
    texts = [f" {' '.join(words(document.text))} " for document in documents.values()]

    def rare(name):
        return 1 <= sum(f" {' '.join(words(name))} " in text for text in texts) <= 3

    return lambda question: any(map(rare, names(question.text, places)))


def test_a_name_in_at_most_three_pages_decides_an_exact_term_question(key, is_exact):
    assert [question.id for question in of_type(key, "exact_term") if not is_exact(question)] == []


def test_the_rule_of_exact_terms_leaves_plain_questions_out(key, is_exact):
    """A rule that any question keeps says nothing. A direct one may name such a thing and ask something else."""
    plain = of_type(key, "direct")
    assert sum(map(is_exact, plain)) <= len(plain) / 50


def test_no_passage_of_headers_shows_all_that_a_multi_evidence_question_needs(key, documents, embedder):
    """Else nothing has to be joined, and `full@k` is `hit@k`."""
    chunker = Headers(embedder)
    for question in of_type(key, "multi_evidence"):
        chunks = [chunk for page in pages_of(question) for chunk in chunker.split(documents[page]).chunks]
        shown = [(*chunk.spans, *chunk.prefix_spans) for chunk in chunks]
        assert not any(all(covers(spans, piece) for piece in question.gold) for spans in shown), question.id


OTHERWISE = {
    "v001": ("country-austria.md", "Payday is the 15th."),
    "v002": ("country-austria.md", "Everyone has 28 days of annual leave."),
    "v003": ("country-switzerland.md", "from year 10: 3 months"),
    "v004": ("country-ireland.md", "in that time one week of notice is enough on either side"),
    "v005": ("country-ireland.md", "The probation lasts six months"),
    "v006": ("country-denmark.md", "full pay for 18 weeks, from the first day"),
    "v007": ("country-ireland.md", "twenty-six weeks at full pay for the birth parent"),
    "v008": ("country-spain.md", "Partner: 16 weeks at 100 % of pay"),
    "v009": ("country-canada.md", "eleven paid public holidays on the list"),
    "v010": ("country-singapore.md", "It comes in place of the 8 sick-child days"),
    "v011": ("country-france.md", "We pay seventy-five per cent of the public transport pass."),
    "v012": ("country-ireland.md", "After five years of service there is one day more"),
    "v013": ("country-ireland.md", "Health cover is with Carrowell."),
    "v021": ("country-spain.md", "you have until January 31 to take them"),
    "v022": ("country-france.md", "A doctor's certificate is needed from the first day of sickness"),
    "v032": ("country-germany.md", "needs twenty (20) working days of notice, not fifteen (15)"),
    "v041": ("country-czechia.md", "Neither a Saturday nor a Sunday is replaced."),
    "v051": ("country-switzerland.md", "full week: 41 hours"),
    "v052": ("country-germany.md", "Where the time could not be used within four (4) months"),
    "v802": ("country-france.md", "In France no messages are sent from 19:30 in the evening"),
}
"""For each vague question the words of a country page that answer it for those who work there, and for no one else."""


def test_what_a_vague_question_asks_is_another_thing_in_some_country(key, documents, places):
    """It names no place, and its gold is what holds for whoever reads it: the global rule, or that countries differ."""
    vague = {question.id: question for question in of_type(key, "vague")}
    assert OTHERWISE.keys() == vague.keys()
    for name, (page, answer) in OTHERWISE.items():
        assert find_all(documents[page].text, answer), name
        assert not set(words(vague[name].text)) & places, name
        assert not [page for page in pages_of(vague[name]) if page.startswith("country-")], name


def test_every_page_but_the_mess_is_a_source_and_none_of_more_than_nine(key, documents):
    plan = (ROOT / "eval" / "handbook_plan.md").read_text(encoding="utf-8")
    mess = set(re.findall(r"`(\S+\.md)` \|[^|]*\| mess", plan))
    assert len(mess) == 10
    sources = Counter(page for question in key.questions for page in pages_of(question) - mess)
    assert documents.keys() - sources.keys() <= mess
    assert max(sources.values()) <= 9


def test_no_question_stands_twice(key):
    asked = Counter(" ".join(words(question.text)) for question in key.questions)
    assert max(asked.values()) == 1


def test_every_line_says_who_wrote_it_and_that_nobody_reviewed_it(key):
    assert {(question.author, question.reviewed_by_human) for question in key.questions} == {("ai", False)}


def test_lines_are_json_in_one_form():
    for line in (ROOT / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        assert list(json.loads(line))[:4] == ["id", "type", "question", "answer"]
