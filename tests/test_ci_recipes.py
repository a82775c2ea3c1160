"""The recipes of docs/ci.md: taken by the services that they are for, and run where a shell is enough."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
BESIDE = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def blocks(kind):
    found = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [
        text.replace("<owner>", "acme").replace("<commit>", "a" * 40).replace("<version>", "v0.2.0") for text in found
    ]


def workflows():
    return [text for text in blocks("yaml") if "runs-on" in text]


def checked(tmp_path, schema, text):
    (tmp_path / "file.yml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", tmp_path / "file.yml"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("text", workflows())
def test_a_workflow_is_one_safe_and_gives_the_action_what_it_takes(tmp_path, text):
    checked(tmp_path, "github-workflows", text)
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / ".github" / "workflows" / "file.yml").write_text(text, encoding="utf-8")
    zizmor = shutil.which("zizmor", path=BESIDE)
    assert zizmor, "requirements.txt has it"
    done = subprocess.run(
        [zizmor, "--offline", "--no-config", tmp_path], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout
    [job] = yaml.safe_load(text)["jobs"].values()
    checkout, ours = job["steps"]
    assert checkout["with"] == {"fetch-depth": 2, "persist-credentials": False}
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(ours["with"]) <= set(action["inputs"])
    assert ("accept" in ours["with"]) == ("types" in (yaml.safe_load(text)[True]["pull_request"] or {}))


def test_there_are_three_workflows():
    assert len(workflows()) == 3


def test_gitlab_takes_its_recipe(tmp_path):
    [text] = [text for text in blocks("yaml") if "artifacts" in text]
    checked(tmp_path, "gitlab-ci", text)
    assert "--base" in text


def git(folder, *arguments):
    who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **who}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """A clone of which a branch has one commit more than the origin's."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    git(origin, "commit", "-q", "--allow-empty", "-m", "base")
    git(tmp_path, "clone", "-q", "origin", "clone")
    git(clone, "switch", "-q", "-c", "change")
    git(clone, "commit", "-q", "--allow-empty", "-m", "change")
    (tmp_path / "bin").mkdir()
    return clone


def run(repository, command, **environ):
    """The script of the page, with `command` in the place of docmind."""
    docmind = repository.parent / "bin" / "docmind"
    docmind.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    docmind.chmod(0o755)
    [script] = blocks("sh")
    path = f"{docmind.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=repository,
        env={**os.environ, "PATH": path, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(
    ("code", "told"), [(0, "passed."), (1, "lost more"), (2, "no verdict."), (3, "no verdict."), (143, "ended by")]
)
def test_the_script_ends_as_docmind_does(repository, code, told):
    found, said = run(repository, f"exit {code}")
    assert found == code
    assert said[0].startswith(f"Retrieval: {told}")


def test_the_script_judges_a_change_by_where_it_left_its_target(repository):
    base = git(repository, "rev-parse", "origin/main")
    _, said = run(repository, 'echo "$@"', TARGET="main")
    assert said[0].endswith(f"--out eval --base {base}")
    _, said = run(repository, 'echo "$@"', TARGET="")
    assert said[0].endswith("--out eval")
    assert run(repository, "exit 0", TARGET="gone") == (2, [])
