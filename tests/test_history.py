"""A record over time, from real git and from folders: each version a line, whatever it holds; the page and the badge of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from handmade import DOCUMENTS, PAGE, hits, reference, results

from docmind.cli import main
from docmind.errors import IncompleteError, UsageError
from docmind.evaluation.gate.history import Version, points
from docmind.evaluation.record.instrument import document_hashes
from docmind.evaluation.record.writing import dumps
from docmind.evaluation.reports import badge, history
from docmind.runs.history import committed, kept

NAME = "s+a"
BAD = '<img src=x onerror=alert(1)> & "x" \x1b[31m\u202e'


def record(n=60, lost=0, gained=0, **more):
    return reference({NAME: hits(n, lost, gained), "t+b": hits(40)}, **more)


class Repository:
    """A git repository whose commits are made one after another."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        plain = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_COMMITTER_DATE": "2026-03-01T12:00:00Z",
        }
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=self.root, env=os.environ | plain, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, text: str | None, said: str, name: str = "results/baseline.json") -> str:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", said)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    made = Repository(tmp_path / "project")
    (made.root / "eval").mkdir()
    (made.root / "eval" / "thresholds.yaml").write_text(
        f"production: {NAME}\nmin_hit_at_3: 0.5\nmax_regression_pp: 3\n"
    )
    monkeypatch.chdir(made.root)
    return made


def told(found):
    return list(points(found.versions, NAME))


def test_each_commit_of_the_baseline_is_a_line_against_the_one_before(repository):
    first = repository.commit(dumps(record()), "First")
    repository.commit(dumps(record()), "Something else", "other.json")
    repository.commit(dumps(record(60, 5, 2)), "A loss")
    repository.git("mv", "results/baseline.json", "results/reference.json")
    repository.git("commit", "-q", "-m", "Rename it")
    found = told(committed(repository.root / "results" / "reference.json"))
    assert [point.told for point in found] == ["First", "A loss", "Rename it"]
    assert found[0].name == first[:9]
    assert {point.when for point in found} == {"2026-03-01"}
    assert [point.questions for point in found] == [100, 100, 100]
    assert found[0].change is None
    change = found[1].change
    assert (change.n, change.before, change.after, len(change.lost), len(change.gained)) == (100, 60, 57, 5, 2)
    assert [(len(point.change.lost), point.differs) for point in found[1:]] == [(5, ()), (0, ())]


def test_a_merge_is_one_version_of_the_branch(repository):
    repository.commit(dumps(record()), "First")
    repository.git("checkout", "-q", "-b", "work")
    repository.commit(dumps(record(60, 9)), "Half way")
    repository.commit(dumps(record(60, 1)), "Done")
    repository.git("checkout", "-q", "main")
    repository.commit("x", "Meanwhile", "other.txt")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge work", "work")
    found = told(committed(repository.root / "results" / "baseline.json"))
    assert [(p.told, p.change and len(p.change.lost)) for p in found] == [("First", None), ("Merge work", 1)]


def test_what_cannot_be_read_is_a_line_that_says_so(repository, capsys):
    text = dumps(record())
    repository.commit(text, "Whole")
    repository.commit(text.replace("docmind.baseline/2", "docmind.baseline/1"), "Old")
    repository.commit(text[:500], "Cut")
    repository.commit(text.replace('"covered": 0.8', '"covered": 0.9'), "Edited")
    repository.commit("[1]", "Another thing")
    repository.commit(None, "Gone")
    repository.commit(dumps(reference({"t+b": hits(40)})), "Without it")
    repository.commit(dumps(record(60, 2)), "Whole again")
    found = told(committed(Path("results/baseline.json")))
    faults = [point.fault for point in found]
    for fault, expected in zip(
        faults,
        ["", "it is a docmind.baseline/1, of an earlier version", "is not whole JSON", "checksum: is of other contents",
         "it is no record of a run", "is not in this commit", "s+a was not scored; there are: t+b", ""],
        strict=True,
    ):  # fmt: skip
        assert expected in fault
        assert bool(fault) == bool(expected)
    assert len(found[-1].change.lost) == 2  # against the last that has figures
    assert main(["history"]) == 0
    said = capsys.readouterr().out
    assert len(re.findall(r"^2026-03-01 [0-9a-f]{9} ", said, re.MULTILINE)) == 8
    assert "Cut; no figures: it is not whole JSON" in said


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        ({"pages": {"page.md": "p2"}}, ("corpus",)),
        ({"asked": {"q0001": "another"}}, ("key",)),
        ({"gold_rule": {"covered": 0.9, "code": "r" * 64}}, ("gold rule",)),
        ({"treatment": {"chunkers": 3}}, ()),
    ],
)
def test_what_was_measured_with_is_marked_and_only_that(more, parts):
    versions = [Version("2026-01-01", "a", "", record()), Version("2026-01-02", "b", "", record(60, 3, **more))]
    _, after = points(versions, NAME)
    assert after.parts == parts
    expected = {("gold rule",): None, ("key",): 2}.get(parts, 3)  # of three lost, q0001 is another question now
    assert (after.change and len(after.change.lost)) == expected


