"""The gate's reports say what the verdict says, stay within their sizes, and text of questions does nothing in them."""

import json
import random
import re
from html import escape
from itertools import pairwise
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import ir_measures
import pytest
from handmade import DOCUMENTS, PAGE, TREATMENT, hits, questions, reference, results

from docmind.evaluation.gate.compare import compare
from docmind.evaluation.gate.thresholds import Minimum, Regression, Thresholds
from docmind.evaluation.gate.verdict import judge
from docmind.evaluation.record.types import HitResult, QuestionResult
from docmind.evaluation.reports import comment, diff, github, junit, movements, outputs, trec
from docmind.evaluation.reports import html as html_report
from docmind.evaluation.reports.inert import cut, html, markdown
from docmind.evaluation.reports.material import Material
from docmind.evaluation.scoring.measures import measure
from docmind.evaluation.scoring.metrics.judged import Judged
from docmind.text import visible

HOSTILE = "a|b?\n@team <!-- marker --> ``` https://x.y #12 [a](b)"
LINK = "https://code.example/acme/handbook/blob/abc/"


def material(new, old, text=None, key="eval/questions.jsonl", gated=None, **changed):
    """Of two runs' strategies. Questions stand in the lines from 1, in the order of the first strategy of `new`."""
    held = Thresholds(**{"production": "s", "min_hit_at_3": 0.0, "max_regression_pp": 3.0, **changed})
    found = results(new)
    return Material(
        record=found,
        timings={},
        questions=questions(next(iter(new.values())), **(text or {})),
        documents=DOCUMENTS,
        relevant={},
        key=key,
        link=LINK,
        verdict=judge(found, reference(old), held, gated),
    )


def broken(**text):
    """s loses 11 and gains 2 of 100, t loses 1; the floor of 0.5 holds, and q0000 must pass."""
    return material(
        {"s": hits(60, 11, 2), "t": hits(60, 1)}, {"s": hits(60), "t": hits(60)}, text, must_pass=("q0000", "q0059")
    )


def passing():
    return material({"s": hits(60, 1, 1)}, {"s": hits(60)})


def incomplete():
    return material({"s": {"q1": 1, "q2": "KeyError: <x>\x00"}}, {"s": {"q1": 1, "q2": 1}, "t": {"q1": 1, "q2": 1}})


def comment_of(found):
    [(name, text)] = comment.render(found).items()
    assert name == "latest.comment.md"
    return text


# The comment


@pytest.mark.parametrize(
    ("found", "headline"),
    [
        (passing(), "### ✅ Retrieval: the gate passed"),
        (broken(), "### ❌ Retrieval: the gate failed (regression, must_pass)"),
        (incomplete(), "### ⚠️ Retrieval: the gate could not judge the whole run"),
        (
            material({"s": {"q1": 9}}, {"s": {"q1": 1}, "t": {"q1": 1}}),
            "### ⚠️ Retrieval: the gate failed (regression) and could not judge the whole run",
        ),
    ],
)
def test_the_verdict_stands_first(found, headline):
    assert comment_of(found).splitlines()[0] == headline


def test_the_comment_tells_each_failure_the_figures_and_the_flips():
    """By hand: 60 → 51 of 100 is -9.0 points, p = 92 / 2^13 = 0.011, twice that after Holm; t's is 1/2, and 1 at most."""
    text = comment_of(broken())
    assert "- ❌ **regression**: s lost 11 questions and gained 2: Hit@3 60.0 % → 51.0 % (60 → 51 of 100)" in text
    assert "- ❌ **must\\_pass**" not in text, "the names of rules are Markdown of our own"
    assert "- ❌ **must_pass**: q0000 must be won at 3 by s; it is not among the 10 passages found" in text
    assert "- ✅ **must_pass**: q0059 must be won at 3 by s; it is at rank 1" in text
    assert "- ✅ **floor**: Hit@3 of s must be at least 0.0 %; it is 51.0 % (51 of 100)" in text
    rows = [line for line in text.splitlines() if re.match(r"\| [st] (\(production\) )?\|", line)]
    assert re.fullmatch(
        r"\| s \(production\) \| 60\.0 \| 51\.0 \| -9\.0 \| -\d+\.\d to -\d+\.\d \| 11 \| 2 \| 0\.011 \| 0\.022 \|",
        rows[0],
    )
    assert re.fullmatch(r"\| t \| 60\.0 \| 59\.0 \| -1\.0 \| .* \| 1 \| 0 \| 0\.500 \| 0\.500 \|", rows[1])
    assert text.index("- ❌") < text.index("- ✅") < text.index("| strategy |") < text.index("<details>")
    lost = text[text.index("<summary>s lost 11 questions</summary>") :]
    passage = PAGE[10:20]
    row = f"| [q0000]({LINK}eval/questions.jsonl#L1) What of q0000? | 1 → – | fusion | page.md: {passage} |"
    assert row in lost.splitlines()
    assert "<summary>t lost 1 question</summary>" in text
    gained = text[text.index("<summary>s gained 2 questions</summary>") :]
    assert f"| [q0060]({LINK}eval/questions.jsonl#L61) What of q0060? | – → 1 |" in gained.splitlines()
    assert "Within noise: 1 of 2 strategies." in text


