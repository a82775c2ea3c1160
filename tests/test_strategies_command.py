"""`docmind strategies` lists what there is to choose, whatever that is."""

import pytest

from docmind.chunking import CHUNKERS
from docmind.chunking import PRESETS as CHUNKER_PRESETS
from docmind.chunking.fixed import Fixed
from docmind.cli import main
from docmind.parameters import declared, written
from docmind.retrieval import MODES
from docmind.retrieval import PRESETS as MODE_PRESETS
from docmind.retrieval.strategies import read_strategies


@pytest.fixture
def listed(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*options):
        assert main(["strategies", *options]) == 0
        return capsys.readouterr().out

    return run


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_every_part_parameter_default_range_and_meaning_is_listed(listed):
    text = listed()
    for name, made in [*CHUNKERS.items(), *((name, each.make) for name, each in MODES.items())]:
        for each in declared(made):
            [row] = [row for row in rows(text) if row[:2] == [name, each.name]]
            assert written(each.default) in " ".join(row)
            assert each.range in " ".join(row)
            assert each.meaning in " ".join(row)
    for name, full in {**CHUNKER_PRESETS, **MODE_PRESETS}.items():
        assert [name, full] in rows(text)
    for each in read_strategies(None).matrix:
        assert [each.name, "yes", f"{each.chunker}+{each.mode}"] in rows(text)


def test_a_newcomer_is_listed(listed, monkeypatch):
    monkeypatch.setitem(CHUNKERS._entries, "windows", Fixed)
    assert ["windows", "size", "500"] in [row[:3] for row in rows(listed())]


def test_the_strategies_of_a_file_are_listed(listed, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(
        "strategies: {spare: headers+bm25, deep: headers+mmr}\nmatrix: [deep, headers+vector]\ngate: [deep]\n"
    )
    found = rows(listed("--strategies-file", str(file)))
    assert ["deep", "yes", "headers(size=500,overlap=0)+mmr(vector,fetch=10,lam=0.5)"] in found
    assert ["headers+vector", "no", "headers(size=500,overlap=0)+vector"] in found
    assert ["spare", "headers+bm25"] in found


def test_a_wrong_file_ends_with_2(capsys, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text("matrix: [header+bm25]\n")
    assert main(["strategies", "--strategies-file", str(file)]) == 2
    assert "matrix.0: unknown chunker 'header'" in capsys.readouterr().err
    assert main(["strategies", "--strategies-file", str(tmp_path / "none.yaml")]) == 2
    assert "Name a file with --strategies-file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "more", "needed"),
    [
        ("matrix: [headers+bm25]", [], "retrieval"),
        ("strategies: {mine: {url: 'http://localhost/x'}}", [], ""),
        ("strategies: {mine: {url: 'http://localhost/x'}}\nmatrix: [mine, headers+bm25]", [], "retrieval"),
        ("strategies: {mine: {url: 'http://localhost/x'}}\nmatrix: [mine, headers+bm25]", ["--strategies", "mine"], ""),
    ],
)
def test_it_says_which_extras_a_run_needs(tmp_path, capsys, text, more, needed):
    path = tmp_path / "strategies.yaml"
    path.write_text(text)
    assert main(["strategies", "--needs", "--strategies-file", str(path), *more]) == 0
    assert capsys.readouterr().out == f"{needed}\n"
    if more:
        assert main(["strategies", "--strategies-file", str(path), *more]) == 2
