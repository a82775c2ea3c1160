"""A plugin for pytest, which finds it where DocMind is installed: fixtures that evaluate, and one test a strategy or a question.

Without a test that asks for one of its fixtures it does nothing and imports nothing more. docs/pytest.md tells the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from docmind.config import Settings
    from docmind.evaluation.gate.thresholds import Thresholds
    from docmind.evaluation.record.types import Record
    from docmind.runs.retrieval import Evaluation

__all__ = ["assert_no_regression"]

PLACES = {
    "docmind_corpus": ("corpus", "folder of documents"),
    "docmind_questions": ("questions", "the answer key, a JSON Lines file"),
    "docmind_thresholds": ("thresholds", "what assert_no_regression holds a run to"),
    "docmind_baseline": ("baseline", "what assert_no_regression compares a run with"),
    "docmind_strategies_file": ("strategies", "names strategies, and says which are scored"),
    "docmind_index_dir": ("index_dir", "folder of indexes and the vector cache"),
}
"""Options that are places: the field of Settings, and what it is."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that pytest's file of options may have."""
    for name, (_, told) in PLACES.items():
        parser.addini(name, f"DocMind: {told}")
    parser.addini(
        "docmind_strategies", "DocMind: strategies to score, one a line; those of the file if none", "linelist"
    )
    parser.addini("docmind_profile", "DocMind: the models, default or hub")


@pytest.fixture(scope="session")
def docmind_evaluate(pytestconfig: pytest.Config) -> Callable[..., Evaluation]:
    """`docmind.evaluate`, called once a session for the same arguments; the options stand for what is not given."""
    runs: dict[object, Evaluation] = {}

    def evaluate(
        corpus: str | Path | None = None,
        questions: str | Path | None = None,
        strategies: str | Sequence[str] | None = None,
        **more: Any,
    ) -> Evaluation:
        from docmind.runs.retrieval import evaluate as evaluate_anew

        more.setdefault("settings", _settings(pytestconfig))
        wanted = _strategies(pytestconfig) if strategies is None else strategies
        asked = (corpus, questions, _hashable(wanted), *((name, _hashable(more[name])) for name in sorted(more)))
        if asked not in runs:
            runs[asked] = evaluate_anew(corpus, questions, wanted, **more)
        return runs[asked]

    return evaluate


@pytest.fixture(scope="session")
def docmind_run(docmind_evaluate: Callable[..., Evaluation]) -> Evaluation:
    """The strategies of the options, evaluated once a session."""
    return docmind_evaluate()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `docmind_strategy` is made once a strategy, for `docmind_question` once a question that can be
    answered. Their names are read, and nothing is evaluated."""
    for name, named in (("docmind_strategy", _strategy_names), ("docmind_question", _question_ids)):
        if name in metafunc.fixturenames and not _has_own(metafunc, name):
            found = _collected(named, metafunc.config)
            metafunc.parametrize(name, found, ids=found)


def assert_no_regression(
    run: Evaluation, thresholds: str | Path | Thresholds | None = None, baseline: str | Path | Record | None = None
) -> None:
    """Raise AssertionError, which tells the verdict, what failed and which questions were lost, unless the gate lets `run` pass:
    as `docmind eval --check` would, by the thresholds and the baseline of the options where none are given. A run that cannot be
    judged does not pass. Other errors, such as of wrong thresholds, are docmind.DocMindError."""
    __tracebackhide__ = True
    from docmind.errors import IncompleteError
    from docmind.evaluation.reports.failure import text

    try:
        verdict = run.check(thresholds, baseline)
    except IncompleteError as error:
        raise AssertionError(f"The run cannot be judged: {error}") from None
    if verdict.exit_code:
        raise AssertionError(text(run.material, verdict))


def _settings(config: pytest.Config) -> Settings:
    """Of the options. Places are of the folder of the file of options, wherever pytest is started; so is a usual place that is
    not named, where something is there."""
    from docmind.config import Settings

    usual = Settings()
    root = config.inipath.parent if config.inipath else config.rootpath
    places = {}
    for option, (field, _) in PLACES.items():
        given = config.getini(option)
        place = root / (given or getattr(usual, field))
        if given or field == "index_dir" or place.exists():
            places[field] = place
    return replace(usual, profile=config.getini("docmind_profile") or usual.profile, **places)


def _strategies(config: pytest.Config) -> tuple[str, ...] | None:
    return tuple(config.getini("docmind_strategies")) or None


def _strategy_names(config: pytest.Config) -> list[str]:
    from docmind.retrieval.strategies import read_strategies

    known = read_strategies(_settings(config).strategies)
    wanted = _strategies(config)
    found = known.matrix if wanted is None else map(known.find, wanted)
    return list(dict.fromkeys(strategy.name for strategy in found))


def _question_ids(config: pytest.Config) -> list[str]:
    from docmind.errors import IncompleteError
    from docmind.evaluation.key.dataset import read_written

    path = _settings(config).questions
    if found := [question.id for question in read_written(path) if question.gold]:
        return found
    raise IncompleteError(f"{path}: holds no question that can be answered, so there is nothing to test.")


def _collected(named: Callable[[pytest.Config], list[str]], config: pytest.Config) -> list[str]:
    """The names; an error of the user's files ends the collection of the tests that ask for them, in its own words."""
    from docmind.errors import DocMindError

    try:
        return named(config)
    except DocMindError as error:
        raise pytest.Collector.CollectError(f"DocMind: {error}") from error


def _has_own(metafunc: pytest.Metafunc, name: str) -> bool:
    """Whether the test names the values itself."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        if name in [each.strip() for each in (names.split(",") if isinstance(names, str) else names)]:
            return True
    return False


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