def test_what_differs_and_what_is_not_compared_is_told():
    found = material({"s": {"q1": 1, "q2": 1}, "u": {"q1": 1, "q2": 1}}, {"s": {"q1": 1, "q3": 1}})
    text = comment_of(found)
    assert "**What differs from the baseline**" in text
    assert "- key: 1 question added (q2); 1 question removed (q3)" in text
    assert "- corpus: same" in text
    assert "- questions added, so not compared (1): q2" in text
    assert "- questions not asked any more, so not compared (1): q3" in text
    assert "- strategies without a baseline: u" in text


def test_an_incomplete_run_tells_why():
    text = comment_of(incomplete())
    assert "- ⚠️ strategies of the baseline were not run: t" in text
    assert "- ⚠️ s has no metrics: 1 question ended in an error (q2)" in text
    assert "- ⚠️ **floor**: " in text


def test_strategies_for_information_are_marked_in_the_comment_and_fail_nothing():
    """t loses 9 of 60 and is not judged; u was not run."""
    after, before = {"s": hits(60, 1), "t": hits(60, 9)}, {"s": hits(60), "t": hits(60), "u": hits(60)}
    text = comment_of(material(after, before, gated=["s"]))
    assert text.startswith("### ✅ Retrieval: the gate passed")
    [row] = [line for line in text.splitlines() if line.startswith("| t ")]
    assert row.startswith("| t (for information) | 60.0 | 51.0 | -9.0 |")
    assert row.endswith("| 9 | 0 | 0.002 | – |")
    assert "| s (production) | 60.0 | 59.0 |" in text
    assert "- ℹ️ for information: strategies of the baseline were not run: u" in text
    assert "<summary>t lost 9 questions</summary>" in text
    suites = parsed(material(after, before, gated=["s"]))
    assert {(s.get("failures"), s.get("errors")) for s in suites.values()} == {("0", "0")}
    assert annotations(material(after, before, gated=["s"])) == []


@pytest.mark.parametrize(("alpha", "told"), [(None, ""), (0.01, ", with p ≤ 0.01 after Holm over 2")])
def test_the_smallest_drop_is_told_with_the_rule_that_finds_it(alpha, told):
    """Of t, which is not judged, no rule speaks."""
    runs = {"s": hits(60), "t": hits(60, 5), "u": hits(60)}
    found = material(runs, {name: hits(60) for name in runs}, alpha=alpha, gated=["s", "u"])
    drop = 100 * found.verdict.comparison.changes[0].detectable
    assert (
        f"The smallest true drop of a strategy that the rule (more than 3.0 points of Hit@3 lost{told}) finds in 8 of 10 runs is "
        f"{drop:.1f} points"
    ) in comment_of(found)
    assert "could find no drop with so few" in comment_of(material({"s": {"q1": 1}}, {"s": {"q1": 1}}, alpha=0.01))


def test_the_questions_that_production_lost_stand_first():
    before, after = {name: hits(60) for name in "stu"}, {"s": hits(60, 9), "t": hits(60, 2), "u": hits(60, 7)}
    text = comment_of(material(after, before, production="t"))
    assert re.findall(r"<summary>(\w) lost", text) == ["t", "s", "u"]


def test_the_comment_of_an_error_has_a_line_for_each_of_its_own_and_nothing_else_of_it_is_obeyed():
    [(name, text)] = comment.failed("2 faults:\n\n/lgtm @team\n| a <b>", 2).items()
    assert name == "latest.comment.md"
    assert text == (
        "### ⚠️ Retrieval: no verdict\n\nThe run ended before it could judge "
        "(exit code 2: wrong or missing input, or a fault):\n\n"
        "- 2 faults:\n- /lgtm @\u200bteam\n- \\| a &lt;b&gt;\n"
    )
    [(name, text)] = github.failed("a\n::error::b", 3).items()
    assert name == "latest.annotations.txt"
    told = "there is no verdict (exit code 3: not comparable or incomplete): a%0A::error::b"
    assert text == f"::error title=retrieval gate::{told}\n"
    assert len(comment.failed("&" * 99_999, 2)["latest.comment.md"].encode()) < comment.LIMIT


