"""What may import what, read from the syntax trees; and that importing the command does nothing. No part is run."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import docmind
from docmind.extras import EXTRAS

PACKAGE = Path(docmind.__file__).parent

LAYERS = (
    ("types", "errors"),
    (
        "protocols", "registry", "extras", "text", "markup", "files", "blobs", "code", "keeping", "spec", "parameters",
        "yamlfile",
    ),
    ("models", "llm", "config"),
    ("corpus",),
    ("foreign",),
    ("chunking",),
    ("index",),
    ("retrieval",),
    ("generation",),
    ("serving", "demo"),
    ("runs",),
    ("testing",),
    ("cli",),
)  # fmt: skip
"""From left to right. A part imports from its own layer and from those left of it."""

EVALUATION_IMPORTS = {
    "types",
    "errors",
    "extras",
    "protocols",
    "registry",
    "text",
    "markup",
    "config",
    "files",
    "spec",
    "yamlfile",
}
"""It is handed retrievers and judges as objects, and `runs`, `testing` and `cli` alone wire them."""

FAMILIES = (
    "models", "llm", "corpus", "foreign", "chunking", "retrieval", "evaluation.scoring.metrics", "evaluation.reports",
)  # fmt: skip
"""Packages whose registry is the catalogue of their leaves. A registry entry is made by a class or function of its leaf, or by
a function of the catalogue that imports the leaf when it is called."""


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def module(path: Path) -> str:
    """The dotted name below the package: "chunking" for chunking/__init__.py, "" for the package itself."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {module(path): parse(path) for path in sorted(PACKAGE.rglob("*.py"))}


def names(tree: ast.Module) -> dict[str, str]:
    """What a module imports of the package: by the name it gets, the module it is from. Imports in functions count."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("docmind.") for alias in node.names), "write: from docmind… import …"
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            first, _, below = (node.module or "").partition(".")
            if first == "docmind":
                for alias in node.names:
                    inner = f"{below}.{alias.name}".lstrip(".")
                    found[alias.asname or alias.name] = inner if inner in MODULES else below
    return found


IMPORTS = {name: set(names(tree).values()) for name, tree in MODULES.items()}


def part(name: str) -> str:
    return name.partition(".")[0]


def rank(name: str) -> int:
    return next(i for i, layer in enumerate(LAYERS) if part(name) in layer)


@pytest.mark.parametrize("name", [name for name in MODULES if name and part(name) != "evaluation"])
def test_a_module_imports_only_what_stands_left_of_it(name):
    wrong = {other for other in IMPORTS[name] if part(other) != "evaluation" and rank(other) > rank(name)}
    assert not wrong
    assert part(name) in ("runs", "testing", "cli") or "evaluation" not in map(part, IMPORTS[name])


@pytest.mark.parametrize("name", [name for name in MODULES if part(name) == "evaluation"])
def test_evaluation_knows_no_part_that_it_measures(name):
    assert set(map(part, IMPORTS[name])) <= {"evaluation", *EVALUATION_IMPORTS}


ROOMS = ("key", "scoring", "record", "gate", "reports")
"""Of evaluation, from left to right."""


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("evaluation.")])
def test_a_room_of_evaluation_imports_only_what_stands_left_of_it(name):
    def room(module: str) -> int:
        return ROOMS.index(module.split(".")[1])

    wrong = {other for other in IMPORTS[name] if part(other) == "evaluation" and room(other) > room(name)}
    assert not wrong


def test_no_parts_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {}
    for name, others in IMPORTS.items():
        graph.setdefault(part(name), set()).update(set(map(part, others)) - {part(name)})
    TopologicalSorter(graph).prepare()


def leaves(family: str) -> set[str]:
    """The modules of `family` whose classes and functions stand in its registry."""
    tree = MODULES[family]
    [registry] = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "Registry"]
    imported = names(tree)
    here = {node.name: ast.Module(node.body, []) for node in tree.body if isinstance(node, ast.FunctionDef)}
    named = {node.id for node in ast.walk(registry) if isinstance(node, ast.Name) and not node.id.isupper()}
    named |= {node.id for name in named & here.keys() for node in ast.walk(here[name]) if isinstance(node, ast.Name)}
    makers = {imported.get(name, "") for name in named}
    return {maker for maker in makers if maker.startswith(f"{family}.")}


@pytest.mark.parametrize("family", FAMILIES)
def test_leaves_of_a_family_never_import_each_other(family):
    found = leaves(family)
    assert found
    for leaf in found:
        assert not IMPORTS[leaf] & found - {leaf}
        assert family not in IMPORTS[leaf], "a leaf does not know its catalogue"


def test_importing_the_command_loads_no_heavy_library_and_does_nothing():
    code = """
import socket, sys, logging

def refuse(*_, **__):
    raise AssertionError("a socket was opened")

socket.socket = socket.create_connection = refuse
import docmind.cli.commands
heavy = (
    "chromadb", "fastembed", "langchain", "onnxruntime", "huggingface_hub", "tokenizers", "streamlit", "mistralai", "httpx_sse",
    "scipy", "pandas", "altair",
)
print([name for name in sys.modules if name.startswith(heavy)], logging.root.handlers)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert (done.stdout, done.stderr) == ("[] []\n", "")


HEAVY = ("models.bge", "models.crossencoder", "models.minilm", "serving.panel")
"""Modules that import what an extra brings, beside those of `index` but its upkeep. All others do without."""


def test_the_core_is_imported_where_no_extra_is_installed():
    of_an_index = {name for name in MODULES if name.startswith("index.")} - {"index.upkeep"}
    light = [f"docmind.{name}".rstrip(".") for name in MODULES if name not in {*HEAVY, *of_an_index, "cli.__main__"}]
    kept_out = [*(module for modules in EXTRAS.values() for module in modules), "langchain_core", "scipy"]
    code = f"""
import importlib, sys
for name in {kept_out}:
    sys.modules[name] = None  # so that importing it is a ModuleNotFoundError
for name in {light}:
    importlib.import_module(name)
print("imported", len({light}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (f"imported {len(light)}\n", "")
    assert len(light) > 100
