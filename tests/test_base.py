"""`--base`: whoever changes retrieval does not judge it by what he changed with it. Real repositories, through the command."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from workplace import QUESTIONS, Workplace

import docmind
from docmind.cli import main
from docmind.evaluation.record import layout
from docmind.evaluation.record.baseline import baseline, read_baseline
from docmind.evaluation.record.reading import read_record
from docmind.evaluation.record.writing import dumps
from docmind.retrieval.strategies import read_strategies
from docmind.runs.base import scored, terms

GOOD = "recursive(size=100,overlap=0)+bm25"
"""Wins all four answerable questions at 3."""

POOR = "recursive(size=40,overlap=0)+bm25"
"""Loses one of the four, q3: no chunk of 40 characters holds its evidence together with its words. 25 points."""

SIDE = "fixed+bm25"

THRESHOLDS = {"production": "prod", "min_hit_at_3": "0.9", "max_regression_pp": "3", "must_pass": "[q3]"}

PACKAGED = [strategy.name for strategy in read_strategies(None).matrix]

PLACES = ("--strategies-file", "strategies.yaml", "--thresholds", "thresholds.yaml", "--baseline", "baseline.json")


def git(folder: Path, *arguments: str) -> str:
    named = (
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b.c",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "protocol.file.allow=always",
    )
    done = subprocess.run(["git", *named, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@dataclass(frozen=True)
class Repository(Workplace):
    """A clone of a team's repository: `main` is the base, and a branch `change` is checked out."""

    def thresholds(self, **changed: str) -> None:
        found = {key: value for key, value in (THRESHOLDS | changed).items() if value}
        (self.root / "thresholds.yaml").write_text("".join(f"{key}: {value}\n" for key, value in found.items()))

    def strategies(self, matrix: Sequence[str] = ("prod", SIDE), gate: Sequence[str] = (), **names: str) -> None:
        text = json.dumps({"matrix": matrix, "strategies": names, **({"gate": gate} if gate else {})})
        (self.root / "strategies.yaml").write_text(text)  # JSON is YAML

    def reseal(self) -> None:
        """Make the baseline anew, of the tree as it is."""
        assert self.eval("--quiet", "--save-baseline", "--out", "anew", *PLACES) == 0
        (self.root / "anew/baseline.json").replace(self.root / "baseline.json")

    def commit(self, told: str = "a change") -> str:
        git(self.root, "add", "-A")
        git(self.root, "commit", "--allow-empty", "-m", told)
        return git(self.root, "rev-parse", "HEAD")

    def check(self, *more: str, base: str = "main") -> int:
        return self.eval("--quiet", "--check", "--base", base, *PLACES, *more)

    def report(self, name: str) -> str:
        return (self.out / f"latest.{name}").read_text()


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A base with pages, key, strategies, thresholds and a baseline that was made of them."""
    from conftest import PAGES

    root = tmp_path_factory.mktemp("made") / "repository"
    for name, text in PAGES.items():
        path = root / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    place = Repository(root)
    place.ask(*QUESTIONS)
    place.strategies(prod=GOOD)
    place.thresholds()
    (root / ".gitignore").write_text("out/\nanew/\nindexes/\n")
    git(root, "init", "-q", "-b", "main")
    before = Path.cwd()
    os.chdir(root)
    try:
        place.reseal()
    finally:
        os.chdir(before)
    place.commit("base")
    return root


@pytest.fixture
def place(made, tmp_path, monkeypatch) -> Repository:
    root = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(made), str(root))
    git(root, "checkout", "-q", "-b", "change")
    monkeypatch.chdir(root)
    return Repository(root)


@pytest.fixture
def checked(place, capsys) -> Callable[..., tuple[int, str]]:
    """Runs the check, and returns its code and what it said, having seen that every report says the same of the proposal."""

    def run(*more: str, base: str = "main") -> tuple[int, str]:
        capsys.readouterr()
        code = place.check(*more, base=base)
        said = capsys.readouterr().err
        assert "Traceback" not in said
        if "The gate: " in said:
            proposed = [line for line in said.splitlines() if line.startswith("proposed: ")]
            comment, page, junit = place.report("comment.md"), place.report("md"), place.report("junit.xml")
            assert (
                comment.count("**proposed**")
                == page.count("| proposed |")
                == junit.count("proposed: ")
                == len(proposed)
            )
            assert place.report("html").count('<th scope="row">proposed</th>') == len(proposed)
            annotations = place.report("annotations.txt")
            warned = annotations.count("::warning title=retrieval gate::proposed: ")
            assert warned == len(proposed) or (
                annotations.count("::warning ") == 10 and "more, in the job's" in annotations
            )
        return code, said

    return run


def test_a_change_of_nothing_is_judged_by_the_base_and_proposes_nothing(place, checked):
    code, said = checked()
    assert code == 0, said
    base = git(place.root, "rev-parse", "main")[:12]
    assert f"judged by: the thresholds, strategies and baseline of main ({base}); this change has the same" in said
    assert "proposed" not in said
    assert place.report("annotations.txt") == ""


def test_thresholds_that_are_lowered_do_not_count(place, checked):
    """POOR has 3 of 4: 75 %, under the base's 90 and over the 60 that the change wants."""
    place.strategies(prod=POOR)
    place.thresholds(min_hit_at_3="0.6", max_regression_pp="50", must_pass="")
    place.commit()
    code, said = checked()
    assert code == 1
    assert "FAIL: floor: Hit@3 of prod must be at least 90.0 %; it is 75.0 % (3 of 4)" in said
    assert "FAIL: regression: prod lost 1 question and gained 0: Hit@3 100.0 % → 75.0 %" in said
    assert "FAIL: must_pass: q3 must be won at 3 by prod" in said
    assert "proposed: thresholds: min_hit_at_3: 0.9 → 0.6" in said
    assert "proposed: thresholds: max_regression_pp: 3 → 50" in said
    assert "proposed: thresholds: must_pass: q3 taken out" in said
    assert f"proposed: strategies: prod: {GOOD} → {POOR}; it is scored as it is here" in said
    assert "::warning title=retrieval gate::proposed: thresholds: min_hit_at_3: 0.9 → 0.6" in place.report(
        "annotations.txt"
    )