def test_names_of_strategies_are_shown_as_they_are():
    """Within <summary> no Markdown is read: a backslash would be seen there. In a cell, "_" must be kept from it."""
    name = "fixed_500+a<b"
    text = comment_of(material({name: {"q1": 9}}, {name: {"q1": 1}}, production=name))
    assert "<summary>fixed_500+a&lt;b lost 1 question</summary>" in text
    assert "| fixed\\_500+a&lt;b (production) |" in text


def test_without_a_verdict_there_is_no_comment_and_no_annotation():
    found = Material(results({"s": {"q1": 1}}), {}, questions({"q1": 1}), {}, {}, "key")
    assert comment.render(found) == github.render(found) == {}


SHORT_OF = re.compile(r"^- (\d+) more rows left out here: see latest\.html and latest\.json\.$", re.MULTILINE)


def large(n, lost, strategies, length):
    """`strategies`, all alike, that each lose `lost` and gain `lost` of `n` questions of `length` characters."""
    names = [f"recursive_1000+bm25_stem_{i:02}" for i in range(strategies)]
    after = hits(2 * lost, lost, lost, of=n)
    old, new = (
        found.model_copy(update={"strategies": dict.fromkeys(names, found.strategies["s"])})
        for found in (results({"s": hits(2 * lost, of=n)}), results({"s": after}))
    )
    held = Thresholds(production=names[0], min_hit_at_3=0.0, max_regression_pp=0.0, must_pass=tuple(after)[:5])
    asked = questions(after, **dict.fromkeys(after, ("ż|" * length)[:length]))
    return Material(new, {}, asked, DOCUMENTS, {}, "eval/questions.jsonl", LINK, judge(new, old, held))


@pytest.mark.parametrize(("n", "lost"), [(1000, 200), (5000, 400)])
def test_the_comment_of_many_flips_stays_under_its_limit_cut_by_whole_rows_each_counted(n, lost):
    """40 strategies with 400 flips and more, of questions with 300 characters, two bytes or an escape each."""
    found = large(n, lost, 40, 300)
    text = comment_of(found)
    assert 50_000 < len(text.encode()) <= 60_000
    assert text.startswith("### ❌ Retrieval: the gate failed")
    lines = text.splitlines()
    assert text.count("<details>") == text.count("</details>") == 80
    shown = 0
    for block in re.findall(r"<details>.*?</details>", text, re.DOTALL):
        rows = [line for line in block.splitlines() if line.startswith("| [q")]
        told = [int(more) for more in SHORT_OF.findall(block)]
        assert len(rows) + sum(told) == lost
        assert len(told) == (len(rows) < lost)
        assert all(row.endswith(" |") for row in rows)
        shown += len(rows)
    assert shown > 20
    assert sum(line.startswith("| recursive") for line in lines) == 40, "the figures of every strategy come first"
    assert sum(line.startswith("- ❌ **regression**") for line in lines) == 0, "as many are lost as are gained"


def test_what_just_fits_is_not_cut():
    text = comment_of(large(400, 100, 1, 60))
    assert not SHORT_OF.search(text)
    assert text.count("| [q") == 200


def test_rows_before_the_flips_are_cut_and_counted_too(monkeypatch):
    monkeypatch.setattr(comment, "LIMIT", 2_000)
    found = material({"s": hits(60)}, {"s": hits(60)}, must_pass=tuple(f"q{i:04}" for i in range(60)), min_hit_at_3=0.9)
    text = comment_of(found)
    assert len(text.encode()) <= 2_000
    assert text.splitlines()[0] == "### ❌ Retrieval: the gate failed (floor)"
    assert "❌ **floor**" in text, "what failed stands before what passed"
    listed = text.count("must_pass")
    assert 0 < listed < 60
    assert int(SHORT_OF.search(text)[1]) == 60 - listed


# Text of questions


