"""Strategies as data through the command: specs in every report, a file of one's own, what is gated and what is not."""

from __future__ import annotations

import pytest
from workplace import Workplace

from docmind.spec import slug

SPEC = "headers(size=300)+rerank(depth=100)"


@pytest.fixture
def place(corpus, tmp_path) -> Workplace:
    made = Workplace(tmp_path)
    from workplace import QUESTIONS

    made.ask(*QUESTIONS)
    return made


def thresholds(place: Workplace, production: str) -> list[str]:
    path = place.root / "thresholds.yaml"
    path.write_text(f"production: {production}\nmin_hit_at_3: 0\nmax_regression_pp: 3\n")
    return ["--thresholds", str(path)]


def strategies(place: Workplace, text: str) -> list[str]:
    path = place.root / "strategies.yaml"
    path.write_text(text)
    return ["--strategies-file", str(path)]


def test_a_spec_stands_in_every_report_and_its_files_are_named_by_a_slug(place, capsys):
    assert place.eval("--strategies", f" {SPEC} , headers+bm25") == 0
    assert list(place.results()["strategies"]) == [SPEC, "headers+bm25"]
    assert SPEC in capsys.readouterr().out
    for name in ("latest.md", "latest.html", "latest.junit.xml"):
        text = (place.out / name).read_text()
        assert SPEC in text or SPEC.replace("(", "&#40;") in text, name
    files = {path.name for path in place.out.iterdir()}
    for name in (SPEC, "headers+bm25"):
        assert {f"latest.{slug(name)}.run", f"latest.{slug(name)}.qrels"} <= files
    assert place.eval("--strategies", "headers+bm25") == 0
    assert f"latest.{slug(SPEC)}.run" not in {path.name for path in place.out.iterdir()}, "of an earlier run"


def test_metrics_are_asked_for_by_name(place, capsys):
    assert place.eval("--strategies", "headers+bm25", "--metrics", "recall@50,full@2") == 0
    assert {"recall@50", "full@2", "hit@3"} <= set(place.results()["strategies"]["headers+bm25"]["metrics"])
    assert "recall@50" in (place.out / "latest.md").read_text()
    capsys.readouterr()
    assert place.eval("--strategies", "headers+rerank", "--metrics", "recall@100") == 2
    assert "recall@100 needs 100 hits, and the list of headers+rerank ends at its depth 20" in capsys.readouterr().err
    assert place.eval("--strategies", "headers+rerank(depth=100)", "--metrics", "recall@100") == 0
    assert place.eval("--strategies", "headers+bm25", "--metrics", "recal@5") == 2
    assert "Did you mean 'recall@k'?" in capsys.readouterr().err


def test_of_a_list_that_ends_sooner_than_the_tables_look_no_figure_is_made_up(place):
    assert place.eval("--strategies", "headers+rerank(depth=4),headers+bm25") == 0
    short, long = place.results()["strategies"].values()
    assert {name for name, value in short["metrics"].items() if value is not None} == {"hit@1", "hit@3", "full@3"}
    assert None not in long["metrics"].values()
    rows = (place.out / "latest.md").read_text().splitlines()
    assert "| – |" in next(row for row in rows if row.startswith("| headers+rerank(depth=4) |"))


def test_the_matrix_and_the_names_of_a_file_are_scored_and_a_baseline_wants_them_all(place, capsys):
    file = strategies(
        place, "matrix: [headers+bm25, ours]\nstrategies: {ours: headers(size=300)+bm25_stem, extra: headers+mmr}\n"
    )
    assert place.eval(*file, "--save-baseline") == 0
    assert list(place.results()["strategies"]) == ["headers+bm25", "ours"]
    assert (place.out / "latest.ours.run").exists()
    assert place.eval(*file, "--save-baseline", "--strategies", "ours") == 2
    assert "--save-baseline needs the whole matrix" in capsys.readouterr().err
    assert place.eval(*file, "--strategies", "ours,extra") == 0
    assert list(place.results()["strategies"]) == ["ours", "extra"]


LOSES = "fuse(bm25,vector,weights=0.001:1000,depth=1)"
"""Ends at one hit, of vectors alone, so that what stands second is lost."""


def losing(place: Workplace, gate: str) -> tuple[int, list[str]]:
    """The code of a check in which `ours`, and it alone, has become `headers+…` of one hit."""
    before = strategies(place, f"matrix: [headers+bm25, ours]\n{gate}strategies: {{ours: headers+rerank}}\n")
    held = [*thresholds(place, "headers+bm25"), "--baseline", str(place.root / "baseline.json")]
    assert place.eval(*before, "--save-baseline") == 0
    (place.out / "baseline.json").rename(place.root / "baseline.json")
    after = strategies(
        place, f"matrix: [headers+bm25, ours]\n{gate}strategies: {{ours: 'fixed(size=16,overlap=0)+{LOSES}'}}\n"
    )
    return place.eval(*after, "--check", *held), held


def test_a_loss_of_what_is_gated_fails_and_of_what_is_not_is_for_information(place, capsys):
    code, _ = losing(place, "")
    said = capsys.readouterr().err
    assert code == 1, said
    assert "FAIL: regression: ours lost" in said
    code, _ = losing(place, "gate: [headers+bm25]\n")
    said = capsys.readouterr().err
    assert code == 0, said
    assert "for information: ours lost" in said
    assert "for information" in (place.out / "latest.comment.md").read_text()
    assert '"failures": "0"' not in said


def test_production_may_be_a_name_of_the_file(place):
    file = strategies(place, "strategies: {ours: headers+bm25}\n")
    assert place.eval(*file, "--save-baseline") == 0
    (place.out / "baseline.json").rename(place.root / "baseline.json")
    held = [*thresholds(place, "ours"), "--baseline", str(place.root / "baseline.json")]
    assert place.eval(*file, "--check", *held) == 0
    assert place.eval(*file, "--check", *thresholds(place, "others"), *held[2:]) == 2


def test_a_baseline_of_the_first_form_is_refused_with_the_command_that_makes_a_new_one(place, capsys):
    (place.root / "baseline.json").write_text('{"schema": "docmind.baseline/1", "strategies": {}}')
    held = [*thresholds(place, "headers+bm25"), "--baseline", str(place.root / "baseline.json")]
    assert place.eval("--strategies", "headers+bm25", "--check", *held) == 2
    said = capsys.readouterr().err
    assert "docmind.baseline/1" in said
    assert "docmind eval --save-baseline" in said
    assert not (place.out / "latest.json").exists()
