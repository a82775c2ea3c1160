"""What a pull request can change, and what the gate makes of it: each change for real, in a git repository, judged by its base.

docs/changes.md has the table of CHANGES; `python tests/test_changes.py` writes it anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import docmind
from docmind.cli import main

DOCS = Path(__file__).parents[1] / "docs/changes.md"

PASSED = "### ✅ Retrieval: the gate passed"
NO_VERDICT = "### ⚠️ Retrieval: no verdict"
NOT_WHOLE = "### ⚠️ Retrieval: the gate could not judge the whole run"

PAGES = 50
TYPES = ["direct"] * 13 + ["vague"] * 13 + ["multi"] * 14
"""Of the forty questions, each about a page of its own. Those of type multi need two pieces."""


def fee(n: int) -> str:
    return f"The fee of subject {n} is {3 + 7 * n} euros, and is paid in advance."


def due(n: int) -> str:
    return f"A claim about subject {n} is closed after {5 + n} days without an answer."


@dataclass
class Project:
    """A repository of which the last commit but one is the base."""

    root: Path

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def swap(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert old in text
        self.write(name, text.replace(old, new))

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.read(name).splitlines()]

    def put(self, name: str, lines: list[dict[str, Any]]) -> None:
        self.write(name, "".join(json.dumps(line) + "\n" for line in lines))

    def found(self, change: Callable[[int, list[dict[str, str]]], list[dict[str, str]]]) -> None:
        """Change what the retriever found for each question."""
        lines = self.lines("found.jsonl")
        self.put("found.jsonl", [{**line, "passages": change(n, line["passages"])} for n, line in enumerate(lines)])

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=who", "-c", "user.email=who@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def save_baseline(self) -> None:
        assert main([*OPTIONS, "--save-baseline"]) == 0
        shutil.move(self.root / "out/baseline.json", self.root / "baseline.json")

    def copied(self, file: str, old: str, new: str) -> str:
        """A copy of the package with one change; gives the folder that it is in."""
        place = self.root / ".copy"
        shutil.copytree(Path(docmind.__file__).parent, place / "docmind", ignore=shutil.ignore_patterns("__pycache__"))
        path = place / "docmind" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        return str(place)


OPTIONS = [
    "eval", "--corpus", "pages", "--questions", "key.jsonl", "--thresholds", "thresholds.yaml", "--strategies-file",
    "strategies.yaml", "--out", "out", "--index-dir", "index", "--quiet",
]  # fmt: skip
CHECK = ["--baseline", "baseline.json", "--check"]

STRATEGIES = """strategies:
  mine: {file: found.jsonl, version: "1"}
  words: headers+bm25
matrix: [mine, words]
"""
THRESHOLDS = """production: mine
min_hit_at_3: 0.9
max_regression_pp: 3
must_pass: [q00]
max_regression:
  - {metric: hit@1, points: 5}
  - {metric: mrr@5, points: 3}
  - {metric: full@5, points: 3}
  - {metric: hit@3, points: 10, type: each}
