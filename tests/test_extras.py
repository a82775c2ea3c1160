"""What `pip install docmind` leaves out is told with the command that brings it, before any work, and is told rightly."""

import ast
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from workplace import QUESTIONS, Workplace

import docmind
from docmind.cli import main
from docmind.errors import MissingPackageError
from docmind.extras import EXTRAS, need
from docmind.llm import PROVIDERS
from docmind.models import load
from docmind.models.minilm import OnnxEmbedder

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

BROUGHT_ALONG = {"langchain_core", "markupsafe", "pydantic_core", "pydantic_settings"}
"""Imported where the packages that need them are in use."""


@pytest.fixture
def without(monkeypatch):
    """Has modules not found, as where they are not installed."""

    def remove(*names):
        for name in names:
            for loaded in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
                monkeypatch.delitem(sys.modules, loaded)
            monkeypatch.setitem(sys.modules, name, None)

    return remove


def packages(requirements):
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def test_the_extras_are_those_of_the_project():
    declared = dict(PROJECT["optional-dependencies"])
    assert declared.pop("all") == [f"docmind[{','.join(EXTRAS)}]"]
    assert {extra: packages(listed) for extra, listed in declared.items()} == {
        extra: set(modules.values()) for extra, modules in EXTRAS.items()
    }
    assert not packages(PROJECT["dependencies"]) & {name for modules in EXTRAS.values() for name in modules.values()}


@pytest.mark.parametrize("extra", EXTRAS)
def test_where_all_is_installed_nothing_is_missing(extra):
    need(extra, "A test")


def test_every_package_that_is_imported_is_of_the_core_or_of_an_extra():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "docmind").rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    foreign = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names - {"docmind"}
    of = metadata.packages_distributions()
    core = packages(PROJECT["dependencies"])
    assert {name for name in foreign if not core & {canonicalize_name(each) for each in of[name]}} <= {
        *(module for modules in EXTRAS.values() for module in modules),
        *BROUGHT_ALONG,
        "pytest",  # whoever uses the plugin has it
    }


def test_what_is_missing_is_told_by_package_and_what_is_there_is_not(without):
    without("rank_bm25", "langchain_experimental")
    with pytest.raises(MissingPackageError) as told:
        need("retrieval", "Retrieval")
    assert str(told.value) == (
        "Retrieval needs packages that are not installed: langchain-experimental, rank-bm25. "
        'Install them: pip install "docmind[retrieval]"'
    )
    need("retrieval", "Chroma", "chromadb", "numpy")


def test_models_are_refused_and_another_profile_is_told_first(without):
    without("onnxruntime")
    with pytest.raises(MissingPackageError, match="not installed: onnxruntime"):
        load("default")
    with pytest.raises(docmind.DocMindError, match="unknown profile"):
        load("hubb")


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_language_model_is_refused(name, without):
    without("mistralai")
    with pytest.raises(MissingPackageError, match=rf"^The provider {name} needs .*: mistralai\. .*docmind\[llm\]"):
        PROVIDERS[name]()


@pytest.fixture
def place(tmp_path, corpus):
    found = Workplace(tmp_path)
    found.ask(*QUESTIONS)
    return found


@pytest.mark.parametrize("command", ["eval", "index", "answers", "chat"])
def test_a_command_that_retrieves_ends_with_2_and_the_command_that_installs(
    command, place, without, capsys, monkeypatch
):
    monkeypatch.chdir(ROOT)  # where thresholds name the production strategy
    without("fastembed")
    options = {
        "eval": ["--questions", str(place.questions), "--out", str(place.out), "--strategies", "headers+bm25"],
        "answers": ["--questions", str(place.questions), "--out", str(place.out)],
    }
    places = ["--corpus", str(place.corpus), "--index-dir", str(place.index_dir)]
    assert main([command, *places, *options.get(command, [])]) == 2
    said = capsys.readouterr().err
    assert "error: Retrieval needs packages that are not installed: fastembed." in said
    assert 'pip install "docmind[retrieval]"' in said
    assert "Traceback" not in said


def test_a_record_needs_pandas_for_its_table_alone(without):
    record = docmind.read(ROOT / "results" / "baseline.json")
    without("pandas")
    with pytest.raises(MissingPackageError, match=r"^to_pandas\(\) needs .*: pandas\. .*docmind\[page\]"):
        record.to_pandas()
    assert record["headers+rerank"].metrics["hit@3"] > 0.5


def test_an_import_that_fails_inside_of_an_installed_package_is_not_taken_for_a_missing_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", sys.modules["math"])  # it is there, and is broken
    with pytest.raises(AttributeError):
        OnnxEmbedder().embed(["one"])
