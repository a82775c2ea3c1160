"""The HTML page shows what the results hold, marks the gold, loads nothing, runs no text, and stays small."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from handmade import latency, parts, sliced
from handmade import results as record

from docmind.evaluation.gate.check import Check
from docmind.evaluation.gate.compare import Change, Comparison, Flip
from docmind.evaluation.gate.verdict import Verdict
from docmind.evaluation.record.types import Counts, HitResult, MetricsRule, QuestionResult, StrategyResult
from docmind.evaluation.reports import html, markdown
from docmind.evaluation.reports.html import render
from docmind.evaluation.reports.material import Material
from docmind.evaluation.reports.pages import as_json
from docmind.evaluation.reports.sections import sections
from docmind.evaluation.reports.tables import matrix
from docmind.evaluation.scoring.leakage import Leakage
from docmind.retrieval.strategies import read_strategies
from docmind.types import Document, Gold, Question, Span

ATTACK = "</script><img src=x onerror=alert(1)><!-- <script>"
TEXTS = {"a.md": "Leave is 25 days a year. " * 4, "b.md": f"{ATTACK} & so on"}
DOCUMENTS = {page: Document(page, page, text) for page, text in TEXTS.items()}
QUESTIONS = (
    Question("q1", "How many days?", (Gold((Span("a.md", 9, 16),)),), "direct", split="dev", line=1),
    Question("q2", ATTACK, (Gold(doc_id="b.md"),), "vague", line=2),
    Question("q3", "Nothing?", (), line=3),
)
HITS = (
    HitResult(chunk="c1", source="a.md", spans=((0, 24),), score=0.87654),
    HitResult(chunk="c2", source="b.md", spans=((0, 40),), score=0.5),
)


def documents(texts):
    return {name: Document(name, name, text) for name, text in texts.items()}


def outcome(rank, *, lost_at=None, hits=HITS, error=None):
    return QuestionResult(ranks=() if rank is None else (rank,), lost_at=lost_at, hits=hits, error=error)


def strategy(hit3, outcomes):
    return StrategyResult(
        chunker="headers",
        mode="vector",
        metrics={"hit@1": 0.25, "hit@3": hit3, "hit@5": 0.75, "mrr@5": 0.375},
        by_type={"direct": sliced(1, hit3)},
        by_split={},
        ceiling=1.0,
        questions=outcomes,
    )


def failed(outcomes):
    """A strategy one of whose questions ended in an error."""
    return strategy(0, outcomes).model_copy(update={"metrics": None, "by_type": {}})


def results(strategies, **counts):
    made = record({name: {} for name in strategies})
    rule = MetricsRule(names=("hit@1", "hit@3", "hit@5", "mrr@5"), depth=10, code="m")
    instrument = made.instrument.model_copy(update={"metrics": rule})
    return made.model_copy(
        update={
            "fingerprint": made.fingerprint.model_copy(update={"instrument": instrument}),
            "counts": Counts(**{"answerable": 2, "unanswerable": 1, "left_out": 0, "errors": 0, **counts}),
            "strategies": strategies,
        }
    )


RESULTS = results(
    {
        "headers+vector": strategy(
            0.5, {"q1": outcome(1), "q2": outcome(7, lost_at="candidates"), "q3": outcome(None)}
        ),
        "headers+rerank": strategy(1.0, {"q1": outcome(1), "q2": outcome(2), "q3": outcome(None)}),
    }
)
MEDIANS = {"headers+vector": 4.6, "headers+rerank": 19.7}


def timed(medians):
    return {name: latency(median) for name, median in medians.items()}


def material(found=RESULTS, **changed):
    values = {"record": found, "timings": timed(MEDIANS), "questions": QUESTIONS, "documents": documents(TEXTS)}
    return Material(**{**values, "relevant": {}, "key": "eval/questions.jsonl", **changed})


VERDICT = Verdict(
    checks=(
        Check("floor", False, "Hit@3 of x<y must be at least 90.0 %", "x<y"),
        Check("regression", True, "nothing was lost", "x<y"),
    ),
    incomplete=("strategies of the baseline were not run: s0_original",),
    comparison=Comparison(
        changes=(
            Change("headers+vector", 2, 2, 1, (Flip("q2", 1, 7, "candidates", None),), (), 0.5, 1.0, -1.0, 0.0, None),
        ),
        missing=("s0_original",),
        added=("headers+rerank",),
        questions=2,
        not_compared={"added": ("q3",)},
        differences=("chunkers: headers cap: 500 → 450",),
        refusals=(),
    ),
)


class Page(HTMLParser):
    """The elements of a page with their attributes, and its texts by element."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.setdefault(self.elements[-1][0] if self.elements else "", []).append(data)


