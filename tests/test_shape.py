"""What a newcomer may count on: modules and functions that are read in one go, and a docstring on what others call."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from statistics import median

import pytest

import docmind

PACKAGE = Path(docmind.__file__).parent
MODULES = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}

LONGEST_MODULE = 400
LONGEST_FUNCTION = 60
MOST_PARAMETERS = 10

JSON_EDGES = {
    "types.py": "the rest of a page's front matter",
    "corpus/markdown.py": "front matter",
    "corpus/pdf.py": "what the reader's process prints",
    "corpus/pdftext.py": "what it prints",
    "markup/parser.py": "markdown-it's own environment",
    "markup/cleaning.py": "markdown-it's own environment",
    "retrieval/fingerprint.py": "the treatment, which is compared and shown and never read",
    "evaluation/key/dataset.py": "a line of the answer key, before it has a form",
    "evaluation/key/forms.py": "a piece of gold, before it has a form",
    "evaluation/gate/compare.py": "the treatment",
    "evaluation/record/types.py": "the treatment",
    "evaluation/record/results.py": "the treatment",
    "evaluation/record/rules.py": "thresholds and what names of strategies stand for, compared and shown and never read",
    "evaluation/record/checking.py": "a file, before it has a form",
    "evaluation/record/writing.py": "a file",
    "evaluation/record/answers.py": "a file",
    "evaluation/record/answerrows.py": "a line of a file",
    "evaluation/reports/html.py": "the data in the page",
    "llm/openai.py": "a server's reply",
    "llm/schema.py": "a JSON schema",
    "yamlfile.py": "a file, before it has a form",
}
"""Where values of JSON or YAML come in or go out, and which."""


def functions(text: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]


def parameters(function: ast.FunctionDef) -> list[str]:
    found = function.args
    return [a.arg for a in (*found.posonlyargs, *found.args, *found.kwonlyargs) if a.arg not in ("self", "cls")]


def is_command(function: ast.FunctionDef) -> bool:
    """Typer reads a command's options from its signature."""
    return "Annotated" in ast.unparse(function.args) or "Option" in ast.unparse(function.args)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_is_read_in_one_go(name):
    assert len(MODULES[name].splitlines()) <= LONGEST_MODULE


def test_most_modules_are_short():
    assert median(len(text.splitlines()) for text in MODULES.values()) < 90


@pytest.mark.parametrize("name", sorted(MODULES))
def test_functions_are_short_and_take_few_parameters(name):
    for function in functions(MODULES[name]):
        if name.startswith("cli/") and is_command(function):
            continue
        length = (function.end_lineno or 0) - function.lineno + 1
        assert length <= LONGEST_FUNCTION, f"{function.name} has {length} lines"
        assert len(parameters(function)) <= MOST_PARAMETERS, f"{function.name} takes {parameters(function)}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_what_others_call_says_what_it_does(name):
    tree = ast.parse(MODULES[name])
    if MODULES[name].strip():
        assert ast.get_docstring(tree), "a module says in its first line what it is for"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} says nothing"


@pytest.mark.parametrize("name", sorted(MODULES.keys() - JSON_EDGES))
def test_values_have_types_but_at_the_edge_of_json(name):
    for line, text in enumerate(MODULES[name].splitlines(), start=1):
        assert not re.search(r"(dict|Mapping)\[str, Any\]", text), f"line {line}: {text.strip()}"