def test_a_baseline_that_is_made_anew_does_not_count(place, checked):
    place.strategies(prod=POOR)
    place.reseal()
    place.commit()
    code, said = checked()
    assert code == 1
    assert "FAIL: regression: prod lost 1 question and gained 0: Hit@3 100.0 % → 75.0 %" in said
    assert "proposed: baseline: 1 strategy's figures differ: prod hit@3 100.0 → 75.0" in said


def test_a_strategy_that_is_taken_out_of_the_matrix_is_scored_as_the_base_defines_it(place, checked):
    """Named in the base alone, it has only the base's definition; and its baseline is the base's."""
    place.strategies(matrix=[SIDE])
    place.thresholds(production=SIDE)
    place.commit()
    code, said = checked()
    assert code == 0, "what the base has is as good as it was"
    assert "pass: floor: Hit@3 of prod" in said
    assert "pass: regression: prod lost 0 questions" in said
    assert (
        "proposed: strategies: prod is in the base's matrix and no longer here; it is scored as it stands in the base"
        in said
    )
    assert f"proposed: thresholds: production: prod → {SIDE}" in said
    assert list(place.results()["strategies"]) == [SIDE, "prod"]
    assert (
        place.results()["fingerprint"]["treatment"]["strategies"]["prod"]["chunker"] == "recursive(size=100,overlap=0)"
    )


def test_a_strategy_that_only_its_name_is_left_of_is_scored_as_it_is_here(place, checked):
    place.strategies(matrix=[SIDE], prod=POOR)
    place.commit()
    code, said = checked()
    assert code == 1
    assert "it is scored as it is defined here" in said
    assert "FAIL: regression: prod lost 1 question" in said