def test_a_hostile_question_stays_inert_and_in_one_row():
    found = broken(q0000=HOSTILE)
    rows = [line for line in comment_of(found).splitlines() if "questions.jsonl#L1)" in line]
    assert len(rows) == 2, "s and t have lost it"
    for row in rows:
        shown = row.split("#L1) ")[1].split(" | 1 → –")[0]
        assert shown == ("a\\|b? @\u200bteam &lt;\\!-- marker --&gt; \\`\\`\\` https:\u200b//x.y #\u200b12 \\[a\\](b)")
        assert len(re.split(r"(?<!\\)\|", row)) == 4 + 2, "four cells"


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("@team", "@team"),
        ("_@team", "@team"),
        ("é@team", "@team"),
        ("mail a@b.example", "a@b"),
        ("octo/repo#12", "repo#12"),
        ("#12", "#12"),
        ("GH-12", "GH-12"),
        ("see gh-12", "gh-12"),
        ("a@1and1.example", "a@1"),
        ("www.x.example", "www."),
        ("_www.x.example", "www."),
        ("http://x", "://"),
        ("mailto:a@b.example", "a@b"),
        ("<!-- x", "<!--"),
        ("</details>", "</details>"),
        ("&lt;b&gt;", "&lt;b"),
        ("a\nb", "\n"),
        ("a\r\n| b", "\r"),
        ("a\u2028b\x85c", "\u2028"),
        ("a\x00\x1b\x9bb", "\x9b"),
    ],
)
def test_what_github_would_act_on_is_broken_up(text, live):
    assert live in text or live.startswith("\\")
    assert live not in markdown(text)


def test_within_an_element_mentions_are_broken_up_and_marks_stay():
    assert html("a_b <@team> &\n`x`") == "a_b &lt;@\u200bteam&gt; &amp; `x`"


def test_what_means_nothing_to_github_stays_as_it_is():
    for text in ("Hit@3 of s", "£5", "a - b", "C# is fine", "ROUGH-12", "1.5 % (3)"):
        assert markdown(text) == text


def test_escapes_are_for_every_mark_and_can_be_read_back():
    marks = r"\ ` * _ [ ] | ~ !"
    assert markdown(marks) == " ".join(f"\\{mark}" for mark in marks.split())
    assert markdown(r"a\|b") == r"a\\\|b", "a backslash cannot set the pipe free"


def test_a_cut_text_shows_that_it_is_cut():
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"


# JUnit


def parsed(found):
    [(name, text)] = junit.render(found).items()
    assert name == "latest.junit.xml"
    return {suite.get("name"): suite for suite in ET.fromstring(text.encode())}


def test_junit_has_a_suite_for_the_gate_and_one_a_strategy_that_fail_as_the_verdict_does():
    """Of s the 11 lost ones fail, q0000 once though two rules name it; t's loss is within the tolerance."""
    suites = parsed(broken())
    kinds = ("tests", "failures", "errors", "skipped")
    counts = {n: tuple(int(s.get(k)) for k in kinds) for n, s in suites.items()}
    assert counts == {"gate": (6, 2, 0, 0), "s": (100, 11, 0, 38), "t": (100, 0, 0, 41)}
    for suite in suites.values():
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    first = suites["s"].find("testcase")
    assert first.get("name") == "q0000: What of q0000?"
    assert first.find("failure").get("message") == "rank 1 → none"
    skipped = suites["t"].find("testcase").find("skipped")
    assert skipped.get("message") == "missed at 3: rank 1 → none, within what may be lost"
    assert suites["s"].findall("testcase")[99].find("skipped").get("message") == "missed at 3: rank none"
    gained = next(case for case in suites["s"] if case.get("name").startswith("q0060"))
    assert gained.find("system-out").text == "rank none → 1"
    assert [case.get("name") for case in suites["gate"]] == [
        "floor: s", "regression: s", "regression: t", "must_pass: s: q0000", "must_pass: s: q0059",
        "the run is whole and can be compared",
    ]  # fmt: skip
    assert suites["gate"].find("testcase").find("system-out").text.endswith("it is 51.0 % (51 of 100)")


def test_junit_names_stay_the_same_from_run_to_run():
    """Whatever the figures and the verdict are."""
    names = [
        [(case.get("classname"), case.get("name")) for suite in parsed(found).values() for case in suite]
        for found in (
            material({"s": hits(60)}, {"s": hits(60)}),
            material({"s": hits(60, 11)}, {"s": hits(60)}, min_hit_at_3=0.9),
            material({"s": hits(60)}, {"s": hits(60), "t": hits(60)}),
        )
    ]
    assert names[0] == names[1] == names[2]


def test_junit_asks_for_nothing_where_there_is_nothing_to_find():
    found = material({"s": {"q1": 1, "u1": (), "u2": "an error"}}, {"s": {"q1": 1, "u1": (), "u2": ()}})
    assert [case.get("name").partition(":")[0] for case in parsed(found)["s"]] == ["q1", "u2"]


def test_junit_of_a_run_that_passes_has_no_failure():
    suites = parsed(passing())
    assert {(s.get("failures"), s.get("errors")) for s in suites.values()} == {("0", "0")}


