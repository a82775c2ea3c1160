"""The plugin for pytest, in suites of its own processes: what passes, what fails and in which words, and that it is quiet."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import PAGES
from workplace import QUESTIONS

ROOT = Path(__file__).parents[1]

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "docmind.testing", "-p", "no:cacheprovider")
INI = """
[pytest]
docmind_corpus = my-docs
docmind_questions = eval/questions.jsonl
docmind_strategies = recursive+bm25
docmind_thresholds = eval/thresholds.yaml
docmind_baseline = eval/baseline.json
"""
COUNTING = """
import docmind.runs.retrieval as runs
whole = runs.evaluate
def counted(*given, **more):
    with open("evaluated", "a") as file:
        file.write("once ")
    return whole(*given, **more)
runs.evaluate = counted
"""
GATE = """
from docmind.testing import assert_no_regression
def test_gate(docmind_run):
    assert_no_regression(docmind_run)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Documents, an answer key, thresholds and a baseline."""
    root = tmp_path_factory.mktemp("project")
    for name, text in PAGES.items():
        path = root / "my-docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "eval").mkdir()
    (root / "eval" / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
    (root / "eval" / "thresholds.yaml").write_text(
        "production: recursive+bm25\nmin_hit_at_3: 0.5\nmax_regression_pp: 3\n"
    )
    (root / "eval" / "only.yaml").write_text("matrix: [recursive+bm25]\n")
    options = (
        "--corpus my-docs --questions eval/questions.jsonl --out eval --strategies-file eval/only.yaml --save-baseline"
    )
    command = [sys.executable, "-m", "docmind.cli", "eval", "--quiet", *options.split()]
    subprocess.run(command, cwd=root, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)
    return root


@pytest.fixture
def suite(project, pytester, monkeypatch):
    """A copy of the project with options; its tests run in processes of their own."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the installed one would be the same module again
    for folder in ("my-docs", "eval"):
        shutil.copytree(project / folder, pytester.path / folder)
    pytester.makeini(INI)
    return pytester


def crowd_out(suite) -> None:
    """Four pages say the words of q1 and of q4 more often than the page that answers them, which grows long."""
    page = suite.path / "my-docs" / "leave.md"
    page.write_text(page.read_text().replace("of annual leave a year", "of annual leave a year " + "and so on " * 60))
    for number in range(4):
        (suite.path / "my-docs" / f"other{number}.md").write_text(
            "How many days of annual leave? Days, days, annual leave days.\n"
        )


def test_every_line_of_the_page_works(suite):
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    [options] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    [tests] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (suite.path / "tox.ini").unlink()
    (suite.path / "pyproject.toml").write_text(options)
    suite.makepyfile(tests)
    result = suite.runpytest_subprocess(*PLUGIN, "-v")
    result.assert_outcomes(passed=1 + 1 + 4 + 1)
    for named in ("test_a_strategy_finds_most[recursive+bm25]", "test_a_question_is_found[q4]"):
        assert named in result.stdout.str()
    assert "[u1]" not in result.stdout.str()


def test_what_was_lost_stands_in_the_failure(suite):
    crowd_out(suite)
    suite.makepyfile(GATE)
    result = suite.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(failed=1)
    said = result.stdout.str()
    for told in (
        "AssertionError: The gate: failed.",
        "FAIL: regression: recursive+bm25 lost 2 questions and gained 0: Hit@3 100.0 % → 50.0 % (4 → 2 of 4)",
        "differs from the baseline: corpus: 1 page changed (leave.md); 4 pages added",
        "q1: rank 1 → rank 5: How many days of annual leave?",
        "in its place: other0.md: How many days of annual leave? Days, days",
    ):
        assert told in said
    assert "def assert_no_regression" not in said