def test_a_question_that_ended_in_an_error_leaves_no_figures():
    found = results({NAME: {**hits(60), "q0099": "it broke"}})
    [point] = points([Version("2026-01-01", "a", "", found)], NAME)
    assert (point.figures, point.fault) == ({}, "1 of its questions ended in an error")


def test_a_shallow_clone_is_told(repository, tmp_path, monkeypatch, capsys):
    repository.commit(dumps(record()), "First")
    repository.commit(dumps(record(60, 2)), "Second")
    repository.git("clone", "-q", "--depth", "1", repository.root.as_uri(), str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    assert main(["history", "--strategy", NAME]) == 0
    shown = capsys.readouterr()
    assert "1 version from" in shown.out
    assert "git fetch --unshallow" in shown.err


def test_where_there_is_no_history_it_says_why(repository, tmp_path, monkeypatch, capsys):
    repository.commit("x", "First", "other.txt")
    assert main(["history", "--baseline", "nowhere/baseline.json"]) == 3
    assert "no commit on this branch has this file" in capsys.readouterr().err
    assert main(["history", "--baseline", ":(glob)*"]) == 3
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    assert main(["history", "--strategy", NAME]) == 2
    assert "not a git repository" in capsys.readouterr().err
    assert main(["history", "nowhere", "--strategy", NAME]) == 2
    assert main(["history", ".", "--strategy", NAME]) == 3


def test_odd_settings_of_git_change_nothing(repository):
    repository.commit(dumps(record()), "Grüße, \x02 tab\tand more")
    for setting in (
        "color.ui=always",
        "log.showSignature=true",
        "diff.relative=true",
        "i18n.logOutputEncoding=latin1",
        "diff.noprefix=true",
    ):
        repository.git("config", *setting.split("="))
    [point] = told(committed(repository.root / "results" / "baseline.json"))
    assert (point.told, point.fault) == ("Grüße, \x02 tab\tand more", "")


def test_a_folder_of_runs_is_told_by_the_time_of_its_files(tmp_path):
    for day, (name, text) in enumerate(
        {
            "b/latest.json": dumps(results({NAME: hits(60)})),
            "a/latest.json": dumps(results({NAME: hits(60, 4)})),
            "a/timings.json": "{}",
            "a/answers.json": json.dumps({"schema": "docmind.answers/1"}),
            "cut.json": dumps(record())[:90],
            "baseline.json": dumps(record(60, 1)),
        }.items(),
        start=1,
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, (86_400 * day, 86_400 * day))
    found = told(kept(tmp_path))
    assert [(p.when, p.name, bool(p.fault)) for p in found] == [
        ("1970-01-02", "b/latest.json", False),
        ("1970-01-03", "a/latest.json", False),
        ("1970-01-06", "cut.json", True),
        ("1970-01-07", "baseline.json", False),
    ]
    assert [p.change and (len(p.change.lost), len(p.change.gained)) for p in found] == [None, (4, 0), None, (0, 3)]


def some(n=30):
    """A version a day, of which the seventh cannot be read, on a corpus that changes every ninth."""
    versions = [
        Version(f"2026-01-{day:02}", f"{day:09x}", BAD, record(60, day % 3, pages={"page.md": str(day // 9)}))
        for day in range(1, n + 1)
    ]
    versions[6] = Version("2026-01-07", "7", BAD, None, "cut")
    return list(points(versions, NAME))


def test_the_page_stands_alone_tells_all_and_runs_nothing(tmp_path):
    page = history.html(some(), NAME, BAD, [BAD])
    assert page == history.html(some(), NAME, BAD, [BAD])
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)=\"(?!data:,)", page)
    [svg] = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    drawn = ET.fromstring(svg)
    assert drawn.get("role") == "img"
    title, described = (drawn.find(name) for name in ("title", "desc"))
    assert drawn.get("aria-labelledby").split() == [title.get("id"), described.get("id")]
    assert described.text.startswith("29 versions from 2026-01-01 to 2026-01-30: Hit@3 from 50.0 to 50.0")
    assert "3 times the key, the corpus or the metrics were changed" in described.text
    assert len(drawn.findall(".//circle")) == 29  # of hit@3, the one metric that these records have
    assert len(drawn.findall(".//path[@class='break']")) == 3
    assert page.count('<th scope="row">2026-01-') == 30


def test_the_names_of_the_lines_stand_apart_and_within_the_chart():
    for wanted in ([12, 12, 12], [232, 232, 231], [100, 105, 101], [50, 200, 51]):
        places = history._apart(wanted)
        rising = sorted(places)
        assert all(b - a >= 13 - 1e-9 for a, b in pairwise(rising))
        assert rising[0] >= history.TOP
        assert rising[-1] <= history.BOTTOM
    assert history._apart([50, 200]) == [50, 200]


def test_a_history_without_any_figure_has_a_page_too():
    page = history.html(list(points([Version("2026-01-01", "a", "x", None, "cut")], NAME)), NAME, "b.json")
    assert "No version has figures of this strategy. 1 version without figures" in page
    assert "<svg" not in page


@pytest.mark.parametrize(
    ("floor", "colour"),
    [(Fraction(60, 100), badge.GREEN), (Fraction(601, 1000), badge.RED), (None, badge.GREY)],
)
def test_the_badge_is_green_from_the_floor_on(floor, colour):
    # Sixty of a hundred are hits, whatever the rounded figure beside them says.
    drawn = ET.fromstring(badge.badge(record(60), NAME, "hit@3", floor))
    space = "{http://www.w3.org/2000/svg}"
    assert drawn.find(f"{space}rect").get("fill") == colour
    assert [text.text for text in drawn.iter(f"{space}text")] == ["retrieval", "Hit@3 50.0 %"]
    assert drawn.get("aria-label") == "retrieval: Hit@3 50.0 %"


def test_the_badge_is_valid_and_inert_for_any_name():
    found = reference({BAD: hits(3)})
    drawn = badge.badge(found, BAD, "hit@3", None)
    assert "<img" not in drawn
    title = ET.fromstring(drawn).find("{http://www.w3.org/2000/svg}title").text
    assert '<img src=x onerror=alert(1)> & "x" \ufffd[31m\ufffd, 100 questions' in title


def test_the_texts_of_the_badge_are_within_it():
    drawn = ET.fromstring(badge.badge(record(), NAME, "hit@3", None))
    space = "{http://www.w3.org/2000/svg}"
    left, right = drawn.iter(f"{space}text")
    end = float(left.get("x")) + float(left.get("textLength"))
    assert end + 2 * badge.PADDING == pytest.approx(float(right.get("x")))
    assert float(right.get("x")) + float(right.get("textLength")) + badge.PADDING == pytest.approx(
        float(drawn.get("width"))
    )
    assert badge.width("%") == badge.width("漢") > badge.width("i")


def test_a_badge_of_no_figure_is_none():
    with pytest.raises(IncompleteError, match="1 question ended in an error"):
        badge.badge(results({NAME: {"q1": "it broke", "q2": 1}}), NAME, "hit@3", None)
    with pytest.raises(UsageError, match="unknown metric 'hit@4'"):
        badge.badge(record(), NAME, "hit@4", None)


def test_the_commands_write_their_files(repository, capsys):
    repository.commit(dumps(record()), "First")
    assert main(["badge", "--out", "docs/badge.svg"]) == 0
    assert badge.GREEN in (repository.root / "docs" / "badge.svg").read_text()
    assert main(["badge", "--out", "docs/badge.svg", "--strategy", "t+b"]) == 0
    assert badge.GREY in (repository.root / "docs" / "badge.svg").read_text()  # the floor is the production strategy's
    assert main(["history", "--html", "docs/history.html"]) == 0
    assert "Retrieval over time" in (repository.root / "docs" / "history.html").read_text()
    assert main(["badge", "--out", "b.svg", "--strategy", "x+y"]) == 2
    assert "unknown strategy of this run" in capsys.readouterr().err


def test_diff_writes_a_page_with_what_is_at_hand(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pages = document_hashes(DOCUMENTS.values())
    Path("a.json").write_text(dumps(results({NAME: hits(60)}, pages=pages)))
    Path("b.json").write_text(dumps(results({NAME: hits(60, 2)}, pages=pages)))
    Path("docs").mkdir()
    Path("docs/page.md").write_text(PAGE)
    line = {"id": "q0000", "question": "Which digits?", "source": "moved.md", "evidence": "no longer there"}
    Path("key.jsonl").write_text(json.dumps(line))
    assert main(["diff", "a.json", "b.json"]) == 0
    plain = capsys.readouterr().out
    assert main(["diff", "a.json", "b.json", "--html", "x.html", "--corpus", "docs", "--questions", "key.jsonl"]) == 0
    assert capsys.readouterr().out == plain + "Written to x.html.\n"
    shown = Path("x.html").read_text()
    for told in ("Which digits?", "Gold, in moved.md", "no longer there", '<p class="passage">0123456789</p>', "q0001"):
        assert told in shown
    assert main(["diff", "a.json", "b.json", "--corpus", "docs"]) == 2
    assert "Name its file: --html FILE" in capsys.readouterr().err
