"""The ways to tell results. A new one is a file beside this and a line in REPORTS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from docmind.evaluation.reports import markdown
from docmind.registry import Registry
from docmind.types import Question

Report = Callable[[Mapping[str, Any], Mapping[str, Any], Sequence[Question]], str]
"""The text of a report on results (results.py), timings by strategy (latency.py) and the questions asked."""

REPORTS: Registry[Report] = Registry("report", [("md", markdown.render)])
"""By the ending of the file that they are written to."""
