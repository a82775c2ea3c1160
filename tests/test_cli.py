"""What the command says of bad input, and how it ends: an exit code, a message with a remedy, nothing half-written."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from workplace import QUESTIONS, Workplace, disk

import docmind.cli
from docmind.chunking import CHUNKERS
from docmind.evaluation.reports import REPORTS
from docmind.models import Models, wheel
from docmind.models.minilm import OnnxEmbedder
from docmind.retrieval import MODES

LEXICAL = ("--strategies", "headers+bm25")
"""The strategy that needs no vector."""

Damage = Callable[[Workplace], object]


@pytest.fixture
def place(tmp_path: Path, corpus: Path) -> Workplace:
    """With results of an earlier run, which a failed one must leave alone."""
    place = Workplace(tmp_path)
    place.ask(*QUESTIONS)
    place.out.mkdir()
    (place.out / "latest.json").write_text("as before")
    return place


def left_alone(place: Workplace) -> bool:
    """Whether the results are as before, and no other file stands beside them."""
    return [path.name for path in place.out.iterdir()] == ["latest.json"] and place.bytes() == b"as before"


def test_the_version_is_told(capsys):
    assert docmind.cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"docmind {docmind.__version__}\n"


def nothing_built(place: Workplace) -> bool:
    """Whether there is no index and no vector. What was read of the documents may be kept."""
    return not place.index_dir.exists() or all(path.name.startswith("kept.") for path in place.index_dir.iterdir())


def page(name: str, content: str | bytes) -> Damage:
    return lambda place: (place.corpus / name).write_bytes(content.encode() if isinstance(content, str) else content)


def huge(place: Workplace) -> None:
    with (place.corpus / "pay.md").open("wb") as file:
        file.truncate(50_000_000)


def asking(*questions: object) -> Damage:
    return lambda place: place.ask(*questions)


def beside(name: str) -> Damage:
    """A file of that name is there, and is the source of a question."""

    def damage(place: Workplace) -> None:
        (place.corpus / name).write_text("25 days of annual leave")
        place.ask(QUESTIONS[0] | {"source": name})

    return damage


def without(field: str) -> dict:
    return {key: value for key, value in QUESTIONS[0].items() if key != field}


CORPUS: list[tuple[str, Damage, list[str]]] = [
    ("no such folder", lambda p: shutil.rmtree(p.corpus), ["corpus does not exist", "--corpus DIR"]),
    ("a file", lambda p: (shutil.rmtree(p.corpus), p.corpus.write_text("")), ["is no folder", "--corpus DIR"]),
    ("no pages", lambda p: (shutil.rmtree(p.corpus), p.corpus.mkdir()), ["holds no pages", "--corpus DIR"]),
    ("not UTF-8", page("pay.md", b"# Pay\n\xff"), ["pay.md:2: byte 0xff at offset 6 is not UTF-8", "Save the page"]),
    ("50 MB", huge, ["pay.md has 50,000,000 bytes; a page may have 10,000,000", "Split it"]),
    ("no YAML", page("pay.md", "---\ntitle: a\nnote: b: c\n---\nx"), ["pay.md:3: the front matter is no YAML", "quotes"]),
    ("a link to itself", lambda p: (p.corpus / "x.md").symlink_to("x.md"), ["x.md is a link that leads back to itself"]),
    ("two faults", lambda p: (page("pay.md", b"\xff")(p), page("leave.md", "---\na: [\n---\n")(p)),
     ["faults in the documents: 2", "pay.md:1: ", "leave.md:", "leave it out: --exclude leave.md --exclude pay.md"]),
    ("a circle", lambda p: (p.corpus / "travel" / "up").symlink_to(p.corpus), ["a circle", "leave it out: --exclude travel/up"]),
]  # fmt: skip

KEY: list[tuple[str, Damage, int, list[str]]] = [
    ("no file", lambda p: p.questions.unlink(), 2, ["cannot be read", "--questions"]),
    ("not JSON", asking(QUESTIONS[0], "{'id': 1}"), 2, ["questions.jsonl:2: ", "is not JSON", "one JSON object a line"]),
    ("no object", asking("[]"), 2, ["questions.jsonl:1: [] is no JSON object"]),
    ("no id", asking(without("id")), 2, ["questions.jsonl:1: 'id' is missing"]),
    ("no question", asking(without("question")), 2, ["questions.jsonl:1: q1: 'question' is missing"]),
    ("no evidence", asking(without("evidence")), 2, ["q1: 'evidence' is missing", "null if the question cannot"]),
    ("a repeated id", asking(QUESTIONS[0], "", QUESTIONS[0]), 2, ["questions.jsonl:3: q1: ", "stands in line 1 already"]),
    ("an unknown source", asking(QUESTIONS[0] | {"source": "leve.md"}), 2, ["unknown source 'leve.md'", "'leave.md'"]),
    ("a repeated key", asking('{"id": "q1", "question": "Who?", "source": "pay.md", "evidence": "a", "source": null}'), 2,
     ["questions.jsonl:1: ", "the key 'source' stands twice"]),
    ("evidence of marks alone", asking(QUESTIONS[0] | {"evidence": " . "}), 2, ["q1: ", "holds no letter and no digit"]),
    ("a source that is left out", beside("README.md"), 2, ["unknown source 'README.md': it is left out, since it tells of"]),
    ("a source that is not read", beside("leave.rst"), 2, ["unknown source 'leave.rst': it is there, but .rst is not read; .md"]),
    ("evidence not there", asking(QUESTIONS[0] | {"evidence": "28 days of annual leave"}), 2,
     ["questions.jsonl:1: q1: ", "'28 days of annual leave' is not in leave.md", "25 days of annual leave"]),
    ("every fault", asking(without("id"), QUESTIONS[1] | {"id": ""}), 2, ["faults in the answer key: 2", "jsonl:1", "jsonl:2"]),
    ("an empty file", asking(), 3, ["holds no question"]),
    ("blank lines", asking("", " "), 3, ["holds no question"]),
    ("no gold at all", asking(QUESTIONS[4]), 3, ["none of 1 questions has gold", "Add answerable questions"]),
]  # fmt: skip

OPTIONS: list[tuple[list[str], int, list[str]]] = [
    (["--strategies", "headers_rerank"], 2, ["unknown strategy 'headers_rerank'", "s0_original", "CHUNKER+MODE"]),
    (["--strategies", "header+rerank"], 2, ["unknown chunker 'header'", "Did you mean 'headers'?", *CHUNKERS]),
    (["--strategies", "headers+bm52"], 2, ["unknown mode 'bm52'", "Did you mean 'bm25'?", *MODES]),
    (["--strategies", " , "], 2, ["names none", "headers+rerank"]),
    (["--profile", "tiny"], 2, ["--profile", "tiny", "default", "hub"]),
    (["--no-such-option"], 2, ["No such option", "--no-such-option"]),
    (["--type", "rhyme"], 3, ["no question is left by the filter", "direct, paraphrase, unanswerable"]),
    (["--id", "q9"], 3, ["no question is left by the filter"]),
    (["--id", "q1", "--id", "q9"], 2, ["no question has the id 'q9'"]),
    (["--type", "unanswerable"], 3, ["has gold", "widen the filter"]),
    (["--save-baseline", "--type", "direct"], 2, ["--save-baseline needs the whole matrix and every question"]),
    (["--save-baseline", "--id", "q1"], 2, ["--save-baseline needs the whole matrix and every question"]),
    (["--save-baseline", "--strategies", "s0_original"], 2, ["--save-baseline needs the whole matrix"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("damage", "options", "code", "parts"),
    [
        *(pytest.param(damage, [], 2, parts, id=f"corpus: {name}") for name, damage, parts in CORPUS),
        *(pytest.param(damage, [], code, parts, id=f"key: {name}") for name, damage, code, parts in KEY),
        *(pytest.param(None, options, code, parts, id=" ".join(options)) for options, code, parts in OPTIONS),
    ],
)
def test_bad_input_is_told_before_anything_is_written(place, capsys, damage, options, code, parts):
    if damage:
        damage(place)
    assert place.eval(*options) == code
    shown = capsys.readouterr()
    for part in parts:
        assert part in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""
    assert left_alone(place)
    assert nothing_built(place)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("option", ["--questions", "--thresholds", "--strategies-file", "--baseline"])
def test_a_device_is_no_file_to_read(place, capsys, option):
    options = [] if option in ("--questions", "--strategies-file") else ["--check"]
    assert place.eval(*LEXICAL, *options, option, "/dev/full") == 2
    message = capsys.readouterr().err
    assert "/dev/full: " in message
    assert "a device or a pipe" in message


@pytest.mark.parametrize(("damage", "parts"), [(damage, parts) for _, damage, parts in CORPUS])
def test_the_index_command_tells_the_same_of_the_corpus(place, capsys, damage, parts):
    damage(place)
    assert place.index() == 2
    assert all(part in capsys.readouterr().err for part in parts[:1])
    assert nothing_built(place)


def test_the_index_command_lists_the_chunkers_for_an_unknown_one(place, capsys):
    assert place.index("headers", "heders") == 2
    message = capsys.readouterr().err
    assert all(name in message for name in ("unknown chunker 'heders'", "Did you mean 'headers'?", *CHUNKERS))
    assert not place.index_dir.exists()


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "the page holds no text"),
        ("# More\n\ntext {{< note\n", 3, "a shortcode opened by {{< is never closed"),
        ("---\ntitle: More\ntext\n", 1, "front matter is opened by --- and never closed"),
    ],
)
def test_what_looks_unfinished_is_accepted_with_file_and_line(place, caplog, content, line, message):
    page("more.md", content)(place)
    with caplog.at_level(logging.WARNING):
        assert place.eval(*LEXICAL) == 0
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{place.corpus / 'more.md'}:{line}: {message}")
    assert not left_alone(place)


def test_a_line_of_a_megabyte_is_accepted_in_silence(place, caplog):
    page("more.md", "word " * 200_000)(place)
    assert place.eval(*LEXICAL) == 0
    assert not caplog.records


def test_a_warning_stands_on_one_line_of_stderr_and_says_nothing_on_stdout(place):
    folder = place.corpus / "a-folder-with-a-name" / "so-long-that-the-path" / "is-wider-than-a-terminal"
    folder.mkdir(parents=True)
    (folder / "more.md").write_text("")
    done = place.process("eval", *LEXICAL, "--quiet")
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr == f"warning: {folder / 'more.md'}:1: the page holds no text; there is nothing in it to find.\n"


def test_a_type_is_shown_as_it_is_written(place, capsys):
    place.ask(QUESTIONS[0] | {"type": "[/red]:smile:"})
    assert place.eval(*LEXICAL) == 0
    assert "[/red]:smile:" in re.sub(r"[^\S\n]+", " ", capsys.readouterr().out)


def test_wrong_evidence_is_told_in_part_where_it_is_long(place, capsys):
    place.ask(QUESTIONS[0] | {"evidence": "words " * 20_000})
    assert place.eval(*LEXICAL) == 2
    assert len(capsys.readouterr().err) < 2_000


def test_results_inside_the_corpus_are_refused_since_they_would_be_indexed(place, capsys):
    assert place.eval(*LEXICAL, "--out", str(place.corpus / "results")) == 2
    assert "lies in the corpus" in capsys.readouterr().err
    assert not (place.corpus / "results").exists()


def test_a_name_that_is_not_utf8_is_told_or_read_but_ends_in_no_traceback(place, capsys):
    try:
        (place.corpus / os.fsdecode(b"caf\xe9.md")).write_text("# Café\n\nOpen at nine.\n")
    except OSError as error:
        pytest.skip(f"this file system refuses the name: {error}")
    code = place.eval(*LEXICAL)
    message = capsys.readouterr().err
    assert code in (0, 2)
    assert "Traceback" not in message
    assert left_alone(place) == (code == 2)


@pytest.mark.parametrize("blocked", ["--out", "--index-dir"])
def test_a_file_in_the_way_is_told_with_the_remedy(place, capsys, blocked):
    in_the_way = place.root / "in-the-way"
    in_the_way.write_text("a file")
    assert place.eval("--strategies", "headers+vector", blocked, str(in_the_way)) == 2
    message = capsys.readouterr().err
    assert str(in_the_way) in message
    assert "name another" in message
    assert "Traceback" not in message
    assert in_the_way.read_text() == "a file"
    assert left_alone(place)


@pytest.mark.parametrize(
    ("option", "space"),
    [
        ("--out", "4k"),
        ("--index-dir", "40k"),  # the vector cache does not fit
        ("--index-dir", "200k"),  # nor Chroma's tables
        ("--index-dir", "360k"),  # nor what it stores of the chunks
        ("--index-dir", "440k"),  # nor its graph
    ],
)
def test_a_full_disk_is_told_with_the_remedy(place, capsys, option, space):
    small = place.root / "small"
    with disk(small, f"size={space}"):
        assert place.eval("--strategies", "headers+vector", option, str(small)) == 2
        message = capsys.readouterr().err
        assert "Traceback" not in message
        assert str(small) in message
        assert re.search(r"free (disk )?space", message, re.IGNORECASE)
        assert not [
            path.name for path in small.iterdir() if not path.name.startswith(("vectors.sqlite3", "kept.sqlite3"))
        ]
    assert left_alone(place)


# Reports of an earlier run


REPORTED = sorted(name for report in REPORTS.values() for name in report.names(["headers+bm25", "gone+bm25"]))


@pytest.fixture
def reported(place: Workplace) -> Workplace:
    """With the reports of a run that passed, and a record whose strategies they tell of."""
    for name in REPORTED:
        (place.out / name).write_text("passed")
    (place.out / "latest.json").write_text('{"strategies": {"headers+bm25": {}, "gone+bm25": {}}}')
    (place.out / "latest.answers.jsonl").write_text("what was paid")
    return place


def raising(error: BaseException) -> Callable[..., None]:
    def end(*_: object, **__: object) -> None:
        raise error

    return end


@pytest.mark.parametrize(
    ("options", "stage", "code"),
    [
        (["--strategies", "none"], None, 2),
        (["--check", "--thresholds", "gone.yaml"], None, 2),
        (["--check", "--baseline", "gone.json"], None, 3),
        (["--strategies-file", "gone.yaml"], None, 2),
        (["--corpus", "gone"], None, 2),
        (["--questions", "gone"], None, 2),
        (["--type", "rhyme"], None, 3),
        ([], "docmind.runs.evaluating.score", 2),
        ([], "docmind.runs.saving.dumps", 2),
    ],
)
def test_a_run_without_a_verdict_leaves_no_report_of_another(reported, monkeypatch, options, stage, code):
    if stage:
        monkeypatch.setattr(stage, raising(BaseException("a panic")))
    assert reported.eval(*LEXICAL, *options) == code
    told = ["latest.annotations.txt", "latest.comment.md", "latest.outputs.txt"] if "--check" in options else []
    assert sorted(path.name for path in reported.out.iterdir()) == sorted(
        [*told, "latest.answers.jsonl", "latest.json"]
    )
    for name in told:
        assert "passed" not in (reported.out / name).read_text(encoding="utf-8")


def test_reports_in_a_corpus_are_not_taken_for_those_of_a_run(reported):
    (reported.corpus / "latest.md").write_text("# The latest\n")
    assert reported.eval(*LEXICAL, "--out", str(reported.corpus)) == 2
    assert (reported.corpus / "latest.md").exists()


def test_of_a_run_that_is_killed_while_it_saves_no_report_stands_beside_one_of_another(reported, monkeypatch):
    """Told by their contents, wherever between two files it is killed."""
    monkeypatch.setattr("docmind.cli.evaluate.clear", lambda _: None)  # as where another program saves
    before = {name: (reported.out / name).read_bytes() for name in [*REPORTED, "latest.json"]}
    replace, unlink = Path.replace, Path.unlink
    for last in range(40):
        for name, data in before.items():
            (reported.out / name).write_bytes(data)
        left = iter(range(last))

        def until_killed(work, path, *more, left=left, **options):
            if reported.out in (path.parent, *path.parents) and next(left, None) is None:
                raise KeyboardInterrupt
            return work(path, *more, **options)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", lambda *a, **k: until_killed(replace, *a, **k))
            patch.setattr(Path, "unlink", lambda *a, **k: until_killed(unlink, *a, **k))
            if reported.eval(*LEXICAL, "--quiet") == 0:
                break
        there = {path.name: path.read_bytes() for path in reported.out.glob("latest.[!a]*")}
        old = [name for name in REPORTED if there.get(name) == b"passed"]
        new = [name for name in REPORTED if name in there and name not in old]
        assert not (old and new)
        assert not new or there["latest.json"] != before["latest.json"], "they are of the record beside them"
    assert last > 20


@pytest.mark.parametrize("option", ["--out", "--index-dir"])
def test_a_read_only_folder_is_told_with_the_remedy(place, capsys, option):
    sealed = place.root / "sealed"
    with disk(sealed, "ro"):
        assert place.eval("--strategies", "headers+vector", option, str(sealed)) == 2
        message = capsys.readouterr().err
    assert "Traceback" not in message
    assert str(sealed) in message
    assert "name another" in message
    assert left_alone(place)


def test_what_is_built_can_be_used_where_nothing_can_be_written(place, capsys):
    sealed = place.root / "sealed"
    with disk(sealed, "size=20m"):
        options = ("--strategies", "headers+vector,semantic+bm25", "--index-dir", str(sealed))
        assert place.eval(*options) == 0
        first = place.bytes()
        subprocess.run(["mount", "-o", "remount,ro", sealed], check=True)
        capsys.readouterr()
        assert place.eval(*options) == 0
        assert place.bytes() == first
        assert "warning" not in capsys.readouterr().err
        with (place.corpus / "pay.md").open("a") as file:
            file.write("\nMore of it.\n")
        assert place.eval(*options) == 2
        message = capsys.readouterr().err
    assert "Traceback" not in message
    assert "--index-dir" in message


def test_what_another_user_built_can_be_used(place):
    """Who may read it and write nothing. The process becomes that user once it has everything imported."""
    if not hasattr(os, "geteuid") or os.geteuid():
        pytest.skip("only root can become another user")
    code = (
        "import os, sys; from docmind.cli import main; code = main()\n"
        "if not code: os.setgid(65534); os.setuid(65534); code = main()\n"
        "sys.exit(code)"
    )
    command = [sys.executable, "-c", code, *place.arguments("eval", "--strategies", "headers+vector,semantic+bm25")]
    place.out.chmod(0o777)
    (place.out / "latest.json").chmod(0o666)
    for folder in (place.root, *place.root.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o011)
    env = os.environ | {"TMPDIR": "/tmp"}
    done = subprocess.run(command, cwd=place.root, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "warning" in done.stderr) == (0, False), done.stderr
    assert done.stderr.endswith("headers: 5 chunks, index found\n")
    assert place.results()["strategies"]


def test_an_altered_model_file_is_refused(place, capsys, monkeypatch):
    monkeypatch.setitem(wheel.SHA256, "onnx/model.onnx", "0" * 64)
    monkeypatch.setattr("docmind.runs.retrieval.load_models", lambda profile: Models(OnnxEmbedder(), None))
    assert place.eval("--strategies", "headers+vector") == 2
    message = capsys.readouterr().err
    assert "was altered" in message
    assert "pip install --force-reinstall" in message
    assert left_alone(place)


def test_a_fault_of_docmind_ends_with_2_and_a_traceback(place, capsys, monkeypatch):
    def fault(*_, **__):
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("docmind.runs.evaluating.ceiling", fault)
    assert place.eval(*LEXICAL) == 2
    message = capsys.readouterr().err
    assert "Traceback" in message
    assert "ZeroDivisionError: a fault" in message
    assert "a fault of DocMind" in message
    assert left_alone(place)


def test_an_interrupt_ends_with_130_and_says_what_was_kept(place, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("docmind.runs.evaluating.ceiling", interrupt)
    assert place.eval(*LEXICAL) == 130
    assert "interrupted; what is done is kept" in capsys.readouterr().err
    assert left_alone(place)


def test_a_reader_that_leaves_early_changes_no_exit_code(place):
    command = [sys.executable, "-m", "docmind.cli", *place.arguments("eval", *LEXICAL)]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(place.bytes())["schema"] == "docmind.results/2"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_standard_output_ends_with_2_and_the_results_are_there(place):
    command = [sys.executable, "-m", "docmind.cli", *place.arguments("eval", *LEXICAL)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "cannot be shown: [Errno 28]" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(place.bytes())["schema"] == "docmind.results/2"


def test_a_terminal_that_knows_ascii_alone_gets_the_table(place):
    place.ask(QUESTIONS[0] | {"type": "żółty"})
    done = place.process("eval", *LEXICAL, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "headers+bm25" in done.stdout


def test_typers_own_1_becomes_2_since_1_means_that_a_gate_failed(monkeypatch):
    def abort(**_):
        raise SystemExit(1)

    monkeypatch.setattr("docmind.cli.commands.app", abort)
    assert docmind.cli.main(["eval"]) == 2


def test_without_a_command_the_help_is_shown(capsys):
    assert docmind.cli.main([]) == 2
    assert docmind.cli.main(["--help"]) == 0
    assert "eval" in capsys.readouterr().out


def test_an_env_file_in_another_encoding_is_nothing_to_an_index(place):
    (place.root / ".env").write_bytes("OPENAI_API_KEY=x\n".encode("utf-16"))  # as PowerShell writes it
    command = [sys.executable, "-m", "docmind.cli", *place.arguments("index", "headers")]
    done = subprocess.run(command, cwd=place.root, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_old_indexes_are_told_and_removed_where_that_is_asked_for(place, capsys):
    indexes = lambda: sorted(path.name for path in place.index_dir.glob("*-*") if path.is_dir())  # noqa: E731
    assert place.index("headers", "fixed_500") == 0
    assert "no last run used" not in capsys.readouterr().err
    old = indexes()
    other = place.root / "other"
    shutil.copytree(place.corpus, other)
    (other / "more.md").write_text("# More\n\nAnother page.\n")
    assert place.index("headers", "--corpus", str(other)) == 0
    with (place.corpus / "pay.md").open("a") as file:
        file.write("\nMore of it.\n")
    assert place.eval("--strategies", "headers+vector") == 0
    assert re.search(
        r"1 index, \d+\.\d MB, in .*indexes that no last run used.*docmind index --prune", capsys.readouterr().err
    )
    assert place.index("headers", "fixed_500", "--prune") == 0
    assert re.search(r"2 indexes, \d+\.\d MB, removed", capsys.readouterr().err)
    left = indexes()
    assert len(left) == 3, "those of both folders of pages"
    assert not set(old) & set(left)
    shutil.rmtree(other)
    assert place.index("headers", "--prune") == 0
    assert len(indexes()) == 2, "and that of a folder that is gone is removed"
    assert place.index("headers", "--prune") == 0
    assert "0 indexes" in capsys.readouterr().err.splitlines()[-1]