def test_a_production_strategy_under_another_name_does_not_escape_its_floor(place, checked):
    """Renamed and made worse: the base's is scored beside it, and the worse one is told as new."""
    place.strategies(matrix=["best", SIDE], best=POOR)
    place.thresholds(production="best", min_hit_at_3="0.5", must_pass="")
    place.reseal()
    place.commit()
    code, said = checked()
    assert code == 0
    assert "pass: floor: Hit@3 of prod must be at least 90.0 %; it is 100.0 % (4 of 4)" in said
    assert "proposed: thresholds: production: prod → best" in said
    assert "proposed: strategies: prod is in the base's matrix and no longer here" in said
    assert "proposed: strategies: new in the matrix: best" in said
    assert f"proposed: strategies: new names: best = {POOR}" in said
    assert "proposed: baseline: strategies taken out: prod" in said


def test_a_gate_that_is_narrowed_does_not_count(place, checked):
    place.strategies(gate=[SIDE], prod=POOR)
    place.commit()
    code, said = checked()
    assert code == 1
    assert f"proposed: strategies: gate: all → {SIDE}" in said
    assert "FAIL: regression: prod" in said


def test_everything_at_once_fails_and_is_told(place, checked):
    place.strategies(matrix=["prod"], gate=["prod"], prod=POOR)
    place.thresholds(min_hit_at_3="0", max_regression_pp="100", must_pass="", alpha="0.01")
    place.reseal()
    place.commit()
    assert place.eval("--quiet", "--check", *PLACES) == 0, "by its own files it passes"
    code, said = checked()
    assert code == 1
    assert said.splitlines()[-1] == "The gate: failed."
    for told in (
        "thresholds: min_hit_at_3: 0.9 → 0",
        "thresholds: alpha: none → 0.01",
        "baseline: 1 strategy's figures differ: prod hit@3 100.0 → 75.0",
        f"baseline: strategies taken out: {SIDE}",
        f"strategies: {SIDE} is in the base's matrix and no longer here",
        "strategies: gate: all → prod",
    ):
        assert f"proposed: {told}" in said


def test_what_is_accepted_counts_and_is_told_with_what_it_overrules(place, checked):
    place.strategies(prod=POOR)
    place.thresholds(min_hit_at_3="0.6", must_pass="")
    place.reseal()
    place.commit()
    code, said = checked("--accept", "label\n retrieval-accepted, by @lead")
    assert code == 0
    who = "accepted by label retrieval-accepted, by @lead"
    assert f"{who}: the files of this change count, not those of main (" in said
    assert "proposed: thresholds: min_hit_at_3: 0.9 → 0.6" in said
    assert "would have failed by the base: floor: Hit@3 of prod must be at least 90.0 %; it is 75.0 %" in said
    assert "would have failed by the base: must_pass: q3" in said
    assert "pass: floor: Hit@3 of prod must be at least 60.0 %" in said
    comment = place.report("comment.md").splitlines()
    assert comment[0] == "### ✅ Retrieval: the gate passed"
    assert comment[2].startswith(
        "- ⚖️ **accepted by label retrieval-accepted, by @\u200blead**: the files of this change"
    )
    for name in ("md", "html", "junit.xml", "annotations.txt"):
        found = place.report(name).replace("\u200b", "")
        assert who in found
        assert "would have failed by the base" in found


def test_accepting_does_not_pass_what_fails_by_its_own_files(place, checked):
    place.strategies(prod=POOR)
    place.commit()
    code, said = checked("--accept", "lead")
    assert code == 1
    assert "FAIL: floor" in said
    assert "accepted by lead" in said


def test_accepting_a_change_that_the_base_passes_says_so(place, checked):
    place.thresholds(min_hit_at_3="0.8")
    place.commit()
    code, said = checked("--accept", "lead")
    assert code == 0
    assert "by the base: it would have passed too" in said


def test_the_first_change_that_brings_the_files_is_judged_by_them(place, checked):
    empty = git(place.root, "commit-tree", "-m", "none", git(place.root, "mktree", "--missing"))
    code, said = checked(base=empty)
    assert code == 0
    for part, name in (
        ("thresholds", "thresholds.yaml"),
        ("strategies", "strategies.yaml"),
        ("baseline", "baseline.json"),
    ):
        assert f"proposed: {part}: {empty}:{name} is not there; the file of this change counts" in said


