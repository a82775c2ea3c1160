"""Retrievers as Python, as programs and as files: real modules, real processes, real files, also odd ones."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from docmind.errors import StorageError, UsageError
from docmind.foreign import open_source
from docmind.foreign.declared import parse
from docmind.foreign.reply import Asked, Passage, ReplyError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def opened(**fields):
    return open_source(parse("mine", fields))


# Python

MODULES = {
    "both": ("def find(question, k):\n    return [f'{question} {k}']", "how? 3"),
    "one": ("def find(question):\n    return [question]", "how?"),
    "named": ("def find(question, k=5, *, deep=False):\n    return [f'{question} {k}']", "how? 3"),
    "waited": ("async def find(question, k):\n    return [question]", "how?"),
    "counted": ("def find(question, k):\n    yield question", "how?"),
    "langchain": (
        "class D:\n    page_content = 'Ten.'\n    metadata = {'source': 'a.md'}\n    id = 'x'\n"
        "class R:\n    def invoke(self, question):\n        return [D()]\nfind = R()",
        "Ten.",
    ),
    "llamaindex": (
        "class N:\n    metadata = {'file_path': '/data/a.md'}\n    node_id = 'x'\n"
        "    def get_content(self):\n        return 'Ten.'\nclass S:\n    node = N()\n    score = 0.5\n"
        "class R:\n    def retrieve(self, question):\n        return [S()]\nfind = R()",
        "Ten.",
    ),
    "haystack": (
        "class D:\n    content = 'Ten.'\n    meta = {'file_path': 'a.md'}\n    score = 1\n    id = 'x'\n"
        "def find(question, k):\n    return {'passages': [D()]}",
        "Ten.",
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_function_or_a_retriever_of_a_library_is_asked_as_it_is(folder, name):
    code, text = MODULES[name]
    (folder / f"search_{name}.py").write_text(code)
    found = opened(python=f"search_{name}:find").ask(Asked("how?", 3))
    assert [passage.text for passage in found.passages] == [text]
    if name in ("langchain", "llamaindex", "haystack"):
        assert found.passages[0].source in ("a.md", "/data/a.md")


def test_its_treatment_is_the_hash_of_its_code(folder):
    (folder / "search_a.py").write_text("def find(q, k): return []")
    (folder / "search_b.py").write_text("def find(q, k): return [q]")
    first, second = (opened(python=f"search_{name}:find").treatment["code"] for name in "ab")
    assert len(first) == 64
    assert first != second


@pytest.mark.parametrize(
    ("code", "place", "told"),
    [
        ("", "search_x", "expected: package.module:name"),
        ("", "gone:find", "'gone' cannot be imported: ModuleNotFoundError: No module named 'gone'"),
        ("", "search_x:find", "has no attribute 'find'. Name a function"),
        ("raise ValueError('no\\nkey')", "search_x:find", "cannot be imported: ValueError: no key"),
        ("import sys\nsys.exit(0)", "search_x:find", "cannot be imported: SystemExit: 0"),
        ("def find(:", "search_x:find", "cannot be imported: SyntaxError"),
        ("find = 7", "search_x:find", "is int; expected: a function (question, k), or a retriever"),
        ("def find(a, b, c): ...", "search_x:find", "takes (a, b, c); expected: a function (question, k)"),
    ],
)
def test_a_module_that_cannot_be_used_is_told_before_anything_is_asked(folder, code, place, told):
    (folder / "search_x.py").write_text(code)
    with pytest.raises(UsageError) as error:
        opened(python=place)
    sys.modules.pop("search_x", None)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise KeyError('x')", "it raised KeyError: 'x'"),
        ("import sys; sys.exit(3)", "it raised SystemExit: 3"),
        ("import time; time.sleep(3)", "no answer within 0.3 s"),
        ("return None", "the reply is neither a list"),
        ("return 'text'", "the reply is neither a list"),
        ("return [object()]", "neither text nor a mapping nor a document of a known library"),
        ("return [float('nan')]", "neither text nor a mapping"),
        ("return [{'text': 'a', 'score': float('nan')}]", "score: a finite number was expected: nan"),
    ],
)
def test_a_call_that_fails_is_an_error_of_its_question(folder, code, told):
    (folder / "search_x.py").write_text(f"def find(question, k):\n    {code}")
    with pytest.raises(ReplyError) as error:
        opened(python="search_x:find", timeout=0.3).ask(Asked("how?", 3))
    assert told in str(error.value)


def test_what_a_module_prints_when_it_is_imported_is_no_output_of_ours(folder, capsys):
    (folder / "search_x.py").write_text("print('loading')\ndef find(question, k): return []")
    opened(python="search_x:find")
    assert capsys.readouterr() == ("", "loading\n")


def test_the_numbers_of_numpy_are_numbers(folder):
    (folder / "search_x.py").write_text(
        "import numpy as np\ndef find(q, k): return [{'text': 'a', 'score': np.float32(0.5)}]"
    )
    assert opened(python="search_x:find").ask(Asked("q", 1)).passages == (Passage("a", score=0.5),)


# Programs

ECHO = "import json,sys\nfor line in sys.stdin:\n    print(json.dumps([json.loads(line)['question']]), flush=True)\n"


def program(folder, code):
    (folder / "p.py").write_text(code)
    return {"command": [sys.executable, str(folder / "p.py")]}


def test_one_process_answers_all_questions(folder):
    one = opened(**program(folder, "import os\n" + ECHO.replace("['question']]", "['question'], str(os.getpid())]")))
    first, second = (one.ask(Asked(text, 3)).passages for text in ("a", "ü\u2028b"))
    one.close()
    assert (first[0].text, second[0].text) == ("a", "ü\u2028b")
    assert first[1] == second[1]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys; print('no index', file=sys.stderr); sys.exit(4)", "the program ended with 4: no index"),
        ("print('hello', flush=True)\nimport time\ntime.sleep(9)", "the reply is no JSON"),
        ("import time; time.sleep(9)", "no answer within 1 s"),
        (
            "import sys\nsys.stdin.readline()\nsys.stdout.write(' ' * 25_000_000)",
            "a line of more than 20,000,000 bytes",
        ),
        ("import sys\nsys.stdin.readline()\nsys.stdout.buffer.write(b'\\xff\\n')", "the reply is not UTF-8"),
        ("import sys\nsys.stdin.close()\nsys.stdout.close()\nimport time; time.sleep(9)", "the program ended with"),
    ],
)
def test_a_program_that_fails_is_an_error_of_its_question_and_is_started_anew(folder, code, told):
    one = opened(**program(folder, code), timeout=1 if "within" in told else 30)
    with pytest.raises(ReplyError) as error:
        one.ask(Asked("how?", 3))
    (folder / "p.py").write_text(ECHO)
    assert told in str(error.value)
    one._timeout = 30
    assert one.ask(Asked("again?", 3)).passages == (Passage("again?"),)
    one.close()


def test_a_program_that_is_not_there_ends_the_run():
    with pytest.raises(UsageError, match=r"command: '/no/such' cannot be started: No such file or directory\."):
        opened(command=["/no/such"]).ask(Asked("q", 1))


def test_closing_kills_the_program_and_what_it_started(folder):
    code = (
        "import subprocess,sys\nchild = subprocess.Popen([sys.executable,'-c','import time; time.sleep(60)'])\n" + ECHO
    )
    code = code.replace("['question']]", "['question'], str(child.pid)]")
    one = opened(**program(folder, code))
    pid = int(one.ask(Asked("q", 1)).passages[1].text)
    one.close()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.05)
    raise AssertionError("the child lives on")


# Files

LINES = (
    '{"id": "q1", "question": "how?", "passages": [{"source": "a.md"}]}\n\n'
    '{"question": "when?", "steps": [{"query": "x", "passages": []}]}\n'
)


def test_a_file_answers_by_id_else_by_words(folder):
    (folder / "p.jsonl").write_text("\ufeff" + LINES)
    one = opened(file="p.jsonl")
    assert one.ask(Asked("other words", 3, "q1")).passages == (Passage(source="a.md"),)
    assert one.ask(Asked("how?", 3, "q9")).passages == (Passage(source="a.md"),)
    assert one.ask(Asked("when?", 3)).steps[0].query == "x"
    with pytest.raises(ReplyError, match="no line for this question"):
        one.ask(Asked("where?", 3, "q3"))
    assert len(one.treatment["sha256"]) == 64


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no line"),
        ("[]\n", "line 1: no object was found"),
        ('{"passages": []}\n', "line 1: neither question nor id is a text"),
        ('{"id": "q1"}\n', "line 1: the reply has no 'passages'"),
        ('\n{"id": "q1", "passages": [], "x": NaN}\n', "line 2: the reply is no JSON"),
        ('{"id": "q1", "passages": []}\n{"id": "q1", "passages": []}\n', "line 2: 'q1' stands twice"),
        ('{"id": "q1", "passages": [{"text": "cut', "line 1: the reply is no JSON"),
    ],
)
def test_a_line_that_is_no_reply_ends_the_run_with_its_number(folder, text, told):
    (folder / "p.jsonl").write_text(text)
    with pytest.raises(UsageError) as error:
        opened(file="p.jsonl")
    assert told in str(error.value)


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(StorageError, match=r"p\.jsonl: cannot be read: No such file or directory\."):
        opened(file="p.jsonl")


RUN = "q1 Q0 b.md 1 0.5 t\nq1 Q0 c%20d.md 2 0.5 t\nq1 Q0 a.md 3 0.75 t\nq2 Q0 a.md 1 1 t\n"


def test_a_run_of_trec_is_ordered_as_trec_eval_does(folder):
    """By score, falling, equal ones by id, falling; the rank column does not count."""
    (folder / "r.txt").write_text(RUN)
    found = opened(trec="r.txt").ask(Asked("how?", 3, "q1"))
    assert [passage.source for passage in found.passages] == ["a.md", "c d.md", "b.md"]
    with pytest.raises(ReplyError, match="no line for this question"):
        opened(trec="r.txt").ask(Asked("how?", 3, "q3"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q1 Q0 a.md 1\n", "line 1: 4 columns were found, 6 were expected"),
        ("q1 Q0 a b.md 1 0.5 t\n", "line 1: 7 columns"),
        ("q1 Q0 a.md 1 nan t\n", "line 1: the score 'nan' is no finite number"),
        ("q1 Q0 a.md 1 x t\n", "line 1: the score 'x' is no finite number"),
        ("q1 Q0 a.md 1 1 t\nq1 Q0 a.md 2 0 t\n", "line 2: the document 'a.md' stands twice"),
        ("\n", "holds no line"),
    ],
)
def test_a_line_that_is_none_of_a_run_is_refused_with_its_number(folder, text, told):
    (folder / "r.txt").write_text(text)
    with pytest.raises(UsageError) as error:
        opened(trec="r.txt")
    assert told in str(error.value)
