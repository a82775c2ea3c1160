"""Foreign retrievers under the gate, end to end: a service on loopback, the command, and what every report says of it."""

from __future__ import annotations

import json
import sys
import time

import pytest
from workplace import QUESTIONS, Workplace

import docmind
from docmind.retrieval.searcher import quiet
from docmind.serving import markup
from docmind.serving.replies import reply

ANSWERS = {
    "How many days of annual leave?": [
        ("leave.md", "You have 25 days of annual leave a year."),
        ("pay.md", "The bonus is paid in March."),
    ],
    "When is the bonus paid?": [("pay.md", "Bonus\n\nThe bonus is paid in March.")],
    "Who may go first class?": [
        ("leave.md", "25 days of annual leave"),
        ("travel/rail.md", "First class is for journeys over three hours."),
    ],
    "How many days can I take into next year?": [("leave.md", "Five days may be carried over")],
    "Where do I park?": [],
}


@pytest.fixture
def place(corpus, tmp_path, monkeypatch):
    workplace = Workplace(tmp_path)
    workplace.ask(*QUESTIONS)
    monkeypatch.chdir(tmp_path)
    return workplace


def passages(handler):
    found = ANSWERS[handler.asked["question"]][: handler.asked["k"]]
    handler.give({"passages": [{"source": source, "text": text} for source, text in found]})


def declare(place: Workplace, **fields: object) -> list[str]:
    """A file of strategies that names `mine`; gives the options that ask for it."""
    path = place.root / "strategies.yaml"
    path.write_text(json.dumps({"strategies": {"mine": fields}, "matrix": ["mine"]}))
    thresholds = place.root / "thresholds.yaml"
    thresholds.write_text("production: mine\nmin_hit_at_3: 0.5\nmax_regression_pp: 3\n")
    return [
        "--strategies-file", str(path), "--thresholds", str(thresholds), "--baseline", str(place.out / "baseline.json"),
    ]  # fmt: skip


def mine(place):
    return place.results()["strategies"]["mine"]


def test_a_service_is_scored_like_any_strategy(place, service, capsys):
    service.answer = passages
    options = declare(place, url=service.url, version="7")
    assert place.eval(*options, "--save-baseline") == 0
    found = mine(place)
    assert {name: q["ranks"] for name, q in found["questions"].items()} == {
        "q1": [1], "q2": [1, 1], "q3": [2], "q4": [1], "u1": [],
    }  # fmt: skip
    assert (found["metrics"]["hit@1"], found["metrics"]["hit@3"], found["metrics"]["mrr@5"]) == (0.75, 1, 0.875)
    assert (found["chunker"], found["mode"], found["ceiling"]) == ("foreign", "url", None)
    assert found["metrics"]["hit@1000tok"] is None, "nobody knows by which tokenizer its reader counts"
    assert found["foreign"] == {
        "kind": "url", "passages": 6, "unplaced": 0, "examples": [], "max_unplaced": 0.1, "few": 5,
        "asked_again": 5, "unstable": [],
    }  # fmt: skip
    treatment = place.results()["fingerprint"]["treatment"]
    assert treatment["foreign"] == {"mine": {"kind": "url", "version": "7"}}
    assert "models" not in treatment
    assert len(service.seen) == 10, "each question is asked, and each of so few again"
    assert place.eval(*options, "--check") == 0
    assert "The gate: passed." in capsys.readouterr().err
    for name in ("latest.md", "latest.html", "latest.comment.md", "latest.mine.run", "latest.junit.xml"):
        assert "mine" in (place.out / name).read_text()
    assert (place.out / "timings.json").exists()