def test_junit_tells_errors_as_errors_and_xml_takes_every_character():
    suites = parsed(incomplete())
    case = suites["s"].findall("testcase")[1]
    assert case.find("error").get("message") == "KeyError: <x>\ufffd"
    assert suites["s"].get("errors") == "1"
    # The floor has no figure; the strategy t is missing; and s has an error.
    assert (suites["gate"].get("failures"), suites["gate"].get("errors")) == ("0", "2")
    whole = suites["gate"].findall("testcase")[-1].find("error").get("message")
    assert whole.startswith(
        "strategies of the baseline were not run: t; s has no metrics: 1 question ended in an error"
    )
    strange = "\x00\x1b\ud800 <b> & \" ' ]]> é"
    case = parsed(broken(q0000=strange))["s"].find("testcase")
    assert case.get("name") == "q0000: \ufffd\ufffd\ufffd <b> & \" ' ]]> é"


def test_junit_without_a_verdict_has_no_gate_and_no_failure():
    found = Material(results({"s": {"q1": None, "q2": "x"}}), {}, questions({"q1": 1, "q2": 1}), {}, {}, "key")
    suites = parsed(found)
    assert list(suites) == ["s"]
    assert (suites["s"].get("failures"), suites["s"].get("errors")) == ("0", "1")


def test_junit_fails_what_the_floor_lost_too():
    """Two of four are lost within the tolerance, and the floor of 0.75 is broken by it."""
    before, after = {f"q{i}": 1 for i in range(4)}, {"q0": 5, "q1": None, "q2": 1, "q3": 1}
    found = material({"s": after, "t": after}, {"s": before, "t": before}, max_regression_pp=50.0, min_hit_at_3=0.75)
    suites = parsed(found)
    assert [suites[name].get("failures") for name in ("gate", "s", "t")] == ["1", "2", "0"]


# Annotations


def annotations(found):
    [(name, text)] = github.render(found).items()
    assert name == "latest.annotations.txt"
    assert text == "" or text.endswith("\n")
    return text.splitlines()


def test_annotations_name_the_failures_then_the_questions_at_their_lines():
    before = {f"q{i}": 1 for i in range(4)}
    after = {"q0": 1, "q1": 9, "q2": None, "q3": 1}
    found = material({"s": after, "t": {**before, "q2": 7}}, {"s": before, "t": before}, max_regression_pp=20.0)
    assert annotations(found) == [
        "::error title=retrieval gate::regression: s lost 2 questions and gained 0: Hit@3 100.0 %25 → 50.0 %25 "
        "(4 → 2 of 4); 20.0 points may be lost",
        "::error title=retrieval gate::regression: t lost 1 question and gained 0: Hit@3 100.0 %25 → 75.0 %25 "
        "(4 → 3 of 4); 20.0 points may be lost. "
        "One of 4 questions is worth 25.0 points, so that the loss of any one fails: ask more, or allow the points of one",
        "::error file=eval/questions.jsonl,line=3,title=retrieval%3A a question was lost::q2 was lost by s, t: What of q2?",
        "::error file=eval/questions.jsonl,line=2,title=retrieval%3A a question was lost::q1 was lost by s: What of q1?",
    ]


def test_nothing_is_annotated_where_the_gate_passed():
    assert annotations(passing()) == []
    assert annotations(incomplete())[0].startswith("::error title=retrieval gate::strategies of the baseline")


def test_ten_annotations_at_most_and_the_last_counts_the_rest():
    """s: a regression and a must_pass, and 11 questions: 13, of which nine are told and four counted."""
    lines = annotations(broken())
    assert len(lines) == 10
    assert lines[-1] == "::error title=retrieval gate::and 4 more, in the job's summary and its artifact"
    ten = material({"s": hits(60, 9)}, {"s": hits(60)})
    assert len(annotations(ten)) == 10
    assert "more, in" not in annotations(ten)[-1]


def test_where_many_strategies_fail_lines_of_the_answer_key_are_named_all_the_same():
    names = [f"t{i}" for i in range(12)]
    found = material(dict.fromkeys(names, hits(60, 9)), dict.fromkeys(names, hits(60)), production="t0")
    lines = annotations(found)
    assert [line.startswith("::error file=") for line in lines] == [False] * 5 + [True] * 4 + [False]
    assert lines[-1].split("::")[-1].startswith("and 12 more"), "12 regressions and 9 questions, less 9"