def test_a_run_that_cannot_be_judged_fails(suite):
    (suite.path / "eval" / "baseline.json").unlink()
    suite.makepyfile(
        GATE
        + """
def test_part(docmind_evaluate, tmp_path):
    part = docmind_evaluate(ids=["q1"])
    try:
        assert_no_regression(part, baseline=part.record)
    except AssertionError as error:
        assert "a filter left out 4 of the answer key's questions" in str(error)
    else:
        raise RuntimeError("it passed")
"""
    )
    result = suite.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(failed=1, passed=1)
    assert "AssertionError: The run cannot be judged" in result.stdout.str()
    assert "there is no baseline" in result.stdout.str()


def test_the_same_is_evaluated_once_and_nothing_at_collection(suite):
    suite.makeconftest(COUNTING)
    suite.makepyfile(
        GATE
        + """
def test_strategy(docmind_run, docmind_strategy): assert docmind_run[docmind_strategy].ceiling == 1
def test_question(docmind_run, docmind_question): assert docmind_question
def test_same(docmind_evaluate, docmind_run): assert docmind_evaluate(strategies=("recursive+bm25",)) is docmind_run
def test_list(docmind_evaluate, docmind_run): assert docmind_evaluate(strategies=["recursive+bm25"]) is docmind_run
def test_other(docmind_evaluate, docmind_run): assert docmind_evaluate(metrics=["recall@5"]) is not docmind_run
"""
    )
    collected = suite.runpytest_subprocess(*PLUGIN, "--collect-only", "-q")
    assert "test_question[q4]" in collected.stdout.str()
    assert not (suite.path / "evaluated").exists()
    suite.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1 + 1 + 4 + 3)
    assert (suite.path / "evaluated").read_text().split() == ["once", "once"]


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("eval/questions.jsonl", "{", "*questions.jsonl:1: '{' is not JSON*"),
        ("eval/questions.jsonl", json.dumps(QUESTIONS[-1]), "DocMind: *holds no question that can be answered*"),
        (
            "tox.ini",
            INI.replace("recursive+bm25", "recursive+bn25"),
            "DocMind: *unknown mode 'bn25'*Did you mean 'bm25'*",
        ),
    ],
)
def test_wrong_files_end_the_collection_in_words(suite, file, text, told):
    (suite.path / file).write_text(text)
    suite.makepyfile("def test_each(docmind_question, docmind_strategy): pass\ndef test_other(): pass")
    result = suite.runpytest_subprocess(*PLUGIN)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"*{told}"])
    assert "Traceback" not in result.stdout.str()


def test_a_test_may_name_its_own_strategies(suite):
    suite.makepyfile(
        """
import pytest
@pytest.mark.parametrize("docmind_strategy", ["one", "two"])
def test_each(docmind_strategy): assert docmind_strategy in ("one", "two")
"""
    )
    suite.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=2)


def test_places_are_of_the_file_of_options_wherever_pytest_starts(suite, monkeypatch):
    suite.makepyfile(GATE)
    (suite.path / "below").mkdir()
    monkeypatch.chdir(suite.path / "below")
    suite.runpytest_subprocess(*PLUGIN, "-c", "../tox.ini", "..").assert_outcomes(passed=1)
    assert (suite.path / ".docmind").is_dir()
    assert not (suite.path / "below" / ".docmind").exists()


def test_other_suites_are_as_they_were(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(
        """
import sys
def test_light():
    heavy = ("numpy", "pydantic", "typer", "chromadb", "onnxruntime", "yaml", "docmind.runs", "docmind.evaluation")
    assert [name for name in heavy if name in sys.modules] == []
def test_plain(request): assert not [n for n in request.fixturenames if "docmind" in n]
"""
    )
    outcomes, said = [], []
    for plugin in ((), ("-p", "docmind.testing")):
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error", *plugin)
        result.assert_outcomes(passed=2)
        outcomes.append(result.parseoutcomes())
        said.append(re.sub(r"in [\d.]+s", "", result.stdout.str()))
    assert said[0] == said[1]
    assert not (pytester.path / ".docmind").exists()


def test_pytest_finds_it_by_its_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"docmind": "docmind.testing"}
    assert not [needed for needed in project["dependencies"] if needed.startswith("pytest")]
