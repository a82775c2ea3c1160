"""What other steps of a workflow may go by: the verdict in a few words, and each figure of the production strategy.

A line a value, `name=value`, as a step's outputs are written. Of texts from outside nothing stands in them.
The format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions#setting-an-output-parameter
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from docmind.evaluation.reports.material import Material, Report
from docmind.evaluation.reports.reading import MEANING

FILE = "latest.outputs.txt"


def render(material: Material) -> dict[str, str]:
    """`latest.outputs.txt`: headline, production strategy, its figures as one JSON object, and each by itself; figures are
    those of `latest.json`, and there are none where a question of the strategy ended in an error. Nothing without a verdict."""
    verdict = material.verdict
    if verdict is None:
        return {}
    production = material.record.strategies.get(verdict.production)
    figures = dict((production and production.metrics) or {})
    values = {
        "headline": verdict.headline,
        "production": verdict.production,
        "figures": json.dumps(figures),
        **{output(metric): str(figure) for metric, figure in figures.items()},
    }
    return {FILE: _lines(values)}


def failed(_: str, code: int) -> dict[str, str]:
    """`latest.outputs.txt` of a run that ended with this exit code before it was judged."""
    return {FILE: _lines({"headline": f"no verdict: {MEANING[code]}", "figures": "{}"})}


REPORT = Report(render, (FILE,), failed)


def output(metric: str) -> str:
    """The output's name: hit_at_1 for hit@1, since an @ is no part of a name there."""
    return metric.replace("@", "_at_")


def _lines(values: Mapping[str, str]) -> str:
    return "".join(f"{name}={' '.join(value.split())}\n" for name, value in values.items())
