"""The workflows and the action: what GitHub would refuse, what would be unsafe, and what their scripts do."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from docmind.evaluation.reports import outputs
from docmind.evaluation.scoring.metrics import METRICS

ROOT = Path(__file__).parent.parent
WORKFLOWS = ROOT / ".github" / "workflows"
EVAL, COMMENT, ACTION = WORKFLOWS / "eval.yml", WORKFLOWS / "comment.yml", ROOT / "action.yml"
FILES = (EVAL, COMMENT, ACTION)


def read(path):
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in found.items()}  # YAML 1.1 reads `on` as true


def steps(path):
    found = read(path)
    jobs = [found["runs"]] if "runs" in found else found["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def step(path, name):
    [found] = [step for step in steps(path) if step.get("name") == name]
    return found


def uses(path, action):
    return [step for step in steps(path) if step.get("uses", "").startswith(f"actions/{action}@")]


@pytest.mark.parametrize(
    ("schema", "path"), [("github-workflows", EVAL), ("github-workflows", COMMENT), ("github-actions", ACTION)]
)
def test_github_takes_the_file(schema, path):
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", path],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_zizmor_finds_nothing_that_is_not_explained():
    """Of one trigger it warns whatever stands below it; comment.yml says why it is used."""
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    zizmor = shutil.which("zizmor", path=beside)
    assert zizmor, "requirements.txt has it"
    found = subprocess.run(
        [zizmor, "--offline", "--no-config", "--format=json", *FILES],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (found.returncode, json.loads(found.stdout)) == (0, []), found.stdout + found.stderr
    ignored = [line for path in FILES for line in path.read_text(encoding="utf-8").splitlines() if "zizmor: " in line]
    assert ignored == ["  workflow_run: # zizmor: ignore[dangerous-triggers]"]


def test_every_file_of_github_is_looked_at():
    assert sorted(WORKFLOWS.iterdir()) == [COMMENT, EVAL]


@pytest.mark.parametrize("path", FILES)
def test_actions_are_pinned_by_commit_and_their_version_is_told(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if re.match(r"\s*(- )?uses:", line)]
    assert len(lines) == len([step for step in steps(path) if "uses" in step])
    assert [line for line in lines if not re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []


def test_an_action_has_one_commit_everywhere():
    used = [step["uses"] for path in FILES for step in steps(path) if "uses" in step]
    pins = {re.sub(r"^([\w-]+/[\w-]+).*@", r"\1@", pin) for pin in used}  # cache/save and cache/restore are of one
    assert len(pins) == len({pin.split("@")[0] for pin in pins})


@pytest.mark.parametrize("path", FILES)
def test_no_expression_is_pasted_into_a_script(path):
    assert [step["run"] for step in steps(path) if "${{" in step.get("run", "")] == []


def test_rights_are_the_least():
    assert read(EVAL)["permissions"] == {"contents": "read"}
    assert "permissions" not in read(EVAL)["jobs"]["eval"]
    assert read(COMMENT)["permissions"] == {}
    assert read(COMMENT)["jobs"]["comment"]["permissions"] == {
        "actions": "read",
        "contents": "read",
        "pull-requests": "write",
    }
    for path in FILES:
        assert "secrets." not in path.read_text(encoding="utf-8")
        assert all(step["with"]["persist-credentials"] is False for step in uses(path, "checkout"))


def test_pull_requests_run_without_the_rights_of_the_base():
    assert set(read(EVAL)["on"]) == {"pull_request", "push"}
    assert set(read(COMMENT)["on"]) == {"workflow_run"}
    assert read(COMMENT)["on"]["workflow_run"] == {"workflows": [read(EVAL)["name"]], "types": ["completed"]}


@pytest.mark.parametrize("path", [EVAL, COMMENT])
def test_no_job_runs_for_ever(path):
    assert all(0 < job["timeout-minutes"] <= 30 for job in read(path)["jobs"].values())


def test_a_new_push_ends_the_run_of_the_one_before():
    assert read(EVAL)["concurrency"] == {"group": "eval-${{ github.ref }}", "cancel-in-progress": True}


@pytest.mark.parametrize("path", [EVAL, ACTION])
def test_vectors_are_cached_and_nothing_else_is(path):
    cached = uses(path, "cache/restore") + uses(path, "cache/save")
    assert [step["with"]["path"] for step in cached] == [".docmind/vectors.sqlite3"] * 2
    assert uses(path, "cache") == []
    assert all("cache" not in step["with"] for step in uses(path, "setup-python"))


@pytest.mark.parametrize(
    ("path", "branch"),
    [
        (EVAL, "github.ref == 'refs/heads/main'"),
        (
            ACTION,
            "github.ref_name == github.event.repository.default_branch && steps.install.outputs.extra != ''",
        ),
    ],
)
def test_no_pull_request_writes_the_cache(path, branch):
    [save] = uses(path, "cache/save")
    assert save["if"] == f"github.event_name == 'push' && {branch} && steps.vectors.outputs.cache-hit != 'true'"


def test_the_job_with_the_token_runs_the_default_branch_and_installs_nothing():
    checkout, download, post = steps(COMMENT)
    assert checkout["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    assert "repository" not in checkout["with"]
    assert download["with"]["path"] == "${{ runner.temp }}/comment"  # outside the checkout
    assert post["run"] == 'python3 scripts/comment.py "$RUNNER_TEMP/comment"'


@pytest.mark.parametrize(("path", "name"), [(EVAL, "retrieval"), (ACTION, "${{ steps.begin.outputs.name }}")])
def test_the_comment_is_handed_over_under_a_name_that_is_asked_for(path, name):
    [download] = uses(COMMENT, "download-artifact")
    assert download["with"]["pattern"] == "docmind-comment-*"
    assert download["with"]["merge-multiple"] is True
    out = "results" if path == EVAL else "${{ inputs.out }}"
    given = {step["with"]["name"]: step["with"]["path"] for step in uses(path, "upload-artifact")}
    assert given == {
        f"docmind-results-{name}": f"{out}/latest.*",
        f"docmind-comment-{name}": f"${{{{ runner.temp }}}}/docmind-comment-{name}",
    }


def test_a_failed_gate_is_reported_in_full():
    names = [step.get("name") for step in steps(EVAL)]
    after = steps(EVAL)[names.index("Check") + 1 :]
    assert [step["if"] for step in after[:-1]] == ["always()"] * 3
    assert after[-1]["name"] == "Save the vectors of texts"
    assert not any("continue-on-error" in step for step in steps(EVAL))


def test_the_last_step_of_the_action_ends_it_and_the_reports_come_before():
    names = [step.get("name", step.get("id")) for step in steps(ACTION)]
    assert names == [
        "Begin", "python", "Install DocMind", "Restore the vectors of texts", "Check", "Summarise", "Keep the results",
        "Hand the text to the workflow that comments", "Save the vectors of texts", "Verdict",
    ]  # fmt: skip
    always = [step["name"] for step in steps(ACTION) if step.get("if") == "always()"]
    assert always == ["Summarise", "Keep the results", "Hand the text to the workflow that comments", "Verdict"]
    alone = [step for step in steps(ACTION) if "uses" in step and "/cache/" not in step["uses"]]
    assert all(step["continue-on-error"] is True for step in alone)  # what fails is told by the last step


def test_a_pull_request_is_judged_by_the_branch_that_it_goes_to():
    checkout, *_ = uses(EVAL, "checkout")
    assert checkout["with"] == {"fetch-depth": 2, "persist-credentials": False}  # the merge commit and its parents
    by_base = "${{ github.event_name == 'pull_request' && 'HEAD^1' || '' }}"
    assert step(EVAL, "Check")["env"]["BASE"] == by_base
    assert read(ACTION)["inputs"]["base-ref"]["default"] == by_base


def test_who_accepts_is_told_by_the_event_of_the_label_alone():
    """Not by a label that stands since an earlier push, and by nothing that a pull request's author writes."""
    assert step(EVAL, "Check")["env"]["ACCEPT"] == (
        "${{ github.event.action == 'labeled' && github.event.label.name == 'retrieval-accepted' "
        "&& github.event.sender.login || '' }}"
    )
    assert read(EVAL)["on"]["pull_request"]["types"] == ["opened", "synchronize", "reopened", "labeled", "unlabeled"]
    assert not any("if" in job for job in read(EVAL)["jobs"].values())  # a job that is left out counts as passed


