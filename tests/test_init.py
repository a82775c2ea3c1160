"""`docmind init` writes files that work, asks nothing, and changes nothing that is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from docmind.cli import main
from docmind.runs import starting

PAGES = {
    "docs/leave.md": "# Leave\n\nEverybody has 25 days of leave a year, booked in the calendar. Ask your lead first.\n",
    "docs/pay/pay.md": "# Pay\n\n## Salary\n\nSalaries are paid on the 25th of each month, in the currency of the country.\n",
    "docs/list.md": "# List\n\n- one\n- two\n",
}
WRITTEN = [
    "eval/questions.jsonl",
    "eval/thresholds.yaml",
    "eval/strategies.yaml",
    ".github/workflows/retrieval.yml",
    ".gitignore",
]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in PAGES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_its_files_and_the_commands_that_it_tells_work_as_they_are(repository, capsys):
    assert main(["init"]) == 0
    told = capsys.readouterr().out
    assert [f"written: {name}" for name in WRITTEN] == told.splitlines()[: len(WRITTEN)]
    key = [json.loads(line) for line in Path("eval/questions.jsonl").read_text().splitlines()]
    assert key == [
        {
            "id": "example-1",
            "question": "EXAMPLE, replace me: what does “Leave” say?",
            "source": "leave.md",
            "evidence": "Everybody has 25 days of leave a year, booked in the calendar.",
        },
        {
            "id": "example-2",
            "question": "EXAMPLE, replace me: what does “Pay” say under “Salary”?",
            "source": "pay/pay.md",
            "evidence": "Salaries are paid on the 25th of each month, in the currency of the country.",
        },
    ]
    commands = [line.split()[1:] for line in told.splitlines() if line.strip().startswith("docmind eval")]
    assert len(commands) == 2
    for command in commands:
        assert main([*command, "--quiet"]) == 0
    assert Path("eval/baseline.json").exists()


def test_a_second_run_changes_nothing(repository, capsys):
    main(["init"])
    before = {name: Path(name).read_bytes() for name in WRITTEN}
    capsys.readouterr()
    assert main(["init"]) == 0
    assert {name: Path(name).read_bytes() for name in WRITTEN} == before
    assert capsys.readouterr().out.count("left as it is: ") == len(WRITTEN) - 1


def test_what_is_there_is_left_as_it_is(repository):
    Path("eval").mkdir()
    Path("eval/thresholds.yaml").write_text("mine\n")
    Path(".gitignore").write_text(".docmind/\n*.pyc")
    assert main(["init", "docs"]) == 0
    assert Path("eval/thresholds.yaml").read_text() == "mine\n"
    assert Path(".gitignore").read_text() == ".docmind/\n*.pyc\neval/latest.*\neval/timings.json\n.*.tmp\n"


def test_the_workflow_names_the_folder_and_is_one_that_github_takes(repository, tmp_path):
    (repository / "docs").rename(repository / "my docs: #1")
    assert main(["init"]) == 0
    path = Path(".github/workflows/retrieval.yml")
    assert yaml.safe_load(path.read_text())["jobs"]["retrieval"]["steps"][1]["with"]["corpus"] == "my docs: #1"
    checker = Path(sys.executable).with_name("check-jsonschema")
    done = subprocess.run(
        [checker, "--builtin-schema", "vendor.github-workflows", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_in_the_core_the_strategy_is_a_retriever_of_ones_own(repository, monkeypatch):
    monkeypatch.setattr(starting, "_has_retrieval", lambda: False)
    assert main(["init"]) == 0
    assert "production: mine" in Path("eval/thresholds.yaml").read_text()
    assert main(["strategies", "--needs"]) == 0


def test_of_two_folders_nobody_knows_which(repository, capsys):
    (repository / "handbook").mkdir()
    (repository / "handbook/a.md").write_text("# A\n")
    assert main(["init"]) == 2
    assert "documents are in docs, handbook. Say which folder is meant: docmind init my-docs" in capsys.readouterr().err
    assert not Path("eval").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gone"], "gone"),
        (["empty"], "empty"),
        (["lists"], "no document holds a sentence"),
    ],
)
def test_a_folder_without_documents_to_quote_is_told_and_nothing_written(repository, capsys, arguments, told):
    (repository / "empty").mkdir()
    (repository / "lists").mkdir()
    (repository / "lists/a.md").write_text("- a\n- b\n")
    assert main(["init", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not Path("eval").exists()


def test_a_folder_in_the_place_of_a_file_is_told_and_nothing_written(repository, capsys):
    Path("eval/questions.jsonl").mkdir(parents=True)
    assert main(["init"]) == 2
    assert "eval/questions.jsonl is a folder" in capsys.readouterr().err
    assert not Path(".gitignore").exists()


def test_a_file_where_a_folder_must_be_is_told(repository, capsys):
    Path(".github").write_text("")
    assert main(["init"]) == 2
    assert "cannot be made" in capsys.readouterr().err


def test_a_link_is_left_as_it_is(repository):
    Path("eval").mkdir()
    Path("eval/strategies.yaml").symlink_to("nowhere.yaml")
    assert main(["init"]) == 0
    assert Path("eval/strategies.yaml").is_symlink()