"""


def passages_of(n: int) -> list[dict[str, str]]:
    """The evidence first, then what belongs to other questions."""
    own = [{"source": f"p{n:02}.md", "text": fee(n)}]
    own += [{"source": f"p{n:02}.md", "text": due(n)}] if TYPES[n] == "multi" else []
    return own + [{"source": f"p{(n + k) % PAGES:02}.md", "text": fee((n + k) % PAGES)} for k in range(1, 6 - len(own))]


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    """What every change begins with."""
    project = Project(tmp_path_factory.mktemp("base"))
    for n in range(PAGES):
        project.write(f"pages/p{n:02}.md", f"# Subject {n}\n\n## Fee\n\n{fee(n)}\n\n## Claims\n\n{due(n)}\n")
    key = []
    for n, kind in enumerate(TYPES):
        gold = [{"source": f"p{n:02}.md", "evidence": text} for text in (fee(n), due(n))[: 2 if kind == "multi" else 1]]
        split = "dev" if n % 2 else "test"
        key.append(
            {
                "id": f"q{n:02}",
                "question": f"What is the fee of subject {n}?",
                "type": kind,
                "split": split,
                "gold": gold,
            }
        )
    project.put("key.jsonl", key)
    project.put("found.jsonl", [{"id": f"q{n:02}", "passages": passages_of(n)} for n in range(len(TYPES))])
    project.write("strategies.yaml", STRATEGIES)
    project.write("thresholds.yaml", THRESHOLDS)
    project.write(".gitignore", "out/\nindex/\n.copy/\n")
    before = Path.cwd()
    os.chdir(project.root)
    try:
        project.save_baseline()
    finally:
        os.chdir(before)
    project.git("init", "-q")
    project.commit()
    return project.root


@pytest.fixture
def project(base, tmp_path, monkeypatch) -> Project:
    shutil.copytree(base, tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    return Project(tmp_path / "p")


def lost(*questions: int) -> Callable[[Project], None]:
    """The evidence of these questions is no longer found."""
    gone = set(questions)

    def change(p: Project) -> None:
        p.found(lambda n, found: [each for each in found if each["source"] != f"p{n:02}.md"] if n in gone else found)

    return change


def reversed_top(p: Project) -> None:
    p.found(lambda _, found: [*reversed(found[:3]), *found[3:]])


def second_pieces(p: Project) -> None:
    p.found(lambda n, found: [each for each in found if each["text"] != due(n)])


def reworded(p: Project) -> None:
    key = p.lines("key.jsonl")
    p.put("key.jsonl", [key[0], *({**line, "question": f"Say, {line['question']}"} for line in key[1:])])


def added_question(p: Project) -> None:
    line = {"id": "q40", "question": "What of subject 45?", "source": "p45.md", "evidence": fee(45), "type": "direct"}
    p.put("key.jsonl", [*p.lines("key.jsonl"), line])
    p.put("found.jsonl", [*p.lines("found.jsonl"), {"id": "q40", "passages": [{"source": "p45.md", "text": fee(45)}]}])


def renamed_page(p: Project) -> None:
    (p.root / "pages/p05.md").rename(p.root / "pages/five.md")
    for name in ("key.jsonl", "found.jsonl"):
        p.swap(name, "p05.md", "five.md")


def lowered(p: Project) -> None:
    lost(1, 2, 3, 14, 15, 27, 28)(p)
    p.write("thresholds.yaml", "production: mine\nmin_hit_at_3: 0.1\nmax_regression_pp: 90\n")


def resealed(p: Project) -> None:
    lost(1, 2, 3, 14, 15, 27, 28)(p)
    p.swap("thresholds.yaml", "min_hit_at_3: 0.9", "min_hit_at_3: 0.1")
    p.save_baseline()


def emptied(p: Project) -> None:
    lost(0)(p)
    p.swap("thresholds.yaml", "must_pass: [q00]\n", "")


def unreachable(p: Project) -> None:
    p.swap("strategies.yaml", '{file: found.jsonl, version: "1"}', '{url: "http://127.0.0.1:9/", version: "1"}')


def of_another_corpus(p: Project) -> None:
    p.found(lambda n, _: [{"text": f"Words about number {n} that nobody has written in any page of this company."}])


@dataclass(frozen=True)
class Change:
    """What is done, the exit code and the first line that it ends with, a sentence that the comment or the terminal has, and why
    that is right. `options` are given beside the usual ones, `code` is a change of DocMind's own: file, old, new."""

    what: str
    do: Callable[[Project], object]
    exit_code: int
    first: str
    told: str
    why: str
    options: tuple[str, ...] = ("--base", "HEAD~1")
    code: tuple[str, str, str] | None = None


def failed(*checks: str) -> str:
    return f"### ❌ Retrieval: the gate failed ({', '.join(checks)})"


def nothing(_: Project) -> None:
    """What is changed is DocMind's own code, or an option."""