def test_no_text_ends_an_annotation_or_begins_another():
    text = {"q0": "100 %\r\n::error::x\x1b[2J"}
    found = material({"s": {"q0": 9}}, {"s": {"q0": 1}}, text, key="a,b:c/key.jsonl")
    [_, line] = annotations(found)
    assert line == (
        "::error file=a%2Cb%3Ac/key.jsonl,line=1,title=retrieval%3A a question was lost::"
        "q0 was lost by s: 100 %25%0D%0A::error::x\ufffd[2J"
    )


# TREC


def random_run(generator, n=60):
    """Questions with up to three pieces of gold, ten hits each or fewer, and what the gold rule says of their ranks."""
    found, relevant, judged = {}, {}, []
    for i in range(n):
        name = f"q {i}/a\tb%"
        depth = generator.choice([0, 3, 10, 10, 10])
        chunks = [f"staff handbook/leave {i}.md#{j}" for j in generator.sample(range(14), 14)]
        # A chunk may cover several pieces, and a piece be covered by several chunks or by none.
        pieces = [
            frozenset(generator.sample(chunks, generator.choice([0, 1, 1, 2])))
            for _ in range(generator.choice([1, 2, 3]))
        ]
        ranks = tuple(next((r for r, c in enumerate(chunks[:depth], 1) if c in piece), None) for piece in pieces)
        found[name] = chunks[:depth]
        relevant[name] = frozenset().union(*pieces)
        judged.append(Judged((), ranks, (), ()))
    return found, relevant, judged


def trec_files(found, relevant):
    """`found` maps questions to the ids of what was found for them."""
    asked = {**found, "none": ["x"]}
    made = results({"headers+rerank": dict.fromkeys(asked, 1)})
    for name, ids in asked.items():
        hits_of = tuple(HitResult(chunk=chunk, source="page.md", spans=((0, 10),), score=0.5) for chunk in ids)
        made.strategies["headers+rerank"].questions[name] = QuestionResult(ranks=(), hits=hits_of)
    relevant = {"headers+rerank": {**relevant, "none": frozenset()}}
    asked = questions({**dict.fromkeys(found, 1), "none": ()})
    return trec.render(Material(made, {}, asked, {}, relevant, ""))


@pytest.mark.parametrize("seed", range(5))
def test_an_outside_tool_gets_our_hit_and_mrr_from_the_files(seed, tmp_path):
    found, relevant, judged = random_run(random.Random(seed))
    for name, text in trec_files(found, relevant).items():
        (tmp_path / name).write_text(text)
    run, qrels = (tmp_path / f"latest.headers+rerank.{kind}" for kind in ("run", "qrels"))
    measures = {
        "hit@3": ir_measures.Success @ 3, "hit@10": ir_measures.Success @ 10,
        "mrr@5": ir_measures.RR @ 5, "mrr@10": ir_measures.RR @ 10,
    }  # fmt: skip
    theirs = ir_measures.calc_aggregate(
        measures.values(),
        list(ir_measures.read_trec_qrels(str(qrels))),
        list(ir_measures.read_trec_run(str(run))),
    )
    for name, their in measures.items():
        ours = sum(measure(name).of(one) for one in judged) / len(judged)
        assert 0 < ours < 1
        assert theirs[their] == pytest.approx(ours, abs=1e-9), name


def test_trec_lines_have_their_columns_ids_that_can_be_read_back_and_scores_that_fall():
    found, relevant, _ = random_run(random.Random(1))
    files = trec_files(found, relevant)
    assert list(files) == ["latest.headers+rerank.run", "latest.headers+rerank.qrels"]
    run = [line.split() for line in files["latest.headers+rerank.run"].splitlines()]
    assert {len(columns) for columns in run} == {6}
    read = {}
    for question, _, chunk, rank, score, tag in run:
        read.setdefault(unquote(question), []).append((unquote(chunk), int(rank), float(score)))
        assert tag == "headers+rerank"
    assert {name: [chunk for chunk, _, _ in listed] for name, listed in read.items()} == {
        name: listed for name, listed in found.items() if listed
    }
    for listed in read.values():
        assert [rank for _, rank, _ in listed] == list(range(1, len(listed) + 1))
        scores = [score for _, _, score in listed]
        assert all(a > b for a, b in pairwise(scores))
    qrels = [line.split() for line in files["latest.headers+rerank.qrels"].splitlines()]
    assert {len(columns) for columns in qrels} == {4}
    assert {unquote(columns[0]) for columns in qrels} == set(found), "every answerable question, and no other"


