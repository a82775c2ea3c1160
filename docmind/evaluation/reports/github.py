"""GitHub's annotations: what the gate failed for, at the lines of the answer key. At most LIMIT, and the last one says so.

The format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from pathlib import PurePath

from docmind.evaluation.gate.verdict import Verdict, failing
from docmind.evaluation.reports.inert import cut, unlinked
from docmind.evaluation.reports.material import Material, Report
from docmind.evaluation.reports.reading import MEANING
from docmind.text import visible

LIMIT = 10
"""GitHub shows ten errors a step."""

FIRST = 5
"""How many failed rules stand before the questions at most, so that some lines of the answer key are always shown."""

ERROR_LENGTH = 4_000
"""Characters of an error that are shown."""

QUESTION_LENGTH = 200
"""Characters of a question that are shown."""


def render(material: Material) -> dict[str, str]:
    """`latest.annotations.txt`, a command a line, empty where the gate passed; nothing without a verdict."""
    verdict = material.verdict
    if verdict is None:
        return {}
    failed = _failed(verdict)
    lines = [*failed[:FIRST], *_lost(material, verdict), *failed[FIRST:]]
    if len(lines) > LIMIT:
        more = len(lines) - LIMIT + 1
        lines = [*lines[: LIMIT - 1], _error(f"and {more} more, in the job's summary and its artifact")]
    return {"latest.annotations.txt": "".join(f"{line}\n" for line in lines)}


def failed(error: str, code: int) -> dict[str, str]:
    """`latest.annotations.txt` of a run that `error` ended with this exit code."""
    told = f"there is no verdict (exit code {code}: {MEANING[code]}): {cut(error, ERROR_LENGTH)}"
    return {"latest.annotations.txt": f"{_error(told)}\n"}


REPORT = Report(render, ("latest.annotations.txt",), failed)


def _failed(verdict: Verdict) -> list[str]:
    told = [f"{check.name}: {check.told}" for check in verdict.checks if check.passed is not True]
    return [_error(text) for text in (*verdict.incomplete, *told)]


def _lost(material: Material, verdict: Verdict) -> list[str]:
    """A line a question, whatever the number of strategies that lost it, by the most first."""
    lost_by: dict[str, list[str]] = {}
    for strategy, names in failing(verdict).items():
        for name in names:
            lost_by.setdefault(name, []).append(strategy)
    questions = [question for question in material.questions if question.id in lost_by]
    key = PurePath(material.key).as_posix()
    return [
        _error(
            f"{question.id} was lost by {', '.join(lost_by[question.id])}: {cut(question.text, QUESTION_LENGTH)}",
            f"file={_property(key)},line={question.line},title={_property('retrieval: a question was lost')}",
        )
        for question in sorted(questions, key=lambda question: -len(lost_by[question.id]))
    ]


def _error(message: str, properties: str = "title=retrieval gate") -> str:
    return f"::error {properties}::{_data(unlinked(message))}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