def test_a_file_that_the_base_lacks_is_the_changes_own_and_the_others_are_the_bases(place, checked):
    git(place.root, "checkout", "-q", "main")
    git(place.root, "rm", "-q", "thresholds.yaml")
    place.commit("no thresholds")
    git(place.root, "checkout", "-q", "change")
    place.strategies(prod=POOR)
    place.reseal()
    place.thresholds(min_hit_at_3="0.6", must_pass="")
    place.commit()
    code, said = checked()
    assert code == 1
    assert "proposed: thresholds: main:thresholds.yaml is not there; the file of this change counts" in said
    assert "pass: floor: Hit@3 of prod must be at least 60.0 %" in said
    assert "FAIL: regression: prod lost 1 question" in said


def test_where_neither_has_a_file_of_strategies_those_that_come_with_docmind_are_no_change(place):
    """And where the change brings the first one, they are what the base scores: it cannot narrow the gate with it."""
    git(place.root, "checkout", "-q", "main")
    git(place.root, "rm", "-q", "strategies.yaml")
    place.thresholds(production="headers+rerank")
    place.commit("no strategies")
    git(place.root, "checkout", "-q", "-B", "change")
    settings = docmind.Settings(thresholds="thresholds.yaml", baseline="baseline.json", base="main")
    found = terms(settings)
    assert found.proposal == ()
    assert [each.name for each in scored(settings).matrix] == PACKAGED
    (place.root / "eval").mkdir()
    (place.root / "eval/strategies.yaml").write_text("matrix: [headers+rerank, fixed+bm25]\ngate: [fixed+bm25]\n")
    found = terms(settings)
    assert "strategies: gate: all → fixed+bm25" in found.proposal
    assert any("what comes with DocMind counts, as it does there" in told for told in found.proposal)
    matrix = ["headers+rerank", "fixed+bm25", *(name for name in PACKAGED if name != "headers+rerank")]
    assert [each.name for each in scored(settings).matrix] == matrix
    assert found.base.strategies.gate is None


def test_a_repository_of_somebody_else_is_told_with_what_opens_it(place, capsys):
    try:
        os.chown(place.root, 12345, 12345)
    except PermissionError:
        pytest.skip("a folder cannot be given away here")
    assert place.check() == 2
    said = capsys.readouterr().err
    assert "dubious ownership" in said
    assert "git config --global --add safe.directory" in said


def test_of_a_merge_commit_the_first_parent_is_the_base(place, checked):
    """As a pull request's merge is checked out: HEAD^1 is the branch that it goes to."""
    place.thresholds(min_hit_at_3="0.6")
    place.commit()
    git(place.root, "checkout", "-q", "--detach", "main")
    git(place.root, "merge", "-q", "--no-ff", "-m", "merge", "change")
    code, said = checked(base="HEAD^1")
    assert code == 0
    assert "proposed: thresholds: min_hit_at_3: 0.9 → 0.6" in said
    code, said = checked(base="HEAD^2")
    assert "this change has the same" in said


@pytest.mark.parametrize(("depth", "code"), [(1, 2), (2, 0)])
def test_a_shallow_clone_holds_the_base_or_says_how_deep_it_must_be(place, tmp_path, monkeypatch, capsys, depth, code):
    place.thresholds(min_hit_at_3="0.6")
    place.commit()
    shallow = Repository(tmp_path / "shallow")
    git(tmp_path, "clone", "-q", "--depth", str(depth), f"file://{place.root}", str(shallow.root))
    monkeypatch.chdir(shallow.root)
    assert shallow.check(base="HEAD^1") == code
    said = capsys.readouterr().err
    if code:
        assert "error: --base HEAD^1: there is no such commit here. This clone is shallow" in said
        assert "fetch-depth: 2" in said
        assert "(exit code 2: " in shallow.report("comment.md")
    else:
        assert "proposed: thresholds: min_hit_at_3: 0.9 → 0.6" in said