def test_a_question_that_no_chunk_covers_counts_as_0():
    """One of two is won: 0.5, and not 1 of 1."""
    files = trec_files({"won": ["a", "b"], "lost": ["a", "b"]}, {"won": frozenset("b"), "lost": frozenset()})
    run, qrels = files.values()
    theirs = ir_measures.calc_aggregate(
        [ir_measures.Success @ 3, ir_measures.RR @ 10],
        list(ir_measures.read_trec_qrels(qrels)),
        list(ir_measures.read_trec_run(run)),
    )
    assert theirs == {ir_measures.Success @ 3: 0.5, ir_measures.RR @ 10: 0.25}


# Two runs in a terminal


def test_a_diff_tells_what_differs_and_each_strategys_flips_by_type():
    before = {"q1": 1, "q2": 1, "q3": 9, "q4": 1}
    changed = TREATMENT | {"chunkers": {"headers": {"size": 500, "cap": 120}}}
    old = results({"gone": before, "s": before, "t": before})
    types = {"direct": ["q1"], "vague": ["q2"], "broad": ["q3"]}
    after = {"q1": 5, "q2": None, "q3": 2, "q5": 1}
    new = results({"s": after, "t": {**before, "q5": 1}, "new": after}, types=types, treatment=changed)
    del new.instrument.questions["q4"]
    assert list(diff.lines(compare(old, new), types)) == [
        "key: 1 question added (q5); 1 question removed (q4)",
        "chunkers: headers cap: 500 → 120",
        "not compared, added: 1 question (q5)",
        "not compared, not asked any more: 1 question (q4)",
        "in the first run alone: gone",
        "in the second run alone: new",
        "",
        "s: Hit@3 2 → 1 of 3; lost 2, gained 1, p = 0.500",
        "  broad: lost 0, gained 1",
        "  direct: lost 1, gained 0",
        "  vague: lost 1, gained 0",
        "  lost q1: rank 1 → 5, lost at fusion; in its place page.md [10:20] (chunk q1 at 1)",
        "  lost q2: rank 1 → –, lost at fusion; in its place page.md [10:20] (chunk q2 at 1)",
        "  gained q3: rank 9 → 2",
        "",
        "t: Hit@3 2 → 2 of 3; lost 0, gained 0, p = 1.000",
    ]


def test_a_diff_with_a_baseline_names_the_chunk_alone():
    lines = list(diff.lines(compare(results({"s": {"q1": 1}}), reference({"s": {"q1": None}})), {}))
    assert lines[-2:] == [
        "s: Hit@3 1 → 0 of 1; lost 1, gained 0, p = 0.500",
        "  lost q1: rank 1 → –; in its place chunk old q1 at 1",
    ]


def test_a_diff_of_what_cannot_be_compared_says_so_first():
    lines = list(diff.lines(compare(results({"s": {"q1": 1}}), results({"t": {"q1": 1}})), {}))
    assert lines[0] == "not comparable: no strategy is in both"


# Rules on single metrics


def ruled(**changed):
    """Of 40 questions with two pieces each, all second pieces are gone of q00 to q04, and q05 to q09 fall from 1 to 2: no
    question is lost at 3."""
    before = {f"q{i:02}": (1, 4) for i in range(40)}
    after = before | {f"q{i:02}": (1, None) for i in range(5)} | {f"q{i:02}": (2, 4) for i in range(5, 10)}
    rules = [Regression(metric="full@5", points=10.0), Regression(metric="hit@1", points=12.5)]
    return material({"s": after, "t": before}, {"s": before, "t": before}, max_regression=tuple(rules), **changed)


def test_the_comment_shows_production_before_and_after_with_what_moved_in_words():
    """5 of 40 are 12.5 points. A draw with none of the five has a chance of (35 / 40)^40 = 0.5 %, so that the interval ends
    below 0."""
    lines = comment_of(ruled()).splitlines()
    start = lines.index("| metric | questions | before | after | change | 95 % interval | moved |")
    assert lines[start - 2].startswith("s (production) over the questions that are the same in both runs")
    rows = [line.strip("| ").split(" | ") for line in lines[start + 2 : start + 7]]
    assert [(row[0], *row[1:5], row[6]) for row in rows] == [
        ("Hit@1", "40", "100.0", "87.5", "-12.5", "**worse, beyond noise**"),
        ("Hit@3", "40", "100.0", "100.0", "+0.0", "same"),
        ("MRR@5", "40", "100.0", "93.8", "-6.2", "**worse, beyond noise**"),
        ("full@3", "40", "0.0", "0.0", "+0.0", "same"),
        ("full@5", "40", "100.0", "87.5", "-12.5", "**worse, beyond noise**"),
    ]
    assert re.fullmatch(r"-\d+\.\d to -\d+\.\d", rows[0][5])
    assert rows[1][5] == "+0.0 to +0.0"
    assert (
        lines.index("| strategy | before | after | change | 95 % interval | lost | gained | p | after Holm |") > start
    )