def test_no_check_is_left_out_for_a_label():
    """A required check whose job is skipped has passed for GitHub."""
    assert all("label" not in str(each.get("if")) for each in steps(EVAL))


def test_the_outputs_of_the_action_are_every_standard_figure():
    declared = read(ACTION)["outputs"]
    standard = [name.replace("@k", f"@{k}") for name, family in METRICS.items() for k in family.standard]
    assert list(declared)[-len(standard) :] == list(map(outputs.output, standard))
    for name, output in declared.items():
        assert re.fullmatch(r"[a-z_][\w-]*", name)
        assert output["value"] == f"${{{{ steps.report.outputs.{name} }}}}"


@pytest.mark.parametrize(("base", "accept"), [("", ""), ("HEAD^1", ""), ("HEAD^1", "ann o'hara $(touch pasted)")])
def test_make_check_is_judged_by_what_it_is_told(tmp_path, base, accept):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ("requirements.txt", "pyproject.toml", ".venv/installed"):
        (tmp_path / name).touch()
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text("#!/bin/sh\nfor word; do printf '<%s>' \"$word\"; done; echo\n", encoding="utf-8")
    python.chmod(0o755)
    environ = {**os.environ, "BASE": base, "ACCEPT": accept}
    done = subprocess.run(
        ["make", "-s", "check"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    more = f"<--base><{base}>" * bool(base) + f"<--accept><{accept}>" * bool(accept)
    assert done.stdout.splitlines() == [f"<eval/run_{part}.py><--check>{more}" for part in ("retrieval", "answers")]
    assert not (tmp_path / "pasted").exists()


def test_every_input_of_the_action_is_used_and_none_is_made_up():
    used = re.findall(r"\binputs\.([\w-]+)", ACTION.read_text(encoding="utf-8"))
    assert set(used) == set(read(ACTION)["inputs"])


class Runner:
    """Runs scripts of a step as a runner does: bash with -e, in a workspace, with its files for outputs and summary."""

    def __init__(self, folder):
        self.workspace, self.temp, self.action = folder / "work space", folder / "temp", folder / "the action"
        self.output, self.summary = folder / "output", folder / "summary"
        for place in (self.workspace, self.temp, self.action / "scripts"):
            place.mkdir(parents=True)
        self.summary.touch()
        shutil.copy(ROOT / "scripts" / "summarise.sh", self.action / "scripts")
        shutil.copy(ROOT / "requirements.txt", self.action)

    @property
    def bin(self):
        return self.temp / "docmind" / "bin"

    def install(self, script, name="docmind"):
        """Put `script` where the action has the docmind command."""
        self.bin.mkdir(parents=True, exist_ok=True)
        command(self.bin / name, script)

    def run(self, step, **environ):
        """Exit code and standard output."""
        files = {"RUNNER_TEMP": self.temp, "GITHUB_OUTPUT": self.output, "GITHUB_STEP_SUMMARY": self.summary}
        files["GITHUB_ACTION_PATH"] = self.action
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.workspace,
            env={**os.environ, **{name: str(value) for name, value in files.items()}, **environ},
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        return done.returncode, done.stdout

    @property
    def outputs(self):
        """Of all steps together, those of later ones counting."""
        return dict(line.split("=", 1) for line in self.output.read_text(encoding="utf-8").splitlines())

    @property
    def why(self):
        return (self.temp / "docmind.why").read_text(encoding="utf-8")


def command(path, script):
    path.write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


BEGUN = {"NAME": "retrieval", "OUT": "our results", "BASE": "", "INFORMATIONAL": "false", "VERSION": "3.12"}


@pytest.mark.parametrize("name", ["retrieval", "a", "docs-2", "x" * 40])
def test_the_action_begins_with_its_name(runner, name):
    assert runner.run(step(ACTION, "Begin"), **{**BEGUN, "NAME": name}) == (0, "")
    assert runner.outputs == {"name": name, "go": "true"}
    assert runner.why == "Python 3.12 could not be set up."


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        *(({"NAME": name}, "The input name is not") for name in ["", "A", "a b", "x" * 41, "a\nb", "é", "../a", "a\n"]),
        ({"INFORMATIONAL": "yes"}, "The input informational is neither true nor false."),
    ],
)
def test_a_wrong_input_goes_no_further(runner, wrong, why):
    assert runner.run(step(ACTION, "Begin"), **{**BEGUN, **wrong}) == (0, "")
    assert runner.outputs == {"name": "retrieval", "go": ""}
    assert runner.why.startswith(why)


