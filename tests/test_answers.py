"""`docmind answers` end to end: verdicts, a run that goes on where it stopped, models as answerer and judge, the gate."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from loopback import KEY, point, seclude
from standin_llm import LlmServer, Reply
from workplace import QUESTIONS, Workplace, disk

import docmind.cli
from docmind.cli import main
from docmind.config import Settings
from docmind.evaluation.key.dataset import load_questions
from docmind.evaluation.record.answers import read_reference, written
from docmind.evaluation.scoring.answermetrics import ANSWER_METRICS, AnswerMetric
from docmind.generation.extractive import Extractive
from docmind.models import Models, load
from docmind.models.minilm import OnnxEmbedder
from docmind.retrieval.searcher import Searcher
from docmind.retrieval.strategies import strategy
from docmind.runs.answers import AnswersRequest, Settled, Tally, answer_questions

THRESHOLDS = """
production: headers+rerank
min_hit_at_3: 0.5
max_regression_pp: 3
answers: {min_correct: 0.75, max_wrong: 0.0, max_false_abstention: 0.0, min_abstention: 1.0, max_regression_pp: 0.0}
"""
OFFLINE = {"q1": "correct", "q2": "partial", "q3": "correct", "q4": "correct", "u1": "abstained"}
"""The verdicts on QUESTIONS without a model. The second piece of q2 is a heading, which no sentence quotes."""

CORRECT = json.dumps({"reason": "It says so.", "verdict": "correct"})


class Answers(Workplace):
    """The command's files are of its folder; the index is shared, since what it holds never changes."""

    def arguments(self, command: str, *more: str) -> list[str]:
        places = {
            "--corpus": self.corpus, "--questions": self.questions, "--out": self.out, "--thresholds": self.thresholds,
            "--baseline": self.out / "answers.json", "--grades": self.grades, "--index-dir": self.index_dir,
        }  # fmt: skip
        return [command, *(str(part) for place in places.items() for part in place), *more]

    @property
    def thresholds(self) -> Path:
        return self.root / "thresholds.yaml"

    @property
    def grades(self) -> Path:
        return self.root / "grades.csv"

    @property
    def index_dir(self) -> Path:
        return self.root.parent / "shared-indexes"

    @property
    def file(self) -> Path:
        return self.out / "latest.answers.jsonl"

    def run(self, *more: str) -> int:
        return main(self.arguments("answers", *more))

    def rows(self) -> list[dict[str, Any]]:
        """The last row of each key, in the order of the file, without those that only waited for their judgement."""
        rows = [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]
        return [
            row
            for n, row in enumerate(rows)
            if row["key"] not in {later["key"] for later in rows[n + 1 :]}
            and not (
                row["error"] == "It is not judged yet."
                and row["answer_key"] in {r["answer_key"] for r in rows[n + 1 :]}
            )
        ]

    def found(self, name: str = "latest.answers.json") -> dict[str, Any]:
        return json.loads((self.out / name).read_text(encoding="utf-8"))

    def page(self, name: str, old: str, new: str) -> None:
        path = self.corpus / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Answers:
    seclude(monkeypatch, tmp_path)
    place = Answers(tmp_path)
    place.ask(*QUESTIONS)
    place.thresholds.write_text(THRESHOLDS)
    return place


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that are put to the extractive answerer, in order."""
    seen: list[str] = []
    answer = Extractive.answer

    def noting(self, query, ranking, on_text=None):
        seen.append(query.text)
        return answer(self, query, ranking, on_text)

    monkeypatch.setattr(Extractive, "answer", noting)
    return seen


def text_of(*ids: str) -> list[str]:
    return [q["question"] for q in QUESTIONS if q["id"] in ids]


def table(shown: str) -> dict[str, list[str]]:
    """The figures of each line that has some, by what leads the line."""
    return {re.split(r"\s{2,}", line)[0].strip(): re.split(r"\s{2,}", line.strip())[1:] for line in shown.splitlines()}


# Without a model


def test_every_question_is_answered_offline_and_the_verdicts_are_shown_and_kept(place, capsys):
    assert place.run() == 0
    shown = capsys.readouterr()
    assert table(shown.out)["answerable: all"][:7] == ["4", "4", "75.0", "25.0", "0.0", "0.0", "0.0"]
    assert table(shown.out)["unanswerable: all"] == ["1", "1", "0.0", "0.0", "0.0", "100.0", "0.0", *"––––"]
    assert "1.000 (1.00–1.00)" in shown.out
    assert f"Written to {place.file} and {place.out / 'latest.answers.json'}." in shown.out
    assert {row["id"]: row["verdict"] for row in place.rows()} == OFFLINE
    found = place.found()
    assert found["verdicts"] == OFFLINE
    assert found["summary"]["answerable"]["all"]["verdicts"]["correct"] == 3
    assert {k: v for k, v in found["fingerprint"].items() if k in ("strategy", "answerer", "judge")} == {
        "strategy": "headers+rerank", "answerer": "extractive", "judge": "span",
    }  # fmt: skip
    assert not (place.out / "answers.json").exists()
    with place.grades.open(encoding="utf-8", newline="") as file:
        assert {row["id"]: row["judge"] for row in csv.DictReader(file)} == OFFLINE


def test_quiet_shows_nothing(place, capsys):
    assert place.run("--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert place.found()["verdicts"] == OFFLINE


def test_the_same_run_gives_the_same_bytes(place):
    assert place.run("--quiet") == 0
    first = (place.out / "latest.answers.json").read_bytes()
    place.file.unlink()
    assert place.run("--quiet") == 0
    assert (place.out / "latest.answers.json").read_bytes() == first


def test_a_strategy_is_named_without_thresholds(place):
    place.thresholds.unlink()
    assert place.run("--quiet", "--strategy", "headers+bm25") == 0
    assert place.found()["fingerprint"]["strategy"] == "headers+bm25"


# Going on


def test_a_second_run_uses_every_row_again(place, asked, capsys):
    assert place.run() == 0
    assert "used again" not in capsys.readouterr().out
    rows = place.rows()
    assert place.run() == 0
    assert "5 verdicts used again from an earlier run." in capsys.readouterr().out
    assert len(asked) == 5
    assert place.rows() == rows
    assert place.found()["verdicts"] == OFFLINE


def test_an_interrupted_run_goes_on_where_it_stopped(place, monkeypatch, asked):
    noting = Extractive.answer

    def interrupted(self, query, ranking, on_text=None):
        if len(asked) == 2:
            raise KeyboardInterrupt
        return noting(self, query, ranking, on_text)

    with monkeypatch.context() as patched:
        patched.setattr(Extractive, "answer", interrupted)
        assert place.run() == 130
    assert [row["id"] for row in place.rows()] == ["q1", "q2"]
    assert not (place.out / "latest.answers.json").exists()
    assert place.run() == 0
    assert asked == text_of(*OFFLINE), "each was asked once"
    assert place.found()["verdicts"] == OFFLINE


def test_a_row_that_was_cut_while_it_was_written_is_asked_again(place, asked, caplog):
    assert place.run() == 0
    lines = place.file.read_bytes().split(b"\n")
    place.file.write_bytes(b"\n".join(lines[:4]) + b"\n" + lines[4][: lines[4].index(b"answer")])
    asked.clear()
    assert place.run() == 0
    assert asked == text_of("u1")
    assert f"{place.file}:5: is no whole row" in caplog.text
    assert place.found()["verdicts"] == OFFLINE


def test_a_changed_page_makes_its_questions_be_asked_again(place, asked):
    assert place.run("--strategy", "headers+bm25") == 0
    place.page("travel/rail.md", "Keep the ticket", "Keep every ticket")
    asked.clear()
    assert place.run("--strategy", "headers+bm25") == 0
    seen = Counter(row["id"] for row in place.rows())
    assert "Who may go first class?" in asked
    assert seen["q3"] == 2
    assert 0 < len(asked) < 5
    assert place.found()["verdicts"]["q3"] == "correct"


def test_a_page_that_changes_while_it_is_asked_changes_nothing_of_the_run(place, monkeypatch, asked):
    noting = Extractive.answer

    def editing(self, query, ranking, on_text=None):
        if not asked:
            (place.corpus / "leave.md").unlink()
        return noting(self, query, ranking, on_text)

    monkeypatch.setattr(Extractive, "answer", editing)
    assert place.run() == 0
    assert place.found()["verdicts"] == OFFLINE


def test_a_changed_question_is_asked_again(place, asked):
    assert place.run() == 0
    place.ask(QUESTIONS[0] | {"question": "How much annual leave is there?"}, *QUESTIONS[1:])
    asked.clear()
    assert place.run() == 0
    assert asked == ["How much annual leave is there?"]


def test_another_judge_judges_the_same_answers_anew_and_other_rules_ask_again(place, monkeypatch, asked):
    assert place.run() == 0
    monkeypatch.setattr("docmind.runs.answers.span_judge", lambda: "another rule")
    assert place.run() == 0
    assert asked == text_of(*OFFLINE), "the answers are the same, and judged anew"
    assert [row["id"] for row in place.rows()] == [*OFFLINE, *OFFLINE]
    monkeypatch.setattr("docmind.runs.answers.fingerprint", lambda: "other prompts")
    assert place.run() == 0
    assert asked == [*text_of(*OFFLINE), *text_of(*OFFLINE)]


# Metrics


def test_the_metrics_of_every_answer_are_kept_and_their_means_told(place, capsys):
    assert place.run() == 0
    rows = {row["id"]: row["metrics"] for row in place.rows()}
    assert list(rows["q1"]) == ["token_f1", "exact_match", "citation_recall", "citation_precision"]
    assert [rows[name]["citation_recall"] for name in OFFLINE] == [1, 0.5, 1, 1, None]
    assert set(rows["u1"].values()) == {None}
    found = place.found()["summary"]["answerable"]["all"]["metrics"]["citation_recall"]
    assert found == {"value": 0.875, "scored": 4}  # (1 + .5 + 1 + 1) / 4
    shown = capsys.readouterr().out
    assert "token_f1 exact_match citation_recall citation_precision" in shown
    assert table(shown)["answerable: all"][9] == "0.875"


def test_a_metric_that_is_added_is_in_rows_summary_and_table(place, monkeypatch, capsys, asked):
    assert place.run("--quiet") == 0
    lengths = AnswerMetric(lambda answer: min(1.0, len(answer.shown) / 4) if "annual" in answer.question else None)
    monkeypatch.setitem(ANSWER_METRICS._entries, "length", lengths)
    assert place.run() == 0
    assert asked == text_of(*OFFLINE), "what was answered is not asked again"
    assert {row["id"]: row["metrics"]["length"] for row in place.rows()} == dict.fromkeys(OFFLINE) | {"q1": 0.75}
    assert place.found()["summary"]["answerable"]["all"]["metrics"]["length"] == {"value": 0.75, "scored": 1}
    shown = capsys.readouterr().out
    assert re.search(r"citation_precision\s+length\n", shown)
    assert table(shown)["answerable: all"][-1].endswith(" 0.750 (of 1)")


def test_a_row_of_before_there_were_metrics_is_measured_and_not_asked_again(place, asked):
    assert place.run("--quiet") == 0
    summary, lines = place.found()["summary"], place.file.read_text(encoding="utf-8").splitlines()
    place.file.write_text("".join(re.sub(r',"metrics":\{.*?\}', "", line) + "\n" for line in lines), encoding="utf-8")
    assert place.run("--quiet") == 0
    assert len(asked) == 5
    assert place.found()["summary"] == summary


# From Python


def test_a_run_is_a_call_that_shows_nothing_and_tells_what_happens(place, capsys):
    steps, events, tally = [], [], Tally()

    @contextmanager
    def progress(what, total):
        yield lambda done: steps.append((what, total, done))

    def observe(event):
        events.append(event)
        tally(event)

    with Searcher(Settings(corpus=place.corpus, index_dir=place.index_dir), load("default")) as searcher:
        key = load_questions(place.questions, searcher.documents.values())
        asking = partial(answer_questions, searcher, key, AnswersRequest(strategy("headers+bm25")), place.out)
        run = asking(progress=progress, observe=observe)
        again = asking()
    assert steps == [("answering", 5, 1)] * 5
    assert events == [Settled(row, again=False) for row in run.rows]
    assert (run.reused, run.spent, tally.reused) == (0, {}, 0)
    assert (again.reused, again.record) == (5, run.record)
    assert [row.id for row in run.rows] == list(OFFLINE) == [question.id for question in run.questions]
    assert (run.failed, run.answerable) == ((), {"q1", "q2", "q3", "q4"})
    assert [path.name for path in place.out.iterdir()] == ["latest.answers.jsonl"], "save writes the rest"
    run.save(place.out, reference=True)
    saved = read_reference(place.out / "answers.json")
    assert written(saved, seal=True) == written(run.record, seal=True)
    assert capsys.readouterr() == ("", "")


# Some of the questions


def test_a_limit_takes_the_first(place):
    assert place.run("--limit", "2") == 0
    assert [row["id"] for row in place.rows()] == ["q1", "q2"]
    assert [place.found()["summary"][part]["all"]["n"] for part in ("answerable", "unanswerable")] == [2, 0]
    assert list(place.found()["fingerprint"]["questions"]) == ["q1", "q2"]


def test_a_sample_is_drawn_by_type_and_the_same_each_time(place):
    # direct 2, none 1, paraphrase 1, unanswerable 1, of which 3 are 1.2, 0.6, 0.6, 0.6
    assert place.run("--sample", "3") == 0
    drawn = [row["id"] for row in place.rows()]
    assert len(drawn) == 3
    assert sum(name in ("q1", "q2") for name in drawn) == 1
    assert place.run("--sample", "3") == 0
    assert [row["id"] for row in place.rows()] == drawn, "all were used again"


def test_a_limit_is_of_the_sample(place):
    assert place.run("--sample", "3", "--limit", "1") == 0
    assert len(place.rows()) == 1


# Bad input


@pytest.mark.parametrize(
    ("options", "code", "parts"),
    [
        (["--provider", "mistrall"], 2, ["unknown provider 'mistrall'", "Did you mean 'mistral'?", "extractive"]),
        (["--judge", "human"], 2, ["--judge", "span", "llm"]),
        (["--judge", "llm", "--judge-provider", "extractive"], 2, ["unknown provider 'extractive'", "mistral, openai"]),
        (["--judge", "llm"], 2, ["MISTRAL_API_KEY is not set"]),
        (["--provider", "openai"], 2, ["OPENAI_API_KEY is not set", "The extractive answers need none."]),
        (["--strategy", "headers+bm52"], 2, ["unknown mode 'bm52'", "Did you mean 'bm25'?"]),
        (["--limit", "0"], 2, ["--limit"]),
        (["--sample", "-1"], 2, ["--sample"]),
        (["--check", "--limit", "1"], 3, ["no committed answers yet"]),
        (["--save-baseline", "--limit", "1"], 2, ["every question"]),
        (["--save-baseline", "--sample", "5"], 2, ["every question"]),
        (["--save-baseline", "--provider", "openai"], 2, ["extractive answers"]),
        (["--save-baseline", "--judge", "llm"], 2, ["judged by spans"]),
        (["--check"], 3, ["no committed answers yet", "docmind answers --save-baseline"]),
        (["--agreement"], 3, ["grades.csv is not there"]),
        (["--judge", "llm", "--judge-provider", "openai"], 2, ["needs --judge-model"]),
        (["--judge", "llm", "--judge-provider", "groq"], 2, ["needs --judge-model"]),
        (["--judge", "llm", "--judge-provider", "ollama"], 2, ["needs --judge-model"]),
    ],
)
def test_bad_options_are_told_before_anything_is_written(place, capsys, options, code, parts):
    assert place.run(*options) == code
    shown = capsys.readouterr()
    assert all(part in shown.err for part in parts), shown.err
    assert "Traceback" not in shown.err
    assert [path.name for path in place.out.glob("*")] == ["latest.answers.comment.md"] * ("--check" in options)
    assert not place.grades.exists()


def test_thresholds_without_answers_are_told(place, capsys):
    place.thresholds.write_text(THRESHOLDS.partition("answers:")[0])
    assert place.run("--check") == 2
    assert "has no key 'answers'" in capsys.readouterr().err


def test_a_wrong_grade_is_told_before_any_question_is_asked(place, capsys, asked):
    assert place.run("--quiet") == 0
    text = place.grades.read_text(encoding="utf-8").replace(",correct,\n", ",correct,fine\n", 1)
    place.grades.write_text(text, encoding="utf-8")
    asked.clear()
    place.file.unlink()
    assert place.run() == 2
    assert "has the grade 'fine'" in capsys.readouterr().err
    assert asked == []
    assert place.grades.read_text(encoding="utf-8") == text


def test_a_model_without_token_vectors_gives_no_extractive_answers_to_judge(place, capsys, monkeypatch):
    class Wordless(OnnxEmbedder):
        has_tokens = False
        id = "wordless"

    monkeypatch.setattr("docmind.cli.answers.load_models", lambda profile: Models(Wordless(), None))
    assert place.run("--strategy", "headers+bm25", "--index-dir", str(place.root / "fresh")) == 2
    told = capsys.readouterr().err
    assert (
        "wordless gives no token vectors, so there are no extractive answers to judge. Use the default profile" in told
    )


def test_results_inside_the_corpus_are_refused(place, capsys):
    assert place.run("--out", str(place.corpus / "results")) == 2
    assert "lies in the corpus" in capsys.readouterr().err
    assert not (place.corpus / "results").exists()


@pytest.mark.parametrize("folder", ["--out", "--grades"])
def test_a_read_only_folder_is_told_with_the_remedy(place, capsys, folder):
    closed = place.root / "closed"
    with disk(closed, "ro"):
        assert place.run(folder, str(closed / "grades.csv" if folder == "--grades" else closed)) == 2
        message = capsys.readouterr().err
    assert "Traceback" not in message
    assert str(closed) in message
    assert "name another" in message


def test_a_read_only_folder_is_told_before_any_question_is_asked(place, asked):
    closed = place.root / "closed"
    with disk(closed, "ro"):
        assert place.run("--out", str(closed)) == 2
        assert place.run("--grades", str(closed / "grades.csv")) == 2
    assert asked == []


# The gate


@pytest.fixture
def saved(place: Answers, capsys: pytest.CaptureFixture[str]) -> Answers:
    """With committed answers."""
    assert place.run("--quiet", "--save-baseline") == 0
    capsys.readouterr()
    return place


def test_the_same_answers_pass(saved, capsys):
    assert saved.run("--check") == 0
    told = capsys.readouterr().err
    assert told.count("pass: ") == 5
    assert "pass: correct answers must be at least 75.0 %; they are 75.0 % (3 of 4)" in told
    assert "The gate on answers passed." in told
    assert "differs from the committed answers" not in told
    comment = (saved.out / "latest.answers.comment.md").read_text(encoding="utf-8")
    assert comment.startswith(
        "### ✅ Answers: the gate passed\n\n- ✅ **answers**: correct answers must be at least 75.0 %;"
    )
    assert "- key: same\n- strategy: same\n- answerer: same\n- judge: same\n- code: same\n" in comment
    assert saved.run("--quiet") == 0
    assert not (saved.out / "latest.answers.comment.md").exists(), "no verdict of an earlier run is left behind"


def test_a_lost_answer_fails(saved, capsys, monkeypatch):
    monkeypatch.setattr("docmind.generation.extractive.THRESHOLD", 0.48)  # q4 has 0.479
    saved.file.unlink()
    assert saved.run("--check") == 1
    told = capsys.readouterr().err
    assert "FAIL: correct answers must be at least 75.0 %; they are 50.0 % (2 of 4)" in told
    assert "FAIL: abstentions on answerable questions must be at most 0.0 %; they are 25.0 % (1 of 4)" in told
    assert re.search(r"FAIL: of 4 answerable questions .*\(lost: q4\)", told)
    assert "The gate on answers failed." in told
    comment = (saved.out / "latest.answers.comment.md").read_text(encoding="utf-8")
    assert comment.startswith("### ❌ Answers: the gate failed\n\n- ❌ **answers**: correct answers must be at least")
    assert comment.index("❌ **answers**: of 4") < comment.index("✅ **answers**")
    assert saved.found()["verdicts"]["q4"] == "abstained"


def test_a_key_without_unanswerable_questions_is_not_judged_whole(saved, capsys):
    saved.ask(*QUESTIONS[:4])
    assert saved.run("--check") == 3
    told = capsys.readouterr().err
    assert "not judged: abstentions on unanswerable questions" in told
    assert "could not judge the whole run" in told
    assert "differs from the committed answers: key: 1 question removed (u1)" in told
    comment = (saved.out / "latest.answers.comment.md").read_text(encoding="utf-8")
    assert comment.startswith("### ⚠️ Answers: the gate could not judge the whole run\n\n- ⚠️ **answers**: abstentions")
    assert "- key: 1 question removed (u1)\n" in comment


def test_committed_answers_that_were_edited_are_refused(saved, capsys):
    path = saved.out / "answers.json"
    path.write_text(path.read_text().replace('"q2": "partial"', '"q2": "correct"'))
    assert saved.run("--check") == 2
    assert "was changed after it was written" in capsys.readouterr().err
    comment = (saved.out / "latest.answers.comment.md").read_text(encoding="utf-8")
    assert comment.startswith(
        "### ⚠️ Answers: no verdict\n\nThe run ended before it could judge "
        "(exit code 2: wrong or missing input, or a fault):\n\n- "
    )
    assert "was changed after it was written" in comment


def test_checking_and_saving_at_once_would_replace_what_is_compared_with(saved, capsys):
    before = (saved.out / "answers.json").read_bytes()
    assert saved.run("--check", "--save-baseline") == 2
    assert "Give one of them" in capsys.readouterr().err
    assert (saved.out / "answers.json").read_bytes() == before


def test_checking_changes_no_committed_answer(saved):
    before = (saved.out / "answers.json").read_bytes()
    assert saved.run("--check", "--quiet") == 0
    assert (saved.out / "answers.json").read_bytes() == before


# Models


def reply_to(body: dict[str, Any]) -> str:
    """A model that cites the passage which holds the answer to q1, and abstains otherwise."""
    asked = body["messages"][-1]["content"]
    if not asked.endswith("Question: How many days of annual leave?"):
        return "The documents do not answer this."
    number = re.search(r"PASSAGE \[(\d)\] from leave\.md\n(?:(?!\n#).)*25 days", asked, re.DOTALL)
    assert number
    return f"25 days [{number[1]}]. So says a note [7]."


def test_a_model_answers_and_is_judged_by_spans(place, monkeypatch, capsys):
    with LlmServer(reply_to) as server:
        point(monkeypatch, "openai", server)
        assert place.run("--provider", "openai", "--model", "small") == 0
    assert len(server.requests) == 5
    assert {asked.body["model"] for asked in server.requests} == {"small"}
    rows = {row["id"]: row for row in place.rows()}
    assert rows["q1"]["verdict"] == "correct"
    assert (rows["q1"]["removed"], rows["q1"]["usage"], rows["q1"]["confidence"]) == ([7], [100, 20], None)
    assert re.fullmatch(r"25 days \[\d\]\. So says a note\.", rows["q1"]["answer"])
    assert {rows[name]["verdict"] for name in ("q2", "q3", "q4", "u1")} == {"abstained"}
    shown = capsys.readouterr().out
    assert re.search(r"small@127\.0\.0\.1:\d+: 500 tokens in, 100 out, cost unknown\.", shown)
    assert "AUROC" not in shown  # a model tells no confidence


def two_models(answer: str, judgements: Callable[[dict[str, Any]], str | Reply]):
    """A server of two models: "small" gives that answer, "large" judges."""
    return lambda body: judgements(body) if body["model"] == "large" else answer


def both(monkeypatch: pytest.MonkeyPatch, server: LlmServer) -> list[str]:
    point(monkeypatch, "openai", server)
    point(monkeypatch, "mistral", server)
    return ["--provider", "openai", "--model", "small", "--judge", "llm", "--judge-model", "large"]


def test_a_model_answers_and_another_judges(place, monkeypatch, capsys):
    def judgement(body):
        right = "25 days" in body["messages"][-1]["content"].partition("RIGHT ANSWER")[0]
        return json.dumps({"reason": "Because.", "verdict": "partial" if right else "wrong"})

    with LlmServer(two_models("25 days [1].", judgement)) as server:
        assert place.run(*both(monkeypatch, server)) == 0
    assert Counter(asked.body["model"] for asked in server.requests) == {"small": 5, "large": 5}
    assert {row["verdict"] for row in place.rows()} == {"wrong"}
    assert {row["reason"] for row in place.rows()} == {"Because."}
    assert place.found()["fingerprint"]["judge"].startswith("mistral/large@")
    shown = capsys.readouterr().out
    assert re.search(r"small@\S+: 500 tokens in, 100 out", shown)
    assert re.search(r"large@\S+: 500 tokens in, 100 out", shown)
    assert KEY not in shown + place.file.read_text()


def test_two_models_that_one_name_served_are_kept_apart_and_told(place, monkeypatch, capsys):
    """The first run is cut short; for the rest, and when it goes on, the same names serve other models."""
    served = ["small-1", "large-1"]

    def replies(body):
        if body["model"] == "large":
            return Reply((CORRECT,), model=served[1])
        return Reply(("Yes [1].",), model=served[0])

    with LlmServer(replies) as server:
        models = both(monkeypatch, server)
        assert place.run(*models, "--limit", "2") == 0
        assert "models stand in one table" not in capsys.readouterr().err
        assert [place.found()["fingerprint"][name] for name in ("served", "judged_by")] == [["small-1"], ["large-1"]]
        served[:] = ["small-2", "large-2"]
        assert place.run(*models) == 0
    told = " ".join(capsys.readouterr().err.split())
    for kind, name in (("Answers", "small"), ("Verdicts", "large")):
        assert (
            f"{kind} of 2 models stand in one table, though one name was asked for: {name}-1 (2), {name}-2 (3)." in told
        )
    assert place.found()["fingerprint"]["served"] == ["small-1", "small-2"]
    assert place.found()["fingerprint"]["judged_by"] == ["large-1", "large-2"]
    assert Counter((row["served"], row["judged_by"]) for row in place.rows()) == {
        ("small-1", "large-1"): 2,
        ("small-2", "large-2"): 3,
    }


def test_what_a_model_thought_is_in_the_file_and_not_judged(place, monkeypatch, capsys):
    def judgement(body):
        assert "Maybe" not in str(body)
        return f"<think>The documents do not answer this.</think>{CORRECT}"

    with LlmServer(
        two_models("<think>Maybe [2]. The documents do not answer this.</think>Yes [1].", judgement)
    ) as server:
        assert place.run(*both(monkeypatch, server)) == 0
    assert {(row["answer"], row["thought"]) for row in place.rows()} == {
        ("Yes [1].", "Maybe [2]. The documents do not answer this.")
    }
    assert {row["verdict"] for row in place.rows()} == {"correct"}
    assert "5 answers with thoughts of the model before or in it, which are kept apart" in capsys.readouterr().out


def test_an_answer_from_other_token_vectors_is_not_used_again(place, monkeypatch, asked):
    assert place.run() == 0
    asked.clear()
    monkeypatch.setattr("docmind.index.build.version", lambda embedder: f"{embedder.version}, another quantiser")
    assert place.run() == 0
    assert asked == text_of(*OFFLINE)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [("25 days.", "unsupported"), ("The documents do not answer this.", "abstained"), ("25 days [7].", "unsupported")],
)
def test_what_cites_nothing_needs_no_judge(place, monkeypatch, answer, verdict):
    with LlmServer(two_models(answer, lambda _: CORRECT)) as server:
        assert place.run(*both(monkeypatch, server)) == 0
    assert {asked.body["model"] for asked in server.requests} == {"small"}
    assert {row["verdict"] for row in place.rows()} == {verdict}


def test_a_model_does_not_judge_itself(place, monkeypatch, capsys):
    with LlmServer(["25 days [1]."]) as server:
        point(monkeypatch, "mistral", server)
        same = ["--provider", "mistral", "--model", "large", "--judge", "llm", "--judge-model", "large"]
        assert place.run(*same) == 2
    assert "cannot judge its own answers" in capsys.readouterr().err
    assert server.requests == []
    assert not place.out.exists()


FAILURES = {
    "fenced": Reply((f"```json\n{CORRECT}\n```",)),
    "a number": Reply(("Score: 4/5",)),
    "empty and cut": Reply(("",), finish="length"),
    "another verdict": Reply((json.dumps({"reason": "a", "verdict": "great"}),)),
    "429 for ever": Reply(status=429, headers={"Retry-After": "2"}),
    "401": Reply(status=401),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_judgement_is_an_error_and_no_score_and_only_it_is_asked_again(place, monkeypatch, capsys, failure):
    broken = [FAILURES[failure]]

    def judgement(body):
        of_q3 = "first class" in body["messages"][-1]["content"].partition("RIGHT ANSWER")[0]
        return broken[0] if broken and of_q3 else CORRECT

    with LlmServer(two_models("Yes [1].", judgement)) as server:
        models = both(monkeypatch, server)
        assert place.run(*models) == 3
        told = capsys.readouterr()
        assert "1 question ended in an error, q3 first: " in told.err
        assert "only these are asked again" in told.err
        counts = place.found()["summary"]["answerable"]["all"]
        assert (counts["n"], counts["judged"], counts["verdicts"]["correct"], counts["rates"]["correct"]) == (
            4,
            3,
            3,
            1.0,
        )
        assert table(told.out)["answerable: all"][:3] == ["4", "3", "100.0"]
        assert place.found()["verdicts"]["q3"] is None
        [failed] = [row for row in place.rows() if row["error"]]
        assert (failed["id"], failed["verdict"]) == ("q3", None)
        raw = "".join(broken[0].pieces) if broken[0].status == 200 else None
        assert (failed["raw"], failed["answer"]) == (raw, "Yes [1].")

        broken.clear()
        server.requests.clear()
        assert place.run(*models) == 0
    assert Counter(asked.body["model"] for asked in server.requests) == {"large": 1}, "the answer was paid already"
    assert "4 verdicts used again from an earlier run." in capsys.readouterr().out
    assert place.found()["verdicts"]["q3"] == "correct"


def test_the_tokens_of_failed_judgements_are_told(place, monkeypatch, capsys):
    failed = Reply(("Score: 4/5",), usage=(7, 3))
    cut = Reply(("",), finish="length", usage=(1_000, 400))
    replies = iter([failed, cut, Reply(status=401), CORRECT])
    with LlmServer(two_models("Yes [1].", lambda _: next(replies))) as server:
        assert place.run(*both(monkeypatch, server), "--limit", "3") == 3
    # 7 + 1,000 + 100 in, 3 + 400 + 20 out
    assert re.search(r"large@\S+: 1107 tokens in, 423 out", capsys.readouterr().out)


def test_where_no_question_gets_a_reply_the_rest_is_not_asked(place, monkeypatch, capsys):
    with LlmServer([Reply(status=401)]) as server:
        point(monkeypatch, "openai", server)
        assert place.run("--provider", "openai") == 3
    told = capsys.readouterr().err
    assert (
        "3 questions one after another ended in an error, q3 last: openai refuses the key (401). Check OPENAI_API"
        in told
    )
    assert "0 of 5 have a verdict" in told
    assert len(server.requests) == 3, "the rest would fare no better"
    assert [row["verdict"] for row in place.rows()] == [None] * 3
    assert not place.grades.exists(), "nothing to grade"
    assert KEY not in told + place.file.read_text()


def test_questions_without_a_reply_here_and_there_end_no_run(place, monkeypatch, capsys):
    refused = lambda body: "Yes [1]." if "first class" in body["messages"][-1]["content"][-60:] else Reply(status=400)  # noqa: E731
    with LlmServer(refused) as server:
        point(monkeypatch, "openai", server)
        for requests in (5, 9):  # the second time the answer that there is parts those that fail, too
            assert place.run("--provider", "openai") == 3
            assert "4 questions ended in an error, q1 first: " in capsys.readouterr().err
            assert len(server.requests) == requests
    counts = place.found()["summary"]["answerable"]["all"]
    assert (counts["n"], counts["judged"]) == (4, 1)


def test_questions_that_always_fail_keep_no_run_from_the_rest(place, monkeypatch, capsys):
    def reply(body):
        asked = body["messages"][-1]["content"].rpartition("Question: ")[2]
        return Reply(status=400) if asked in text_of("q1", "q2", "q3") else "Yes [1]."

    with LlmServer(reply) as server:
        point(monkeypatch, "openai", server)
        assert place.run("--provider", "openai") == 3
        assert "0 of 5 have a verdict" in capsys.readouterr().err
        assert place.run("--provider", "openai") == 3
        assert "3 questions ended in an error, q1 first: " in capsys.readouterr().err
    assert [name for name, verdict in place.found()["verdicts"].items() if verdict] == ["q4", "u1"]


def test_an_answer_that_was_paid_is_kept_before_it_is_judged(place, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with LlmServer(two_models("Yes [1].", lambda _: CORRECT)) as server:
        models = both(monkeypatch, server)
        with monkeypatch.context() as patched:
            patched.setattr("docmind.runs.answers.judge", interrupt)
            assert place.run(*models) == 130
        assert place.run(*models) == 0
    assert Counter(asked.body["model"] for asked in server.requests) == {"small": 5, "large": 5}


def test_answers_that_were_cut_are_told(place, monkeypatch, capsys):
    with LlmServer([Reply(("25 days [1], and",), finish="length")]) as server:
        point(monkeypatch, "openai", server)
        assert place.run("--provider", "openai") == 0
    assert "5 answers cut at the model's limit of tokens." in capsys.readouterr().out


def test_what_failed_tries_cost_is_told(place, monkeypatch, capsys):
    filtered = Reply(("25 ",), finish="content_filter", usage=(1_000, 400))
    with LlmServer([filtered]) as server:
        point(monkeypatch, "openai", server)
        assert place.run("--provider", "openai", "--limit", "2") == 3
    assert re.search(r"gpt-4\.1-mini@\S+: 2000 tokens in, 800 out", capsys.readouterr().out)


def test_a_judge_that_never_keeps_to_the_form_ends_the_run(place, monkeypatch, capsys):
    with LlmServer(two_models("Yes [1].", lambda _: "Score: 4/5")) as server:
        assert place.run(*both(monkeypatch, server)) == 3
    told = capsys.readouterr().err
    assert "3 questions one after another ended in an error, q3 last: The judgement of q3 has not the form" in told
    assert Counter(asked.body["model"] for asked in server.requests) == {"small": 3, "large": 3}


@pytest.mark.parametrize(("judge", "said"), [("span", True), ("llm", False)])
def test_what_a_verdict_on_a_model_by_spans_is_worth_is_told(place, monkeypatch, capsys, judge, said):
    with LlmServer(two_models("Yes [1].", lambda _: CORRECT)) as server:
        models = both(monkeypatch, server)
        assert place.run(*models, "--judge", judge) == 0
    assert ("not what its words say" in capsys.readouterr().out) is said


def test_the_gate_believes_no_row_that_can_be_edited(saved, capsys):
    edited = saved.file.read_text(encoding="utf-8").replace('"verdict":"partial"', '"verdict":"correct"')
    saved.file.write_text(edited, encoding="utf-8")
    assert saved.run("--check") == 0
    assert "correct answers must be at least 75.0 %; they are 75.0 % (3 of 4)" in capsys.readouterr().err
    assert saved.found()["verdicts"] == OFFLINE


def test_an_edited_grade_stops_no_gate(saved, capsys):
    saved.grades.write_text("what is this", encoding="utf-8")
    assert saved.run("--check") == 0
    assert saved.run() == 2
    assert "grades.csv: has the columns what is this" in capsys.readouterr().err


def test_checks_that_find_the_same_do_not_let_the_file_grow(saved):
    before = saved.rows()
    assert saved.run("--check") == 0
    assert saved.rows() == before


def test_a_row_of_another_question_is_not_taken(place, asked):
    assert place.run() == 0
    place.file.write_text(place.file.read_text().replace('"id":"q3"', '"id":"q9"'))
    asked.clear()
    assert place.run() == 0
    assert asked == []
    assert place.found()["verdicts"] == OFFLINE


def test_the_grades_of_the_handbook_are_not_those_of_other_questions(place, monkeypatch):
    monkeypatch.chdir(place.root)
    (place.root / "eval").mkdir()
    arguments = [
        a for a in place.arguments("answers") if a not in ("--grades", str(place.grades), "--out", str(place.out))
    ]
    assert main(arguments) == 0
    assert (place.root / "results" / "human_grades.csv").exists()
    assert not (place.root / "eval" / "human_grades.csv").exists()


def test_checking_and_asking_some_leave_the_grades_alone(saved):
    text = saved.grades.read_text(encoding="utf-8").replace(",correct,\n", ",correct,partial\n", 1)
    saved.grades.write_text(text, encoding="utf-8")
    for options in (["--check"], ["--limit", "1"], ["--sample", "2"]):
        assert saved.run("--quiet", *options) == 0
        assert saved.grades.read_text(encoding="utf-8") == text


# Grades


def test_agreement_is_told_of_what_was_graded_and_grades_survive(place, capsys):
    assert place.run("--quiet") == 0
    lines = place.grades.read_text(encoding="utf-8")
    # q1, q3 and q4 are correct to the judge; the hand disagrees on one of them, and agrees on the abstention.
    graded = lines.replace(",correct,\n", ",correct,correct\n", 2).replace(",correct,\n", ",correct,wrong\n")
    graded = graded.replace(",abstained,\n", ",abstained,abstained\n")
    place.grades.write_text(graded, encoding="utf-8")
    shutil.rmtree(place.out)
    assert place.run("--agreement") == 0
    shown = capsys.readouterr().out
    # 3 of 4 agree; by chance (3·2 + 1·1) / 16: (12 − 7) / (16 − 7)
    assert "4 graded answers; raw agreement 75 %; Cohen's kappa 0.56 (95 % interval" in shown
    assert "correct: judge 3, by hand 2" in shown
    assert not place.out.exists(), "it only tells"
    assert place.run("--quiet") == 0
    with place.grades.open(encoding="utf-8", newline="") as file:
        assert [row["grade"] for row in csv.DictReader(file)] == [
            *[row["grade"] for row in csv.DictReader(graded.splitlines()) if row["grade"]], "",
        ]  # fmt: skip


def test_agreement_of_one_verdict_alone_is_told_to_say_nothing(place, capsys):
    place.ask(QUESTIONS[0])
    assert place.run("--quiet") == 0
    assert place.run("--agreement") == 3
    assert (
        "nothing is graded yet. Write a verdict into the column 'grade': correct, partial," in capsys.readouterr().err
    )
    text = place.grades.read_text(encoding="utf-8").replace(",correct,\n", ",correct,correct\n")
    place.grades.write_text(text, encoding="utf-8")
    assert place.run("--agreement") == 0
    assert "1 graded answer; raw agreement 100 %; Cohen's kappa says nothing: one side gives" in capsys.readouterr().out


def test_the_script_is_the_command(place):
    script = Path(docmind.cli.__file__).parents[2] / "eval" / "run_answers.py"
    assert 'main(["answers", *sys.argv[1:]])' in script.read_text(encoding="utf-8")
    done = place.process("answers", "--quiet", "--limit", "1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [row["id"] for row in place.rows()] == ["q1"]