def page(*args, **changed):
    return render(material(*args, **changed))["latest.html"]


def data(text):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])


def row(found, question_id):
    return next(question for question in found["questions"] if question["id"] == question_id)


def test_no_text_of_a_question_a_page_or_an_error_becomes_markup():
    broken = {"q1": outcome(None, hits=[], error=ATTACK), "q2": outcome(2), "q3": outcome(None)}
    found = results({ATTACK: failed(broken)}, errors=1)
    text = page(found, timings={}, verdict=replace(VERDICT, comparison=replace(VERDICT.comparison, changes=())))
    tags = [tag for tag, _ in Page(text).elements]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert "x&lt;y" in text
    assert row(data(text), "q2")["text"] == ATTACK, "it is there, as data"


def test_nothing_is_loaded_and_only_the_own_style_and_script_may_run():
    text = page(verdict=VERDICT)
    parsed = Page(text)
    assert not re.search(r"https?://", text)
    assert {value for _, a in parsed.elements for name, value in a.items() if name in ("src", "href")} == {
        "data:,",
        "#strategy=headers%2Bvector&outcome=lost",
    }
    assert not [name for _, attributes in parsed.elements for name in attributes if name == "style" or name[:2] == "on"]
    [policy] = [a["content"] for _, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    for kind, pattern in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        digest = b64encode(sha256(re.search(pattern, text, re.DOTALL)[1].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_it_shows_all_that_the_markdown_shows():
    """Each heading, table and sentence, whatever the record has; and when and of what it was made."""
    names = [strategy.name for strategy in read_strategies(None).matrix]
    found = results(dict.fromkeys(names, RESULTS.strategies["headers+vector"]))
    for name, made in found.strategies.items():
        chunker, mode = parts(name)
        found.strategies[name] = made.model_copy(update={"chunker": chunker, "mode": mode})
    rule = found.instrument.metrics.model_copy(update={"names": ("hit@3", "foo@7")})
    instrument = found.instrument.model_copy(update={"metrics": rule})
    shares = Leakage(shared_words={"all": 0.5}, bm25_minus_vector={"headers": {"all": -0.25}})
    found = found.model_copy(
        update={"leakage": shares, "fingerprint": found.fingerprint.model_copy(update={"instrument": instrument})}
    )
    made = material(found, corpus="our-docs", commit="c0ffee", made="2031-01-02 03:04 UTC")
    told = list(sections(made))
    assert [section.title for section in told] == [
        "The ladder", "All strategies", "By type of question", "Where questions are lost", "The hardest questions",
        "How much the questions give away", "How much is noise",
    ]  # fmt: skip
    text = render(made)["latest.html"]
    plain = " ".join(unescape(re.sub(r"</?code>", "`", text)).split())
    about = "Made 2031-01-02 03:04 UTC at commit c0ffee from our-docs (1 page) and eval/questions.jsonl."
    assert about in plain
    tables = re.findall(r"<table.*?</table>", text, re.DOTALL)
    assert len(tables) == sum(len(section.tables) for section in told)
    for section in told:
        assert section.told in plain
        for table in section.tables:
            cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", tables.pop(0))
            assert [unescape(cell) for cell in cells] == [cell for row in (table.header, *table.rows) for cell in row]
    report = markdown.render(made)["latest.md"]
    assert about in report
    assert [line[3:] for line in report.splitlines() if line.startswith("## ")] == [section.title for section in told]


def test_the_production_strategy_is_marked():
    verdict = replace(VERDICT, checks=(replace(VERDICT.checks[0], strategy="headers+vector"),))
    text = page(verdict=verdict)
    assert "Production: <b>headers+vector</b>." in text
    assert text.count('<th scope="row">headers+vector <small>production</small></th>') == 2, (
        "against the baseline, and in the matrix"
    )


def test_the_figures_are_those_of_the_results():
    text = page()
    assert "<title>headers+rerank: 100.0 %, 19.7 ms</title>" in text
    assert row(data(text), "q2")["ranks"] == [7, 2]


def test_the_best_figure_is_darkest_and_less_time_is_better():
    # shares run from 25 (Hit@1) to 100 %, in 7 shades: 50 % is 6 * 25 / 75 = 2, 75 % is 4, MRR 0.375 is 1
    table = matrix(RESULTS, MEDIANS)
    assert table.rows[0][0] == "headers+vector"
    assert html._shades(table) == [[0, 2, 4, 1, 6], [0, 6, 4, 1, 0]]


def test_who_is_beaten_is_not_in_front_and_no_label_covers_another():
    names = [f"headers+m{i}" for i in range(40)]
    scored = dict.fromkeys(names, 0.5) | {"headers+best": 0.9, "headers+slow": 0.9}
    scatter = html._scatter(scored, dict.fromkeys(scored, 5.0) | {"headers+slow": 6.0})
    assert [point["name"] for point in scatter["points"] if point["front"]] == ["headers+best"]
    heights = [point["label_y"] for point in scatter["points"]]
    assert min(b - a for a, b in pairwise(heights)) >= 15
    assert heights[-1] <= scatter["box"][3]


@pytest.mark.parametrize("hit", [0.0, 1.0])
def test_the_picture_holds_every_point(hit):
    scatter = html._scatter({"a+b": hit}, {"a+b": 5.0})
    left, right, top, bottom = scatter["box"]
    [point] = scatter["points"]
    assert left <= point["x"] <= right
    assert top <= point["y"] <= bottom


def test_what_was_not_timed_is_in_no_picture():
    assert "<svg" not in page(timings={})


def test_gold_is_marked_where_it_stands_and_a_whole_page_wholly():
    found = data(page())
    first, second = ([found["passages"][n] for n, _ in row(found, id_)["hits"][0]] for id_ in ("q1", "q2"))
    assert first[0] == ["a.md", "Leave is ", "25 days", " a year."]
    assert second[1] == ["b.md", "", TEXTS["b.md"][:40]]
    assert row(found, "q1")["gold"] == [["a.md", "25 days"]]
    assert row(found, "q1")["hits"][0][0][1] == 0.8765


def test_the_hardest_questions_come_first_and_passages_stand_once():
    found = data(page())
    assert [question["id"] for question in found["questions"]] == ["q2", "q1", "q3"]
    assert [question["missed"] for question in found["questions"]] == [1, 0, 0]
    # a.md with and without its gold, b.md with and without
    assert len(found["passages"]) == 4


def test_over_the_budget_the_easiest_questions_go_without_passages_and_are_counted(monkeypatch):
    assert "The passages of" not in page()
    whole = data(page())
    first = len(as_json(whole["questions"][0]["hits"])) + len(as_json(whole["passages"][:2]))
    rows = len(as_json([{k: v for k, v in question.items() if k != "hits"} for question in whole["questions"]]))
    monkeypatch.setattr(html, "BUDGET", rows + first)
    text = page()
    assert ["hits" in question for question in data(text)["questions"]] == [True, False, False]
    assert "The passages of 2 questions are left out" in text
    assert data(text)["passages"] == whole["passages"][:2]
    monkeypatch.setattr(html, "BUDGET", rows + first - 1)
    assert data(page())["passages"] == []


def test_the_verdict_is_told_with_its_checks_reasons_and_differences():
    text = " ".join(page(verdict=VERDICT).split())
    for told in (
        "The gate: <strong>not comparable or incomplete</strong>",
        "<b>floor</b>: Hit@3 of x&lt;y must be at least 90.0 %",
        "strategies of the baseline were not run: s0_original",
        "chunkers: headers cap: 500 → 450",
        "1 question added, so not compared: q3",
        "strategies without a baseline: headers+rerank",
        '<th scope="row">headers+vector</th> <td>100.0 → 50.0</td> <td>-50.0</td> <td>-100.0 to +0.0, noise</td>',
        "<td>0.500</td> <td>1.000</td> <td>–</td>",
    ):
        assert told in text
    assert row(data(text), "q2")["old"] == {"0": 1}


def test_a_strategy_for_information_is_marked():
    verdict = replace(VERDICT, gated=frozenset(["headers+rerank"]), information=("u has no <metrics>",))
    text = " ".join(page(verdict=verdict).split())
    assert '<th scope="row">headers+vector (for information)</th>' in text
    assert '<span class="badge">for information</span> <span>u has no &lt;metrics&gt;</span>' in text
    assert "(for information)" not in page(verdict=VERDICT)


def test_without_a_verdict_nothing_is_said_of_a_gate():
    text = page()
    assert "The gate" not in text
    assert "lost against the baseline" not in text


def test_a_filter_and_errors_are_told_first():
    broken = {"q1": outcome(None, hits=[], error="ValueError: no"), "q2": outcome(2), "q3": outcome(None)}
    found = results({"a+b": failed(broken)}, left_out=4, errors=1)
    text = page(found)
    head = text[: text.index("</header>")]
    assert "4 questions of the answer key left out" in head
    assert "<b>a+b</b>: 1, first of q1: <code>ValueError: no</code>" in head
    assert row(data(text), "q1")["hits"] == ["ValueError: no"]


def test_a_question_links_to_its_line_where_there_is_a_web_address():
    assert data(page())["key"] == ""
    assert (
        data(page(link="https://example.org/blob/c0ffee/"))["key"]
        == "https://example.org/blob/c0ffee/eval/questions.jsonl"
    )


def test_the_page_of_5000_questions_and_40_strategies_stays_under_its_limit():
    names = [f"page{i}.md" for i in range(50)]
    documents = {name: Document(name, name, f"{i} <words> é" * 4000) for i, name in enumerate(names)}
    names = [f"chunker{s % 4}+mode{s}" for s in range(40)]
    questions = [
        Question(f"q{i}", f"Question {i}? " * 8, (Gold((Span(f"page{i % 50}.md", i, i + 300),)),)) for i in range(5000)
    ]

    def found(i, chunker):
        """Every chunker finds three passages of its own for every question."""
        starts = (i, 7 * i + chunker, 5 * i + chunker)
        return tuple(
            HitResult(
                chunk=f"{i}-{n}-{chunker}", source=f"page{(i + n) % 50}.md", spans=((at, at + 1500),), score=0.12345
            )
            for n, at in enumerate(starts)
        )

    strategies = {name: strategy(0.5, {}) for name in names}
    for i, question in enumerate(questions):
        won = [outcome(1, hits=found(i, chunker)) for chunker in range(4)]
        lost = [one.model_copy(update={"ranks": (8,), "lost_at": "fusion"}) for one in won]
        for s, name in enumerate(names):
            strategies[name].questions[question.id] = ((lost, won)[(i + s) % 3 > 0])[s % 4]
    timings = timed({name: 5.0 + s for s, name in enumerate(names)})
    text = page(results(strategies), questions=questions, documents=documents, timings=timings)
    assert 13_000_000 < len(text.encode()) < 15_000_000
    shown = sum("hits" in question for question in data(text)["questions"])
    assert 0 < shown < 5000
    assert f"The passages of {5000 - shown} questions are left out" in text
