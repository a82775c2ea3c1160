"""The chunker that CONTRIBUTING.md shows is one: a file and a line, and it stands in every table."""

import re
from pathlib import Path

import pytest

import docmind
from docmind import chunking
from docmind.cli import main
from docmind.retrieval.strategies import chunker

ROOT = Path(__file__).parent.parent


@pytest.fixture
def added(tmp_path, monkeypatch):
    """The chunker from its file, under the name `blocks`."""
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    namespace = {"__name__": "blocks"}
    exec(compile(code, "blocks.py", "exec"), namespace)
    monkeypatch.setitem(chunking.CHUNKERS._entries, "blocks", namespace["Blocks"])


@pytest.mark.usefixtures("added")
def test_the_chunker_of_the_guide_is_scored_and_listed(corpus, tmp_path, capsys):
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        '{"id": "q1", "question": "How many days?", "source": "leave.md", "evidence": "25 days of annual leave"}'
    )
    settings = docmind.Settings(index_dir=tmp_path / "indexes", strategies=tmp_path / "none.yaml")
    (tmp_path / "none.yaml").write_text("strategies: {mine: blocks(size=40)+rerank}")
    run = docmind.evaluate(corpus, questions, ["mine", "blocks+bm25"], settings=settings)
    assert run["mine"].metrics["hit@5"] == 1.0
    run.save(tmp_path / "out")
    for name in ("latest.md", "latest.json", "latest.html"):
        assert "blocks+bm25" in (tmp_path / "out" / name).read_text()
    assert main(["strategies"]) == 0
    assert re.search(r"blocks +size +300 +from 16 to 500", capsys.readouterr().out)


@pytest.mark.usefixtures("added")
def test_its_parameters_are_checked():
    assert str(chunker("blocks")) == "blocks(size=300)"
    with pytest.raises(docmind.DocMindError, match="from 16 to 500"):
        chunker("blocks(size=501)")