def test_the_comment_lists_the_questions_behind_a_broken_rule_with_ranks_and_what_stands_there():
    text = comment_of(ruled())
    assert text.startswith("### ❌ Retrieval: the gate failed (max_regression)")
    assert (
        "- ❌ **max_regression**: full@5 of s may lose 10.0 points; it went 100.0 % → 87.5 % over 40 questions" in text
    )
    assert "**max_regression**: hit" not in text, "exactly the limit"
    [block] = re.findall(r"<summary>s lost full@\u200b?5 on 5 questions</summary>.*?</details>", text, re.DOTALL)
    rows = [line for line in block.splitlines() if line.startswith("| [q")]
    assert rows[0] == (f"| [q00]({LINK}eval/questions.jsonl#L1) What of q00? | 1, 4 → 1, – | page.md: {PAGE[40:50]} |")
    assert [row[3:6] for row in rows] == ["q00", "q01", "q02", "q03", "q04"]


def test_annotations_and_junit_name_those_questions_with_their_ranks():
    lines = annotations(ruled())
    assert lines[0].startswith("::error title=retrieval gate::max_regression: full@5 of s may lose 10.0 points")
    assert lines[1] == (
        "::error file=eval/questions.jsonl,line=1,title=retrieval%3A a question was lost::"
        "q00 was lost by s (1, 4 → 1, –): What of q00?"
    )
    assert len(lines) == 6
    suites = parsed(ruled())
    assert (suites["gate"].get("failures"), suites["s"].get("failures"), suites["t"].get("failures")) == ("1", "5", "0")
    failed = [case for case in suites["s"] if case.find("failure") is not None]
    assert failed[0].find("failure").get("message") == "ranks 1, 4 → 1, –"
    assert "max_regression: s: full@5" in [case.get("name") for case in suites["gate"]]


@pytest.mark.parametrize(
    "found",
    [
        passing(),
        broken(),
        incomplete(),
        ruled(),
        ruled(min=(Minimum(metric="hit@1", at_least=0.9),)),
        ruled(min=(Minimum(metric="hit@1", at_least=0.9, type="none"),)),
    ],
    ids=["passing", "broken", "incomplete", "rule", "floor", "unjudged"],
)
def test_every_report_repeats_one_verdict(found):
    """The words and each check that is not passed, in all of them; as many failures and errors in the gate's suite."""
    verdict = found.verdict
    unpassed = [check for check in verdict.checks if check.passed is not True]
    page, text, marks = html_report.render(found)["latest.html"], comment_of(found), github.render(found)
    assert f"The gate: <strong>{verdict.headline}</strong>" in page
    assert text.startswith(f"### {comment.SIGNS[verdict.exit_code]} ")
    assert bool(annotations(found)) == bool(verdict.exit_code)
    for check in unpassed:
        assert escape(visible(check.told)) in page
        assert comment.line(check) in text.splitlines()
        assert github._data(f"{check.name}: {check.told}").split("; ")[0] in marks["latest.annotations.txt"]
    gate = parsed(found)["gate"]
    assert int(gate.get("failures")) == sum(check.passed is False for check in verdict.checks)
    assert int(gate.get("errors")) == sum(check.passed is None for check in verdict.checks) + bool(verdict.incomplete)
    for row in movements.moved(verdict).rows if verdict.movements else ():
        assert f'<th scope="row">{row[0]}</th>' in page
        assert f"| {' | '.join([markdown(row[0]), *row[1:-1]])} |" in text


def outputs_of(found):
    [(name, text)] = found.items()
    assert name == "latest.outputs.txt"
    return dict(line.split("=", 1) for line in text.splitlines())


def test_outputs_are_the_verdict_and_the_figures_of_the_production_strategy():
    found = broken()
    told = outputs_of(outputs.render(found))
    metrics = found.record["s"].metrics
    assert (told["headline"], told["production"]) == ("failed", "s")
    assert json.loads(told["figures"]) == metrics
    assert told["hit_at_3"] == str(metrics["hit@3"])
    assert len(told) == 3 + len(metrics)


def test_where_there_is_no_figure_there_is_no_output():
    told = outputs_of(outputs.render(incomplete()))
    assert told == {"headline": "not comparable or incomplete", "production": "s", "figures": "{}"}
    assert outputs_of(outputs.failed("a\nhit_at_1=1", 3)) == {
        "headline": "no verdict: not comparable or incomplete",
        "figures": "{}",
    }