def git(folder, *arguments):
    who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **who}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_parent_of_a_commit_that_is_no_merge_of_the_pull_request_is_no_base(runner):
    """Else whoever checks the branch itself out would have its last commit but one judge the last."""
    git(runner.workspace, "init", "-q")
    git(runner.workspace, "commit", "-q", "--allow-empty", "-m", "x")
    sha = git(runner.workspace, "rev-parse", "HEAD")
    runner.run(step(ACTION, "Begin"), **{**BEGUN, "BASE": "HEAD^1"}, GITHUB_SHA=sha)
    assert runner.outputs["go"] == "true"
    runner.run(step(ACTION, "Begin"), **{**BEGUN, "BASE": "HEAD^1"}, GITHUB_SHA="f" * 40)
    assert runner.outputs["go"] == ""
    assert runner.why.startswith("What is checked out is not the merge commit of the pull request")
    runner.run(step(ACTION, "Begin"), **{**BEGUN, "BASE": sha}, GITHUB_SHA="f" * 40)
    assert runner.outputs["go"] == "true"


def test_a_report_that_was_committed_does_not_pass_for_the_runs_own(runner):
    committed = runner.workspace / "our results" / "latest.comment.md"
    committed.parent.mkdir()
    committed.write_text("passed", encoding="utf-8")
    (committed.parent / "baseline.json").touch()
    runner.run(step(ACTION, "Begin"), **BEGUN)
    assert [path.name for path in committed.parent.iterdir()] == ["baseline.json"]


