"""The workflows and the action: what GitHub would refuse, what would be unsafe, and what their scripts do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

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
    [(EVAL, "github.ref == 'refs/heads/main'"), (ACTION, "github.ref_name == github.event.repository.default_branch")],
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


def test_the_comment_is_handed_over_under_the_name_that_is_asked_for():
    [download] = uses(COMMENT, "download-artifact")
    for path, folder, file in [
        (EVAL, "results", "latest.*comment.md"),  # of retrieval and of answers
        (ACTION, "${{ inputs.out }}", "latest.comment.md"),
    ]:
        given = {step["with"]["name"]: step["with"]["path"] for step in uses(path, "upload-artifact")}
        assert given[download["with"]["name"]] == f"{folder}/{file}"
        assert f"{folder}/latest.*" in given.values()


@pytest.mark.parametrize("path", [EVAL, ACTION])
def test_a_failed_gate_is_reported_in_full(path):
    names = [step.get("name") for step in steps(path)]
    after = steps(path)[names.index("Check") + 1 :]
    assert [step["if"] for step in after[:-1]] == ["always()"] * 3
    assert after[-1]["name"] == "Save the vectors of texts"
    assert not any("continue-on-error" in step for step in steps(path))


def test_every_input_of_the_action_is_used_and_none_is_made_up():
    used = re.findall(r"\binputs\.([\w-]+)", ACTION.read_text(encoding="utf-8"))
    assert set(used) == set(read(ACTION)["inputs"])


class Runner:
    """Runs scripts of a step as a runner does: bash with -e, in a workspace, with its files for outputs and summary."""

    def __init__(self, folder):
        self.workspace, self.temp = folder / "workspace", folder / "temp"
        self.output, self.summary = folder / "output", folder / "summary"
        self.workspace.mkdir()
        self.summary.touch()

    def install(self, script):
        """Put `script` where the action has the docmind command."""
        command = self.temp / "docmind" / "bin" / "docmind"
        command.parent.mkdir(parents=True)
        command.write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
        command.chmod(0o755)

    def run(self, step, **environ):
        """Exit code and standard output."""
        files = {"RUNNER_TEMP": self.temp, "GITHUB_OUTPUT": self.output, "GITHUB_STEP_SUMMARY": self.summary}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.workspace,
            env={**os.environ, **{name: str(value) for name, value in files.items()}, **environ},
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


GIVEN = {
    "CORPUS": "our docs",
    "QUESTIONS": "$(touch pasted).jsonl",
    "THRESHOLDS": "t.yaml",
    "BASELINE": "b.json",
    "OUT": "our results",
}


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_the_action_ends_as_docmind_does_and_tells_the_code(runner, code):
    runner.install(f"exit {code}")
    assert runner.run(step(ACTION, "Check"), **GIVEN, STRATEGIES="") == (code, "")
    assert runner.output.read_text() == f"exit-code={code}\n"


@pytest.mark.parametrize(("strategies", "more"), [("", []), ("a+b, c+d", ["--strategies", "a+b, c+d"])])
def test_the_action_passes_its_inputs_on_whole(runner, strategies, more):
    runner.install("""printf '%s\\n' "$@" """)
    _, said = runner.run(step(ACTION, "Check"), **GIVEN, STRATEGIES=strategies)
    options = [f"--{name.lower()}" for name in GIVEN]
    given = [word for pair in zip(options, GIVEN.values(), strict=True) for word in pair]
    assert said.splitlines() == ["eval", "--check", *given, *more]
    assert list(runner.workspace.iterdir()) == []


def test_a_report_that_was_committed_does_not_pass_for_the_runs_own(runner):
    committed = runner.workspace / "our results" / "latest.comment.md"
    committed.parent.mkdir()
    committed.write_text("passed", encoding="utf-8")
    (committed.parent / "baseline.json").touch()
    runner.install("exit 2")
    runner.run(step(ACTION, "Check"), **GIVEN, STRATEGIES="")
    assert [path.name for path in committed.parent.iterdir()] == ["baseline.json"]


@pytest.mark.parametrize("path", [EVAL, ACTION])
def test_what_docmind_wrote_becomes_the_summary_and_the_annotations(runner, path):
    results = runner.workspace / "results"
    results.mkdir()
    (results / "latest.comment.md").write_text("### failed\n", encoding="utf-8")
    (results / "latest.annotations.txt").write_text("::error file=q.jsonl,line=3::lost\n", encoding="utf-8")
    assert runner.run(step(path, "Summarise"), OUT="results") == (0, "::error file=q.jsonl,line=3::lost\n")
    assert runner.summary.read_text(encoding="utf-8") == "### failed\n"


@pytest.mark.parametrize("path", [EVAL, ACTION])
def test_a_run_without_a_verdict_says_so_in_the_summary_and_the_comment(runner, path):
    assert runner.run(step(path, "Summarise"), OUT="results") == (0, "")
    written = (runner.workspace / "results" / "latest.comment.md").read_text(encoding="utf-8")
    assert written.startswith("### ⚠️ Retrieval: no verdict\n\n")
    assert runner.summary.read_text(encoding="utf-8") == written
