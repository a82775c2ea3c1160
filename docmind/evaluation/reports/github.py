"""GitHub's annotations: what the gate failed for, at the lines of the answer key. At most LIMIT, and the last one says so.

The format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from pathlib import PurePath

from docmind.evaluation.gate.verdict import Verdict, failing, falls
from docmind.evaluation.reports.inert import cut, unlinked
from docmind.evaluation.reports.material import Material, Report
from docmind.evaluation.reports.movements import ranks
from docmind.evaluation.reports.reading import MEANING, judged_by
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
    """`latest.annotations.txt`, a command a line, empty where the gate passed and nothing else was proposed to be judged by;
    nothing without a verdict."""
    verdict = material.verdict
    if verdict is None:
        return {}
    failed = _failed(verdict)
    lines = [*failed[:FIRST], *_lost(material, verdict), *failed[FIRST:]]
    if len(lines) > LIMIT:
        more = len(lines) - LIMIT + 1
        lines = [*lines[: LIMIT - 1], _error(f"and {more} more, in the job's summary and its artifact")]
    lines += _terms(verdict)
    return {"latest.annotations.txt": "".join(f"{line}\n" for line in lines)}


def failed(error: str, code: int) -> dict[str, str]:
    """`latest.annotations.txt` of a run that `error` ended with this exit code."""
    told = f"there is no verdict (exit code {code}: {MEANING[code]}): {cut(error, ERROR_LENGTH)}"
    return {"latest.annotations.txt": f"{_error(told)}\n"}


REPORT = Report(render, ("latest.annotations.txt",), failed)


def _failed(verdict: Verdict) -> list[str]:
    told = [f"{check.name}: {check.told}" for check in verdict.checks if check.passed is not True]
    return [_error(text) for text in (*verdict.incomplete, *told)]


def _terms(verdict: Verdict) -> list[str]:
    """Warnings, of which GitHub shows ten beside ten errors; none where the change proposes nothing and nobody accepted it."""
    if not (verdict.proposal or verdict.accepted):
        return []
    told = [f"{label}: {text}" for label, text in judged_by(verdict)]
    if len(told) > LIMIT:
        told = [*told[: LIMIT - 1], f"and {len(told) - LIMIT + 1} more, in the job's summary and its artifact"]
    return [_command("warning", text) for text in told]


def _lost(material: Material, verdict: Verdict) -> list[str]:
    """A line a question, whatever the number of strategies that lost it, by the most first."""
    lost_by: dict[str, list[str]] = {}
    lost = {change.strategy: {flip.question_id for flip in change.lost} for change in verdict.comparison.changes}
    for strategy, names in failing(verdict).items():
        fell = falls(verdict, strategy)
        for name in names:
            lower = name in fell and name not in lost.get(strategy, ())  # still among the first three
            told = f"{strategy} ({ranks(fell[name])})" if lower else strategy
            lost_by.setdefault(name, []).append(told)
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
    return _command("error", message, properties)


def _command(kind: str, message: str, properties: str = "title=retrieval gate") -> str:
    return f"::{kind} {properties}::{_data(unlinked(message))}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