PIP = """[ "$1 $2" = "-m pip" ] && printf '%s|' "${@:6}" >> "$RUNNER_TEMP/pip"; echo >> "$RUNNER_TEMP/pip" """
VENV = {"REQUIREMENTS": "", "STRATEGIES": "", "BASE": ""}


@pytest.fixture
def python(runner, tmp_path):
    """A Python whose environments have a pip that only notes what it is to install, and the command that `needs` is for."""

    def make(needs, pip=PIP):
        runner.install(pip, "python")
        runner.install(needs)
        command(tmp_path / "python", "exit 0")
        return {**VENV, "PYTHON": str(tmp_path / "python")}

    return make


@pytest.mark.parametrize(
    ("needs", "extra"), [("exit 0", ""), ("echo retrieval", "retrieval"), ("echo retrieval; exit 2", "retrieval")]
)
def test_only_what_the_strategies_need_is_installed(runner, python, needs, extra):
    """All there is, where the core can't say."""
    environ = python(f'printf \'<%s>\' "$@" > "$RUNNER_TEMP/asked"\n{needs}')
    assert runner.run(step(ACTION, "Install DocMind"), **{**environ, "BASE": "HEAD^1", "STRATEGIES": "a b"}) == (0, "")
    pins = f"-c|{runner.temp}/docmind.pins|"
    wanted = [f"{runner.action}|{pins}", *[f"{runner.action}[{extra}]|{pins}"] * bool(extra)]
    assert (runner.temp / "pip").read_text().splitlines() == wanted
    assert (runner.temp / "asked").read_text() == "<strategies><--needs><--strategies><a b><--base><HEAD^1>"
    assert runner.outputs == {"go": "true", "extra": extra}


def test_the_pins_are_all_packages_of_requirements_txt_but_docmind(runner, python):
    runner.run(step(ACTION, "Install DocMind"), **python("exit 0"))
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    *packages, last = [line for line in lines if not line.startswith("#")]
    assert last.startswith("-e .")
    assert (runner.temp / "docmind.pins").read_text(encoding="utf-8").splitlines() == packages
    assert not any("[" in package.partition(";")[0] for package in packages)  # pip takes no extras as a constraint


def test_a_requirements_file_of_ones_own_is_not_held_to_docminds_pins(runner, python):
    runner.run(step(ACTION, "Install DocMind"), **{**python("exit 0"), "REQUIREMENTS": "our needs.txt"})
    assert (runner.temp / "pip").read_text() == f"{runner.action}|-r|our needs.txt|\n"