@pytest.mark.parametrize(
    "ref",
    [
        "--output=x",
        "-h",
        "",
        "a b",
        "main:thresholds.yaml",
        "main..change",
        "HEAD@{1}",
        "a\n",
        "HEAD^{tree}",
        ":/x",
        "\x1b",
    ],
)
def test_a_name_that_is_no_commits_is_refused(place, capsys, ref):
    assert main(place.arguments("eval", "--check", f"--base={ref}", *PLACES)) == 2
    said = capsys.readouterr().err
    assert "expected: a branch, a tag or a commit, such as origin/main or HEAD^1." in said


def test_a_commit_that_is_not_here_is_told_with_how_to_fetch_it(place, capsys):
    assert place.check(base="origin/next") == 2
    said = capsys.readouterr().err
    assert "error: --base origin/next: there is no such commit here. Fetch it (git fetch origin next)" in said


def test_a_folder_in_no_repository_and_a_machine_without_git_are_told(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    places = [f"{place.root}/{each}" if each.endswith(("yaml", "json")) else each for each in PLACES]
    assert main(place.arguments("eval", "--check", "--base", "main", *places)) == 2
    assert (
        "the current folder is in no git repository that can be read (not a git repository" in capsys.readouterr().err
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(place.arguments("eval", "--check", "--base", "main", *places)) == 2
    assert "there is no git here. Install it, or judge without --base." in capsys.readouterr().err


def test_a_file_outside_of_the_repository_is_refused(place, tmp_path, capsys):
    outside = tmp_path / "thresholds.yaml"
    outside.write_bytes((place.root / "thresholds.yaml").read_bytes())
    assert place.check("--thresholds", str(outside)) == 2
    assert (
        f"{outside}: lies outside of the repository {place.root}, so that main does not hold it"
        in capsys.readouterr().err
    )


def test_places_are_found_from_a_folder_below_and_by_a_link_to_the_repository(place, checked, tmp_path, monkeypatch):
    linked = tmp_path / "linked"
    linked.symlink_to(place.root)
    places = ("--thresholds", f"{linked}/thresholds.yaml", "--baseline", "../baseline.json")
    monkeypatch.chdir(place.root / "corpus")
    code, said = checked(*places, "--strategies-file", f"{place.root}/strategies.yaml")
    assert code == 0
    assert "this change has the same" in said


def test_a_link_of_the_change_does_not_choose_what_the_base_holds(place, checked):
    """The folder of the thresholds becomes a link to another, which the base does not have."""
    git(place.root, "checkout", "-q", "main")
    (place.root / "eval").mkdir()
    git(place.root, "mv", "thresholds.yaml", "eval/thresholds.yaml")
    place.commit("moved")
    git(place.root, "checkout", "-q", "-B", "change")
    git(place.root, "mv", "eval", "other")
    (place.root / "eval").symlink_to("other")
    text = (place.root / "other/thresholds.yaml").read_text()
    (place.root / "other/thresholds.yaml").write_text(text.replace("0.9", "0.1"))
    place.commit()
    _, said = checked("--thresholds", "eval/thresholds.yaml")
    assert "proposed: thresholds: min_hit_at_3: 0.9 → 0.1" in said


def test_what_is_no_file_of_its_own_in_the_base_is_refused(place, capsys):
    def based(change: Callable[[], object]) -> str:
        git(place.root, "checkout", "-q", "-f", "main")
        change()
        place.commit()
        git(place.root, "checkout", "-q", "-f", "change")
        capsys.readouterr()
        assert place.check() == 2
        said = capsys.readouterr().err
        git(place.root, "checkout", "-q", "-f", "main")
        git(place.root, "reset", "-q", "--hard", "HEAD^")
        git(place.root, "checkout", "-q", "-f", "change")
        return said

    file = place.root / "thresholds.yaml"

    def link() -> None:
        file.rename(place.root / "real.yaml")
        file.symlink_to("real.yaml")

    def submodule() -> None:
        file.unlink()
        git(place.root, "rm", "-q", "--cached", "thresholds.yaml")
        git(
            place.root,
            "update-index",
            "--add",
            "--cacheinfo",
            f"160000,{git(place.root, 'rev-parse', 'HEAD')},thresholds.yaml",
        )
        git(place.root, "commit", "-q", "-m", "a submodule")
        file.mkdir()

    def folder() -> None:
        file.unlink()
        file.mkdir()
        (file / "a").write_text("b")

    def pointer() -> None:
        file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n")

    assert "main:thresholds.yaml: thresholds.yaml is a symbolic link there, which is not followed" in based(link)
    assert "main:thresholds.yaml: is a folder, a file was expected" in based(folder)
    assert "main:thresholds.yaml: is a pointer of Git LFS" in based(pointer)
    assert "thresholds.yaml is a submodule there" in based(submodule)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("thresholds.yaml", "production: prod\nmin_hit_at_9: 1\n", "unknown key 'min_hit_at_9'"),
        ("strategies.yaml", "matrix: [gone+bm25]\n", "unknown chunker 'gone'"),
        (
            "baseline.json",
            '{"schema": "docmind.baseline/1"}',
            "is a docmind.baseline/1, of an earlier version of DocMind",
        ),
    ],
)
def test_a_file_of_another_form_in_the_base_is_told_and_can_be_passed_over(place, checked, name, text, told):
    git(place.root, "checkout", "-q", "main")
    (place.root / name).write_text(text)
    place.commit("another form")
    git(place.root, "checkout", "-q", "change")
    code, said = checked()
    assert code == 2
    assert f"error: main:{name}: " in said
    assert told in said
    assert "docmind-" not in said.replace("docmind-lfs", ""), "no temporary place is named"
    assert "--accept WHO." in said
    code, said = checked("--accept", "lead")
    assert code == 0
    assert f"proposed: {name.partition('.')[0]}: main:{name}: " in said
    assert "would have failed by the base: nothing can be told: a file of the base cannot be read" in said


