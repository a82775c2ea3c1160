"""docs/your-retriever.md is true: its search is put under the gate as it says, and its examples run with the real libraries."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from docmind.cli import main

PAGE = (Path(__file__).parents[1] / "docs/your-retriever.md").read_text(encoding="utf-8")

PAGES = {
    "leave.md": "# Leave\n\nEverybody has 25 days of leave a year, booked in the calendar.\n\nFive days may be carried over.\n",
    "pay.md": "# Pay\n\nSalaries are paid on the 25th of each month.\n\nThe bonus is paid in March.\n",
    "travel.md": "# Travel\n\nFirst class is for journeys over three hours.\n\nKeep the ticket for the claim.\n",
}
QUESTIONS = [
    {
        "id": "q1",
        "question": "How many days of leave a year?",
        "source": "leave.md",
        "evidence": "25 days of leave a year",
    },
    {"id": "q2", "question": "When is the bonus paid?", "source": "pay.md", "evidence": "The bonus is paid in March"},
    {
        "id": "q3",
        "question": "When may I travel first class?",
        "source": "travel.md",
        "evidence": "journeys over three hours",
    },
]


def code(title: str, number: int = 0, kind: str = "python") -> str:
    """A block of the section of that title."""
    section = re.split(r"^## ", PAGE.split(f"\n## {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(rf"^```{kind}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[number]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "pages").mkdir()
    (tmp_path / "eval").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "pages" / name).write_text(text)
    (tmp_path / "eval/questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    (tmp_path / "eval/thresholds.yaml").write_text(code("A search of thirty lines under the gate", 1, "yaml"))
    before = set(sys.modules)
    yield tmp_path
    for name in {name for name in set(sys.modules) - before if name.startswith("search_")}:
        del sys.modules[name]


def serve(folder: Path, text: str) -> subprocess.Popen[bytes]:
    """The page's search, on a free port; gives it when it answers."""
    (folder / "search.py").write_text(text)
    process = subprocess.Popen([sys.executable, "search.py"], cwd=folder, stderr=subprocess.DEVNULL)
    port = re.search(r'"127.0.0.1", (\d+)', text)[1]
    for _ in range(200):
        try:
            body = json.dumps({"question": "x", "k": 1}).encode()
            urlopen(Request(f"http://127.0.0.1:{port}/", data=body), timeout=5).read()
        except OSError:
            time.sleep(0.05)
            continue
        return process
    process.kill()
    raise AssertionError("the search did not start")


def free_port() -> int:
    import socket

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def test_the_search_of_the_page_is_put_under_the_gate_and_its_regression_fails(folder, capsys):
    port = free_port()
    search = code("A search of thirty lines under the gate").replace("8000", str(port))
    assert len(search.strip().splitlines()) <= 34
    (folder / "eval/strategies.yaml").write_text(
        code("A search of thirty lines under the gate", 0, "yaml").replace("8000", str(port))
    )
    console = code("A search of thirty lines under the gate", 0, "console")
    save, check = (line.split("#")[0].split()[2:] for line in console.splitlines()[1:3])
    process = serve(folder, search)
    try:
        assert main(save) == 0
        assert main(check) == 0
    finally:
        process.kill()
        process.wait()
    assert "The gate: passed." in capsys.readouterr().err
    worse = search.replace("key=lambda passage: -score", "key=lambda passage: score")
    assert worse != search
    (folder / "pages/more.md").write_text(
        "# More\n\n" + "\n\n".join(f"Word {n} of nothing at all." for n in range(100))
    )
    process = serve(folder, worse)
    try:
        assert main(check) == 1
    finally:
        process.kill()
        process.wait()
    told = capsys.readouterr().err
    assert "lost q1: rank 1 → " in told
    assert "in its place more.md" in told


LIBRARIES = {
    "LangChain": ("langchain_core", "search_langchain"),
    "LlamaIndex": ("llama_index", "search_llamaindex"),
    "Haystack": ("haystack", "search_haystack"),
}


@pytest.mark.parametrize("title", LIBRARIES)
def test_the_example_of_a_library_runs_with_the_library_itself(folder, title):
    library, module = LIBRARIES[title]
    if find_spec(library) is None and not os.environ.get("DOCMIND_REQUIRE_LIBRARIES"):
        pytest.skip(f"{library} is not installed: .ci/run tries it in an environment of its own")
    (folder / f"{module}.py").write_text(code(title))
    [declared] = re.findall(r"^`mine: (\{python: .*\})`$", PAGE.split(f"\n## {title}\n", 1)[1], re.MULTILINE)[:1]
    (folder / "eval/strategies.yaml").write_text(f"strategies: {{mine: {declared}}}\nmatrix: [mine]\n")
    assert module in declared
    assert main(["eval", "--corpus", "pages", "--out", "out", "--quiet"]) == 0
    found = json.loads((folder / "out/latest.json").read_text())["strategies"]["mine"]
    assert found["metrics"]["hit@3"] == 1
    assert found["foreign"]["unplaced"] == 0
    assert len(found["questions"]["q1"]["hits"]) >= 3


def test_the_strategies_of_the_page_are_read(tmp_path, monkeypatch):
    from docmind.retrieval.strategies import read_strategies

    monkeypatch.setenv("SEARCH_KEY", "x")
    for title, number in (("A search of thirty lines under the gate", 0), ("An endpoint that exists already", 0)):
        path = tmp_path / "strategies.yaml"
        path.write_text(code(title, number, "yaml"))
        assert [each.name for each in read_strategies(path).matrix] == ["mine"]