@pytest.mark.parametrize("fails", ["exit 1", '[[ "$*" != *retrieval* ]]'])
def test_an_install_that_fails_is_told_with_what_pip_said(runner, python, fails):
    environ = python("echo retrieval", f"echo 'ERROR: No matching <b> for @team 100%'; {fails}")
    code, said = runner.run(step(ACTION, "Install DocMind"), **environ)
    assert code == 0
    assert "No matching" in said
    assert not runner.output.exists()
    code, said = runner.run(step(ACTION, "Summarise"), OUT="results", NAME="docs", INFORMATIONAL="false", CODE="")
    told = "ERROR: No matching <b> for @\u200bteam 100%"
    assert said == f"::error title=retrieval gate::there is no verdict: DocMind could not be installed.%0A{told}25\n"
    written = (runner.workspace / "results" / "latest.comment.md").read_text(encoding="utf-8")
    assert written == (
        "### ⚠️ Retrieval: no verdict\n\n- DocMind could not be installed.\n"
        "- ERROR: No matching &lt;b> for @\u200bteam 100%\n"
    )
    assert runner.summary.read_text(encoding="utf-8") == f"## docs\n\n{written}"
    assert (runner.outputs["exit-code"], runner.outputs["headline"]) == ("2", "no verdict")


GIVEN = {
    "CORPUS": "our docs",
    "QUESTIONS": "$(touch pasted).jsonl",
    "THRESHOLDS": "t.yaml",
    "BASELINE": "b.json",
    "OUT": "our results",
}
OPTIONAL = ("STRATEGIES", "REPLAY", "RECORD", "BASE", "ACCEPT")
NOT_GIVEN = dict.fromkeys(OPTIONAL, "")


@pytest.mark.parametrize("code", [0, 1, 2, 3, 143])
def test_the_action_ends_as_docmind_does_and_tells_the_code(runner, code):
    runner.install(f"exit {code}")
    assert runner.run(step(ACTION, "Check"), **GIVEN, **NOT_GIVEN) == (0, "")
    assert runner.outputs == {"exit-code": str(code)}
    runner.run(step(ACTION, "Summarise"), OUT="r", NAME="a", INFORMATIONAL="false", CODE=str(code))
    kept = {"HEADLINE": "passed", "KEPT": "success", "HANDED": "success", "CODE": runner.outputs["exit-code"]}
    assert runner.run(step(ACTION, "Verdict"), INFORMATIONAL="false", **kept) == (code, "The gate: passed.\n")
    assert runner.run(step(ACTION, "Verdict"), INFORMATIONAL="true", **kept) == (0, "The gate: passed.\n")


@pytest.mark.parametrize("kept", [{"KEPT": "failure", "HANDED": "success"}, {"KEPT": "success", "HANDED": "skipped"}])
def test_a_report_that_could_not_be_kept_fails_a_step_that_passed(runner, kept):
    found = runner.run(step(ACTION, "Verdict"), HEADLINE="passed", CODE="0", INFORMATIONAL="false", **kept)
    assert found[0] == 2
    found = runner.run(step(ACTION, "Verdict"), HEADLINE="failed", CODE="1", INFORMATIONAL="false", **kept)
    assert found[0] == 1


def test_a_step_that_never_came_to_a_report_fails(runner):
    nothing = {"HEADLINE": "", "CODE": "", "KEPT": "", "HANDED": "", "INFORMATIONAL": ""}
    assert runner.run(step(ACTION, "Verdict"), **nothing) == (2, "The gate: no verdict.\n")


@pytest.mark.parametrize(
    "more", [{}, {"STRATEGIES": "a+b, c+d"}, {name: f"our {name} $(touch pasted)" for name in OPTIONAL}]
)
def test_the_action_passes_its_inputs_on_whole(runner, more):
    runner.install("""printf '%s\\n' "$@" """)
    _, said = runner.run(step(ACTION, "Check"), **GIVEN, **{**NOT_GIVEN, **more})
    given = [word for name, value in (GIVEN | more).items() for word in (f"--{name.lower()}", value)]
    assert said.splitlines() == ["eval", "--check", *given]
    assert list(runner.workspace.iterdir()) == []