def test_a_question_that_must_be_won_cannot_lose_its_gold(place, capsys):
    changed = [{**q, "evidence": None, "source": None} if q["id"] == "q3" else q for q in QUESTIONS]
    place.ask(*changed)
    place.thresholds(must_pass="")
    place.commit()
    assert place.check() == 2
    said = capsys.readouterr().err
    assert "by the thresholds of main (" in said
    assert "must_pass: 'q3' has no gold" in said


@pytest.mark.parametrize("more", [("--accept", ""), ("--accept", " \n")])
def test_nobody_accepts_nothing(place, capsys, more):
    assert place.check(*more) == 2
    assert "names nobody" in capsys.readouterr().err


def test_base_and_accept_are_of_a_check(place, capsys):
    assert place.eval("--base", "main", *PLACES) == 2
    assert "Give --check too" in capsys.readouterr().err
    assert place.eval("--check", "--accept", "lead", *PLACES) == 2
    assert "Give --base too" in capsys.readouterr().err


HOSTILE = "@team `x` ::error::y <b> [a](//z) | 5 #12"


def test_hostile_texts_of_the_change_give_no_orders(place, checked, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    place.thresholds(must_pass=json.dumps([HOSTILE, "\n::error::forged", "The gate: passed\x1b[2J"]))
    place.commit()
    code, said = checked()
    assert code == 0
    assert not re.search(r"(?m)^\s*::", said)
    assert "\x1b" not in said
    comment, annotations = place.report("comment.md"), place.report("annotations.txt")
    [told] = [line for line in comment.splitlines() if line.startswith("- ⚖️ **proposed**: thresholds: must\\_pass")]
    assert "@\u200bteam \\`x\\`" in told
    assert "&lt;b&gt; \\[a\\](//z) \\|" in told
    assert all(line.startswith("::warning title=retrieval gate::") for line in annotations.splitlines())
    assert "@team" not in comment + annotations
    assert "::error::y &lt;b&gt; [a]" in place.report("html")


def test_hostile_names_of_who_accepts_give_no_orders(place, checked):
    place.thresholds(min_hit_at_3="0.8")
    place.commit()
    _, said = checked("--accept", f"{HOSTILE}\n::error::{'x' * 200}")
    [line] = [line for line in said.splitlines() if line.startswith("accepted by")]
    assert line.startswith(f"accepted by {HOSTILE} ::error::xxx")
    assert "x…: the files" in line
    assert "@team" not in place.report("comment.md") + place.report("annotations.txt")


def test_a_long_proposal_leaves_the_verdict_in_the_comment(place, checked):
    place.strategies(**{"prod": POOR, **{f"name-{n}": GOOD for n in range(60)}})
    place.thresholds(must_pass=json.dumps([f"{'&' * 90}{n}" for n in range(400)]))
    place.commit()
    code, said = checked()
    assert code == 1
    comment = place.report("comment.md")
    assert len(comment.encode()) < 60_000
    assert "- ❌ **floor**" in comment
    assert comment.index("**floor**") < comment.index("**proposed**")
    assert "and 395 more" in said


def test_nothing_in_the_clone_is_changed_and_git_may_be_closed_to_writing(place, checked):
    def state() -> dict[str, str]:
        files = sorted(path for path in (place.root / ".git").rglob("*") if path.is_file())
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    git(place.root, "status")
    before = state()
    folders = [place.root / ".git", *(path for path in (place.root / ".git").rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        code, _ = checked()
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert code == 0
    assert state() == before
    assert git(place.root, "status", "--porcelain") == ""


def test_the_record_keeps_what_the_tree_said_and_diff_tells_what_changed(place, capsys):
    assert place.eval("--quiet", *PLACES, "--out", "anew") == 0
    kept = json.loads((place.root / "anew/latest.json").read_text())["rules"]
    assert kept == {
        "thresholds": {
            "production": "prod",
            "min_hit_at_3": 0.9,
            "max_regression_pp": 3.0,
            "must_pass": ["q3"],
            "min": [],
            "max_regression": [],
            "min_compared": 0.8,
        },
        "strategies": {"matrix": ["prod", SIDE], "gate": None, "names": {"prod": GOOD}},
    }
    place.thresholds(min_hit_at_3="0.6", must_pass="[q3, q1]")
    place.strategies(gate=["prod"], prod=POOR)
    assert place.eval("--quiet", *PLACES) == 0
    capsys.readouterr()
    assert main(["diff", "anew/latest.json", "out/latest.json"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("rules: ")]
    assert line == (
        "rules: thresholds.min_hit_at_3: 0.9 → 0.6; thresholds.must_pass: q1 added; strategies.gate: none → prod; "
        f"strategies.names.prod: {GOOD} → {POOR}"
    )
    assert main(["diff", "out/latest.json", "out/latest.json"]) == 0
    assert "rules" not in capsys.readouterr().out


def test_a_run_without_thresholds_keeps_none_and_one_with_broken_ones_says_so(place, capsys, caplog):
    (place.root / "thresholds.yaml").unlink()
    assert place.eval("--quiet", *PLACES) == 0
    assert place.results()["rules"]["thresholds"] is None
    assert "thresholds" not in capsys.readouterr().err
    (place.root / "thresholds.yaml").write_text("production: [")
    assert place.eval("--quiet", *PLACES) == 0
    assert place.results()["rules"]["thresholds"] is None
    assert "the record keeps no thresholds: thresholds.yaml: is no YAML" in caplog.text


def test_a_baseline_without_rules_is_read_and_compared(place, checked):
    """As earlier versions wrote it; its bytes come out as they were."""
    git(place.root, "checkout", "-q", "main")
    path = place.root / "baseline.json"
    fields = json.loads(path.read_text())
    del fields["rules"], fields["checksum"]
    path.write_text(layout.dumps(layout.sealed(fields)))
    assert dumps(read_baseline(path)) == path.read_text()
    place.commit("an older baseline")
    git(place.root, "checkout", "-q", "change")
    code, said = checked()
    assert code == 0
    assert "differs from the baseline: rules: the first run keeps none" in said
    assert "proposed: baseline: it is of another run, which differs in: rules" in said


def test_from_python_it_is_the_same(place):
    place.strategies(matrix=[SIDE], prod=POOR)
    place.thresholds(min_hit_at_3="0.6", must_pass="")
    place.commit()
    settings = docmind.Settings(
        corpus="corpus", questions="questions.jsonl", thresholds="thresholds.yaml", strategies="strategies.yaml",
        baseline="baseline.json", index_dir="indexes", base="main",
    )  # fmt: skip
    run = docmind.evaluate(settings=settings)
    assert list(run) == [SIDE, "prod"]
    verdict = run.check()
    assert verdict.exit_code == 1
    assert "thresholds: min_hit_at_3: 0.9 → 0.6" in verdict.proposal
    accepted = run.check(accept="lead")
    assert (accepted.accepted, bool(accepted.overruled)) == ("lead", True)
    assert run.check(base="change").proposal == ()
    assert baseline(read_record(place.root / "baseline.json", ("baseline",)))
    with pytest.raises(docmind.DocMindError, match="there is no such commit"):
        run.check(base="nowhere")


# Answers


ANSWERED = "{min_correct: %s, max_wrong: 0.5, max_false_abstention: 1, min_abstention: 0, max_regression_pp: 0}"


@pytest.fixture
def answered(place) -> Callable[..., int]:
    """Checks the answers by `main`, which has committed ones; the branch `change` is checked out."""

    def run(*more: str) -> int:
        files = (
            "--strategies-file",
            "strategies.yaml",
            "--thresholds",
            "thresholds.yaml",
            "--baseline",
            "answers.json",
        )
        places = ("--corpus", "corpus", "--questions", "questions.jsonl", "--out", "out", "--index-dir", "indexes")
        return main(["answers", "--quiet", *places, *files, *more])

    git(place.root, "checkout", "-q", "main")
    place.strategies(prod="headers+bm25")
    place.thresholds(answers=ANSWERED % "0.75")
    assert run("--save-baseline") == 0
    (place.root / "out/answers.json").rename(place.root / "answers.json")
    place.commit("with answers")
    git(place.root, "checkout", "-q", "-B", "change")
    return run


def test_answers_are_judged_by_the_base_too(place, answered, capsys, monkeypatch):
    assert answered("--check", "--base", "main") == 0
    assert "this change has the same" in capsys.readouterr().err
    monkeypatch.setattr("docmind.generation.extractive.THRESHOLD", 9.0)  # nothing is answered any more
    place.thresholds(answers=ANSWERED % "0")
    assert answered("--save-baseline") == 0
    (place.root / "out/answers.json").replace(place.root / "answers.json")
    place.commit()
    assert answered("--check") == 0, "by its own files it passes"
    capsys.readouterr()
    assert answered("--check", "--base", "main") == 1
    said = capsys.readouterr().err
    assert "FAIL: correct answers must be at least 75.0 %; they are 0.0 % (0 of 4)" in said
    assert "proposed: thresholds: answers.min_correct: 0.75 → 0" in said
    assert re.search(r"proposed: answers: \d verdicts differ \(.*\); correct: 3 → 0", said)
    comment = (place.out / "latest.answers.comment.md").read_text()
    assert comment.startswith("### ❌ Answers: the gate failed\n\n- ⚖️ **judged by**: ")
    assert "- ⚖️ **proposed**: thresholds: answers.min\\_correct: 0.75 → 0" in comment
    assert answered("--check", "--base", "main", "--accept", "lead @team") == 0
    said = capsys.readouterr().err
    assert "accepted by lead @team: the files of this change count" in said
    assert "would have failed by the base: answers: correct answers must be at least 75.0 %" in said
    assert "**accepted by lead @\u200bteam**" in (place.out / "latest.answers.comment.md").read_text()


def test_the_passages_of_answers_are_found_by_the_bases_production_strategy(place, answered, capsys):
    place.strategies(matrix=["other"], other="recursive+bm25")
    place.thresholds(production="other", answers=ANSWERED % "0.75")
    place.commit()
    assert answered("--check", "--base", "main") == 0
    assert json.loads((place.out / "latest.answers.json").read_text())["fingerprint"]["strategy"] == "prod"
    assert "proposed: thresholds: production: prod → other" in capsys.readouterr().err
    assert answered("--base", "main") == 2
    assert "Give --check too" in capsys.readouterr().err
