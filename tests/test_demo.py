"""`docmind demo`: what it shows is measured on the spot, and nothing of it is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from docmind.cli import main

COMMAND = [sys.executable, "-m", "docmind.cli", "demo"]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The system's folder for temporary files, on a path with a blank."""
    place = tmp_path / "a b"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return place


def test_it_shows_a_regression_that_it_measures_and_leaves_nothing(temporary, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    rows = re.findall(r"^mine +([\d.]+) +([\d.]+)", told.out, re.MULTILINE)
    assert [hit3 for _, hit3 in rows] == ["100.0", "33.3"]
    assert "FAIL: mine lost 40 questions and gained 0: Hit@3 100.0 % → 33.333 % (60 → 20 of 60)" in told.out
    assert "In CI this ends with exit code 1" in told.out
    assert "“go back to the sender after 10 days” (aberdeen.md)" in told.out
    assert [path.name for path in tmp_path.iterdir()] == ["a b"]
    assert list(temporary.iterdir()) == []


def test_twice_it_says_the_same_but_for_times(temporary, capsys):
    def said():
        main(["demo"])
        return re.sub(r" +[\d.]+$", "", capsys.readouterr().out, flags=re.MULTILINE)

    assert said() == said()


def test_interrupted_it_leaves_nothing(temporary):
    process = subprocess.Popen(COMMAND, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(temporary.glob("docmind-demo-*/search.py")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert list(temporary.iterdir()) == []


def test_the_search_is_thirty_lines_that_know_nothing_of_docmind():
    from docmind.demo import search

    text = Path(search.__file__).read_text()
    assert "import docmind" not in text
    assert "from docmind" not in text
    assert len([line for line in text.split("def main")[1].splitlines() if line.strip()]) < 30
