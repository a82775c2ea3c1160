"""The verdicts on answers and their metrics as tables of text in cells, and the gate's verdict as a comment. Figures are
taken from the summary and from the checks, none is made."""

from __future__ import annotations

from docmind.evaluation.gate.answers import AnswersVerdict
from docmind.evaluation.gate.check import FAILED, INCOMPLETE, PASSED
from docmind.evaluation.reports.comment import SIGNS, Block, fit, line, no_verdict
from docmind.evaluation.reports.inert import markdown
from docmind.evaluation.reports.reading import judged_by
from docmind.evaluation.reports.tables import MISSING, Table, fraction, percent
from docmind.evaluation.scoring.answers import VERDICTS
from docmind.evaluation.scoring.summary import Area, Counts, Mean, Summary


def table(summary: Summary) -> Table:
    """A row a group of questions: how many, how many of them judged, each verdict in percent of those, and the mean of each
    answer metric, with how many answers it is of where that is not all."""
    metrics = tuple(summary.answerable.all.metrics)
    groups = [
        (f"{part}: {name}", counts)
        for part, found in (("answerable", summary.answerable), ("unanswerable", summary.unanswerable))
        for name, counts in found.groups()
        if counts.n
    ]
    return Table(
        ("questions", "n", "judged", *VERDICTS, *metrics),
        tuple((name, *_figures(counts, metrics)) for name, counts in groups),
    )


def _figures(counts: Counts, metrics: tuple[str, ...]) -> tuple[str, ...]:
    return (
        str(counts.n),
        str(counts.judged),
        *(percent(counts.rates[verdict] if counts.rates else None) for verdict in VERDICTS),
        *(_mean(counts.metrics[name], counts.n) for name in metrics),
    )


def _mean(mean: Mean, n: int) -> str:
    return fraction(mean.value) + (f" (of {mean.scored})" if 0 < mean.scored < n else "")


def confidence(summary: Summary) -> Table:
    """A row a split: the areas under the ROC curve by which confidence tells answerable from unanswerable questions."""

    def shown(area: Area | None) -> str:
        return f"{fraction(area.value)} ({area.low:.2f}–{area.high:.2f})" if area else MISSING

    rows = tuple(
        (name, shown(areas.all), shown(areas.near), shown(areas.far)) for name, areas in summary.confidence.groups()
    )
    return Table(("AUROC of the confidence", "all unanswerable", "near misses", "far ones"), rows)


COMMENT = "latest.answers.comment.md"
"""Beside retrieval's own comment, with which it is posted as one."""

LIMIT = 4_500
"""Bytes of it: with retrieval's it must fit into one comment."""

ERROR_LENGTH = 800
"""Characters of an error that are shown."""

VERDICT = {PASSED: "passed", FAILED: "failed", INCOMPLETE: "could not judge the whole run"}
"""The gate's verdict in words, by exit code."""


def comment(verdict: AnswersVerdict) -> str:
    """The gate's verdict as Markdown: what failed first, then by whose files, and what differs from the committed answers."""
    code = verdict.exit_code
    first = sorted(verdict.checks, key=lambda check: (check.passed is True, check.passed is False))
    terms = [f"- ⚖️ **{markdown(label)}**: {markdown(told)}" for label, told in judged_by(verdict)]
    return fit(
        [
            Block(
                f"### {SIGNS[code]} Answers: the gate {VERDICT[code]}\n",
                [*terms[:1], *(line(check) for check in first)],
            ),
            Block("", terms[1:]),
            Block(
                "\n**What differs from the committed answers**\n",
                [f"- {markdown(told)}" for told in verdict.differences],
            ),
        ],
        LIMIT,
    )


def failed(error: str, code: int) -> str:
    """The comment on a run that `error` ended with this exit code."""
    return no_verdict("Answers", error, code, ERROR_LENGTH)