def test_a_regression_of_it_fails_and_every_report_says_what_stands_instead(place, service, capsys):
    service.answer = passages
    options = declare(place, url=service.url, max_unplaced=0.5)
    place.eval(*options, "--save-baseline")

    def worse(handler):
        if "bonus" in handler.asked["question"]:
            handler.give(
                [
                    {"text": "You have 25 days of annual leave a year."},
                    {"text": "Words of nobody here, and of no page."},
                ]
            )
        else:
            passages(handler)

    service.answer = worse
    assert place.eval(*options, "--check", "--quiet") == 1
    told = capsys.readouterr().err
    assert "lost q2: rank 1 → –, lost at candidates; in its place leave.md" in told
    comment = (place.out / "latest.comment.md").read_text()
    assert "leave.md: You have 25 days of annual leave a year." in comment
    assert "1 of 7 passages are in none of the documents" in comment
    assert "'Words of nobody here, and of no page.'" in (place.out / "latest.md").read_text()
    assert "a passage that is in no document" in (place.out / "latest.html").read_text()


def test_passages_of_another_corpus_are_no_verdict(place, service, capsys):
    service.answer = passages
    options = declare(place, url=service.url)
    place.eval(*options, "--save-baseline")
    service.answer = lambda handler: handler.give(["A page about something else entirely, of another company."])
    assert place.eval(*options, "--check", "--quiet") == 3
    told = capsys.readouterr().err
    assert (
        "incomplete: 5 of 5 passages of mine are in none of the documents (100.0 %), and its max_unplaced is 10.0 %"
        in told
    )
    assert "in none of the documents" in (place.out / "latest.comment.md").read_text()


def test_an_answer_that_changes_when_asked_twice_is_told_by_the_gate(place, service, capsys):
    service.answer = passages
    options = declare(place, url=service.url)
    place.eval(*options, "--save-baseline")
    before = len(service.seen)

    def moody(handler):
        if len(service.seen) - before > 5 and "bonus" in handler.asked["question"]:
            handler.give([])
        else:
            passages(handler)

    service.answer = moody
    assert place.eval(*options, "--check", "--quiet") == 0
    told = "mine answered 1 of 5 questions otherwise when asked twice (q2): its figures move without any change"
    assert told in capsys.readouterr().err
    assert told in (place.out / "latest.comment.md").read_text()
    assert mine(place)["foreign"]["unstable"] == ["q2"]


def test_an_error_is_no_miss(place, service, capsys):
    def failing(handler):
        if "bonus" in handler.asked["question"]:
            handler.give(b"<html>down</html>", 503)
        else:
            passages(handler)

    service.answer = failing
    assert place.eval(*declare(place, url=service.url), "--quiet") == 3
    assert "1 answer ended in an error" in capsys.readouterr().err
    assert mine(place)["metrics"] is None
    assert "status 503, 200 was expected" in mine(place)["questions"]["q2"]["error"]


def test_replies_are_recorded_and_replayed_without_the_service(place, service, capsys):
    service.answer = passages
    options = declare(place, url=service.url, version="7")
    assert place.eval(*options, "--save-baseline", "--record", "replies") == 0
    live, asked = mine(place), len(service.seen)
    service.answer = lambda handler: handler.give(b"gone", 500)
    assert place.eval(*options, "--check", "--replay", "replies", "--quiet") == 0
    assert len(service.seen) == asked
    replayed = mine(place)
    assert (replayed["metrics"], replayed["questions"]) == (live["metrics"], live["questions"])
    assert replayed["foreign"]["asked_again"] == 0
    declare(place, url=service.url, version="8")
    assert place.eval(*options, "--check", "--replay", "replies", "--quiet") == 3
    assert "was recorded of version '7'; this run is of '8'" in capsys.readouterr().err
    place.ask({"id": "q9", "question": "What of badges?", "source": "pay.md", "evidence": "paid in March"})
    declare(place, url=service.url, version="7")
    assert place.eval(*options, "--replay", "replies", "--quiet") == 3
    assert "has no reply to 1 questions of this run" in capsys.readouterr().err
    assert place.eval(*options, "--replay", "replies", "--record", "others", "--quiet") == 2