@pytest.mark.parametrize("path", [EVAL, ACTION])
def test_what_docmind_wrote_becomes_the_summary_the_annotations_and_the_comment(runner, path):
    results = runner.workspace / "results"
    results.mkdir()
    (results / "latest.comment.md").write_text("### failed\n", encoding="utf-8")
    (results / "latest.answers.comment.md").write_text("### answers\n", encoding="utf-8")
    (results / "latest.annotations.txt").write_text("::error file=q.jsonl,line=3::lost\n", encoding="utf-8")
    (results / "latest.outputs.txt").write_text("headline=failed\nhit_at_1=0.5\n", encoding="utf-8")
    shutil.copytree(ROOT / "scripts", runner.workspace / "scripts")
    done = runner.run(step(path, "Summarise"), OUT="results", NAME="docs", CODE="1")
    assert done == (0, "::error file=q.jsonl,line=3::lost\n")
    assert runner.summary.read_text(encoding="utf-8") == "## docs\n\n### answers\n### failed\n"
    handed = runner.temp / "docmind-comment-docs"
    assert {path.relative_to(handed).as_posix(): path.read_text(encoding="utf-8") for path in handed.rglob("*.md")} == {
        "docs/latest.comment.md": "### failed\n",
        "docs/latest.answers.comment.md": "### answers\n",
    }
    assert runner.outputs == {
        "exit-code": "1",
        "html": "results/latest.html",
        "comment": "results/latest.comment.md",
        "headline": "failed",
        "hit_at_1": "0.5",
    }


def test_what_is_for_information_says_so_everywhere(runner):
    results = runner.workspace / "results"
    results.mkdir()
    (results / "latest.comment.md").write_text("### ❌ failed\n\n- lost\n", encoding="utf-8")
    (results / "latest.annotations.txt").write_text("::error file=q.jsonl::lost ::error x\n", encoding="utf-8")
    (results / "latest.outputs.txt").write_text("headline=failed\n", encoding="utf-8")
    done = runner.run(step(ACTION, "Summarise"), OUT="results", NAME="docs", CODE="1", INFORMATIONAL="true")
    assert done == (0, "::warning file=q.jsonl::lost ::error x\n")
    told = "### ❌ failed\n\nℹ️ For information: whatever stands here, this check fails nothing.\n\n- lost\n"
    assert (results / "latest.comment.md").read_text(encoding="utf-8") == told
    assert runner.summary.read_text(encoding="utf-8") == f"## docs\n\n{told}"
    assert (runner.outputs["headline"], runner.outputs["exit-code"]) == ("for information: failed", "1")


def test_a_docmind_that_left_no_report_is_told_with_what_the_terminal_had(runner):
    runner.install(
        "echo 'Usage: docmind' >&2; printf '\\033[31mKilled\\033[0m \\xff![x](https://evil.test) www.evil.test\\n'; kill -9 $$"
    )
    runner.run(step(ACTION, "Check"), **GIVEN, **NOT_GIVEN)
    _, said = runner.run(step(ACTION, "Summarise"), OUT="out", NAME="docs", CODE=runner.outputs["exit-code"])
    assert runner.outputs["exit-code"] == "137"
    assert (runner.workspace / "out" / "latest.comment.md").read_text(encoding="utf-8") == (
        "### ⚠️ Retrieval: no verdict\n\n- DocMind ended with exit code 137 and left no report.\n- Usage: docmind\n"
        "- \\[31mKilled\\[0m \\!\\[x\\](https:\u200b//evil.test) www.\u200bevil.test\n"
    )
    [line] = said.splitlines()
    assert line.startswith("::error title=retrieval gate::there is no verdict: DocMind ended with exit code 137")


@pytest.mark.parametrize("path", [EVAL, ACTION])
def test_a_run_that_left_nothing_at_all_says_so(runner, path):
    shutil.copytree(ROOT / "scripts", runner.workspace / "scripts")
    code, said = runner.run(step(path, "Summarise"), OUT="results", NAME="docs", CODE="")
    told = "The run ended before it could judge. Its log says why."
    assert (code, said) == (0, f"::error title=retrieval gate::there is no verdict: {told}\n")
    written = (runner.workspace / "results" / "latest.comment.md").read_text(encoding="utf-8")
    assert written == f"### ⚠️ Retrieval: no verdict\n\n- {told}\n"
    assert runner.summary.read_text(encoding="utf-8") == f"## docs\n\n{written}"