CHANGES = [
    Change("nothing", nothing, 0, PASSED, "key: same", "nothing moved"),
    Change(
        "a comment in the thresholds",
        lambda p: p.swap("thresholds.yaml", "production: mine", "# ours\nproduction: mine"),
        0,
        PASSED,
        "pass: floor",
        "it says the same",
    ),
    Change(
        "the key in another order",
        lambda p: p.put("key.jsonl", p.lines("key.jsonl")[::-1]),
        0,
        PASSED,
        "key: same",
        "order means nothing",
    ),
    Change(
        "a question added",
        added_question,
        0,
        PASSED,
        "1 question added (q40)",
        "the others are compared, the new one counts in the floor",
    ),
    Change(
        "a question taken out",
        lambda p: p.put("key.jsonl", p.lines("key.jsonl")[:-1]),
        0,
        PASSED,
        "1 question removed (q39)",
        "39 of 40 are compared",
    ),
    Change(
        "a page added",
        lambda p: p.write("pages/new.md", "# Bikes\n\nBicycles stand in the yard.\n"),
        0,
        PASSED,
        "1 page added (new.md)",
        "no question is about it",
    ),
    Change(
        "a page edited that no question is about",
        lambda p: p.write("pages/p49.md", "# Yards\n\nNothing but bicycles.\n"),
        0,
        PASSED,
        "1 page changed (p49.md)",
        "the same questions are found",
    ),
    Change(
        "a page renamed, in the key too",
        renamed_page,
        0,
        PASSED,
        "p05.md",
        "its question is another; the others are compared",
    ),
    Change("one question of forty lost", lost(1), 0, PASSED, "lost 1 question", "2.5 points, of which 3 may be lost"),
    Change(
        "two questions of forty lost",
        lost(1, 14),
        1,
        failed("regression", "max_regression"),
        "mine lost 2 questions and gained 0: Hit@3 100.0 % → 95.0 %",
        "5 points of Hit@3, where 3 may be lost",
    ),
    Change(
        "a question lost that must be won",
        lost(0),
        1,
        failed("must_pass"),
        "q00 must be won at 3 by mine",
        "2.5 points are allowed, and this question is not",
    ),
    Change(
        "the top three reversed",
        reversed_top,
        1,
        failed("max_regression"),
        "hit@1 of mine may lose 5.0 points; it went 100.0 % → 0.0 %",
        "Hit@3 is the same, and who reads one passage gets another",
    ),
    Change(
        "all second pieces lost",
        second_pieces,
        1,
        failed("max_regression"),
        "full@5 of mine may lose 3.0 points; it went 100.0 % → 65.0 %",
        "Hit@3 is the same, and half of each answer is gone",
    ),
    Change(
        "nine of the thirteen wins of a type lost",
        lost(*range(13, 22)),
        1,
        failed("floor", "regression", "max_regression"),
        "hit@3 of mine, type vague may lose 10.0 points",
        "the type has a rule of its own",
    ),
    Change(
        "chunks of another size, under the old name",
        lambda p: p.swap("strategies.yaml", "headers+bm25", "recursive(size=16,overlap=0)+bm25"),
        1,
        failed("regression"),
        "words lost",
        "what the name stands for is what is judged",
    ),
    Change(
        "39 of 40 questions reworded",
        reworded,
        3,
        NOT_WHOLE,
        "1 of the baseline's 40 answerable questions are as they were",
        "one question says nothing of a change",
    ),
    Change(
        "evidence that is in no page",
        lambda p: p.swap("key.jsonl", fee(3), "The fee is a secret of nobody."),
        2,
        NO_VERDICT,
        "is not in p03.md",
        "a key that is wrong measures nothing",
    ),
    Change(
        "a page deleted that a question quotes",
        lambda p: (p.root / "pages/p07.md").unlink(),
        2,
        NO_VERDICT,
        "unknown source 'p07.md'",
        "the key is about what is no longer there",
    ),
    Change(
        "losses, and the thresholds lowered for them",
        lowered,
        1,
        failed("floor", "regression", "max_regression"),
        "proposed: thresholds: min_hit_at_3: 0.9 → 0.1",
        "the base's thresholds count",
    ),
    Change(
        "losses, and the baseline made anew",
        resealed,
        1,
        failed("floor", "regression", "max_regression"),
        "proposed: baseline: ",
        "the base's baseline is compared with",
    ),
    Change(
        "a lost question, no longer one that must be won",
        emptied,
        1,
        failed("must_pass"),
        "must_pass: q00 taken out",
        "the base says which must be won",
    ),
    Change(
        "lowered thresholds, accepted by somebody",
        lowered,
        0,
        PASSED,
        "accepted by lead",
        "and it is told by whom, and what would have failed",
        options=("--base", "HEAD~1", "--accept", "lead"),
    ),
    Change(
        "a strategy taken out of the matrix",
        lambda p: p.swap("strategies.yaml", "[mine, words]", "[mine]"),
        0,
        PASSED,
        "words is in the base's matrix and no longer here",
        "it is scored all the same, and lost nothing",
    ),
    Change(
        "a strategy taken out of the matrix, with nobody to tell",
        lambda p: p.swap("strategies.yaml", "[mine, words]", "[mine]"),
        3,
        NOT_WHOLE,
        "strategies of the baseline were not run: words",
        "without a base, what is missing is no verdict",
        options=(),
    ),
    Change(
        "another production strategy",
        lambda p: p.swap("thresholds.yaml", "production: mine", "production: words"),
        0,
        PASSED,
        "proposed: thresholds: production: mine → words",
        "the base's is judged, and lost nothing",
    ),
    Change(
        "a strategy added",
        lambda p: p.swap("strategies.yaml", "[mine, words]", "[mine, words, fixed_500+bm25]"),
        0,
        PASSED,
        "strategies without a baseline: fixed\\_500+bm25",
        "nothing of it can be lost yet",
    ),
    Change(
        "another version of the retriever",
        lambda p: p.swap("strategies.yaml", 'version: "1"', 'version: "2"'),
        0,
        PASSED,
        "foreign: mine version: 1 → 2",
        "it finds the same, and is told",
    ),
    Change(
        "the retriever's service is down",
        unreachable,
        3,
        NOT_WHOLE,
        "mine has no metrics: 40 questions ended in an error",
        "an error is no miss",
    ),
    Change(
        "the retriever has other documents",
        of_another_corpus,
        3,
        "### ⚠️ Retrieval: the gate failed (floor, regression, must_pass, max_regression) and could not judge the whole run",
        "40 of 40 passages of mine are in none of the documents",
        "it is not the retriever that got worse",
    ),
    Change(
        "the file of results cut off",
        lambda p: p.write("found.jsonl", p.read("found.jsonl")[:-40]),
        2,
        NO_VERDICT,
        "found.jsonl: line 40: the reply is no JSON",
        "half a file is none",
    ),
    Change(
        "a slip in the thresholds",
        lambda p: p.swap("thresholds.yaml", "must_pass", "must_pas"),
        2,
        NO_VERDICT,
        "unknown key 'must_pas'",
        "what is not understood is not guessed",
    ),
    Change(
        "only some questions asked",
        nothing,
        3,
        NOT_WHOLE,
        "a filter left out 27 of the answer key's questions",
        "a gate that passes on chosen questions is none",
        options=("--base", "HEAD~1", "--type", "direct"),
    ),
    Change(
        "code: what a hit shows (`Chunk.shown`)",
        nothing,
        3,
        NOT_WHOLE,
        "the gold rule is another",
        "ranks mean something else",
        code=(
            "types.py",
            "        return self.spans + self.prefix_spans\n",
            "        return (*self.spans, *self.prefix_spans)\n",
        ),
    ),
    Change(
        "code: a metric's formula",
        nothing,
        0,
        PASSED,
        "metrics: code:",
        "both sides are made anew by the new one, and it is told",
        code=("evaluation/scoring/metrics/hit.py", '"""hit@k:', '"""Hit@k:'),
    ),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_a_change_ends_as_it_should(project, capsys, change):
    change.do(project)
    project.commit()
    arguments = [*OPTIONS, *CHECK, *change.options]
    if change.code:
        env = os.environ | {"PYTHONPATH": project.copied(*change.code)}
        command = [sys.executable, "-m", "docmind.cli", *arguments]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        code, said = done.returncode, done.stdout + done.stderr
    else:
        code = main(arguments)
        said = "".join(capsys.readouterr())
    comment = project.read("out/latest.comment.md")
    assert (code, comment.splitlines()[0]) == (change.exit_code, change.first), said
    assert change.told in said or change.told in comment, said + comment


@pytest.mark.slow
def test_yesterdays_vectors_are_nothing_to_another_embedder(project):
    """The vectors of the first run are kept; of an embedder that weighs another way each text is embedded anew."""

    def run(place: str) -> str:
        command = [sys.executable, "-m", "docmind.cli", *OPTIONS[:-1], "--strategies", "headers+vector"]
        done = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": place}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return re.search(r"headers: (\d+) chunks, (.*)", done.stderr)[2]

    ours = str(Path(docmind.__file__).parents[1])
    assert run(ours).endswith("0 from the cache")
    assert run(ours) == "index found"
    other = project.copied("models/minilm.py", '"""The default embedder', '"""An embedder')
    assert run(other).endswith("0 from the cache")


def table() -> str:
    rows = [f"| {c.what} | {c.exit_code} | {c.first.removeprefix('### ')} | {c.why} |" for c in CHANGES]
    head = "| what the pull request changes | exit code | first line of the comment | why that is right |\n|---|---:|---|---|"
    return "\n".join([head, *rows])


PAGE = f"""# What {len(CHANGES)} changes end with

A project of fifty pages and forty questions in a git repository; its production strategy is a retriever of its own,
beside a strategy of DocMind. Each of these changes is made for real and judged by `docmind eval --check --base HEAD~1`,
where nothing else is said; `tests/test_changes.py` holds every line to what comes out.

{table()}

Vectors of an earlier run are nothing to another embedder: they are found by the code that computes them, so that a
changed one embeds each text anew.
"""


def test_the_page_says_what_comes_out():
    assert DOCS.read_text(encoding="utf-8") == PAGE, "write it anew: python tests/test_changes.py"


if __name__ == "__main__":
    DOCS.write_text(PAGE, encoding="utf-8")