def test_the_union_of_the_steps_is_graded_and_each_step_beside_it(place, service):
    """q1: the second step's first passage comes second in the union, behind the first step's first."""

    def stepping(handler):
        found = [{"source": source, "text": text} for source, text in ANSWERS[handler.asked["question"]]]
        wrong = [{"source": "travel/rail.md", "text": "First class is for journeys over three hours."}]
        handler.give({"steps": [{"query": "first", "passages": wrong}, {"query": "again", "passages": found}]})

    service.answer = stepping
    assert place.eval(*declare(place, url=service.url), "--quiet") == 0
    questions = mine(place)["questions"]
    assert questions["q1"]["ranks"] == [2]
    assert questions["q1"]["steps"] == [{"query": "first", "ranks": [None]}, {"query": "again", "ranks": [1]}]
    assert questions["q3"]["steps"] == [{"query": "first", "ranks": [1]}, {"query": "again", "ranks": [2]}]
    table = (place.out / "latest.md").read_text()
    assert "| mine | 1 | 4 | 25.0 | 1 |" in table
    assert "| mine | 2 | 4 | 100.0 | 3 |" in table


def test_a_list_that_ends_early_makes_deeper_metrics_undefined_and_rules_on_them_errors(place, service, capsys):
    service.answer = passages
    options = declare(place, url=service.url, depth=3)
    assert place.eval(*options, "--quiet") == 0
    assert (mine(place)["metrics"]["hit@3"], mine(place)["metrics"]["hit@5"]) == (1, None)
    assert place.eval(*options, "--metrics", "recall@50", "--quiet") == 2
    assert "the list of mine ends at its depth 3" in capsys.readouterr().err


def test_a_service_beside_strategies_of_ours(place, service):
    service.answer = passages
    options = declare(place, url=service.url)
    assert place.eval(*options, "--strategies", "mine,headers+bm25", "--quiet") == 0
    assert list(place.results()["strategies"]) == ["mine", "headers+bm25"]
    assert place.results()["strategies"]["headers+bm25"]["ceiling"] == 1


def test_a_run_that_is_interrupted_ends_at_once_and_lets_go_of_its_program(place):
    (place.root / "slow.py").write_text("import time\ntime.sleep(60)")
    options = declare(place, command=[sys.executable, "slow.py"], timeout=1, workers=2)
    started = time.monotonic()
    done = place.process("eval", *options, "--quiet")
    assert done.returncode == 3
    assert "no answer within 1 s" in done.stderr
    assert "not asked, since 5 questions one after another" in done.stderr or done.stderr.count("no answer within") == 5
    assert time.monotonic() - started < 55


def test_from_python_a_foreign_strategy_is_searched_and_evaluated(place, service):
    service.answer = passages
    declare(place, url=service.url)
    settings = docmind.Settings(
        corpus=place.corpus,
        questions=place.questions,
        strategies=place.root / "strategies.yaml",
        index_dir=place.index_dir,
    )
    with docmind.open(settings=settings) as search:
        ranking = search("mine", "Who may go first class?", k=2)
    assert [hit.chunk.doc_id for hit in ranking.hits] == ["leave.md", "travel/rail.md"]
    assert docmind.evaluate(strategies="mine", settings=settings)["mine"].metrics["hit@3"] == 1


def test_chat_and_page_show_its_passages_also_one_that_is_in_no_document(place, service):
    """Sentences are chosen by token vectors, which other people's passages have none of; so the passages are the answer."""
    service.answer = lambda handler: handler.give(
        [{"source": "pay.md", "text": "The bonus is paid in March."}, {"text": "Words of nobody here, and of no page."}]
    )
    declare(place, url=service.url)
    settings = docmind.Settings(
        corpus=place.corpus, strategies=place.root / "strategies.yaml", index_dir=place.index_dir
    )
    with docmind.open(settings=settings) as search:
        found = reply(search, "mine", "extractive", "When is the bonus paid?", quiet)
    shown = [*found.cited, *found.others]
    assert [passage.document.title for passage in shown] == ["Pay", "in none of the documents"]
    assert [passage.document.text[span.start : span.end] for passage in shown for span in passage.spans] == [
        "The bonus is paid in March", "Words of nobody here, and of no page.",
    ]  # fmt: skip
    for passage in shown:
        assert markup.passage(passage, "x")
        assert markup.whole_page(passage)
