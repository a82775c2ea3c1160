"""REPORTS, the catalogue of ways to tell results. To add one: a file beside this one, and a line here."""

from __future__ import annotations

from docmind.evaluation.reports import comment, github, html, junit, markdown, outputs, trec
from docmind.evaluation.reports.material import Material, Report
from docmind.registry import Registry

__all__ = ["REPORTS", "Material", "Report"]

REPORTS: Registry[Report] = Registry(
    "report",
    [
        ("markdown", markdown.REPORT),
        ("comment", comment.REPORT),
        ("html", html.REPORT),
        ("junit", junit.REPORT),
        ("github", github.REPORT),
        ("outputs", outputs.REPORT),
        ("trec", trec.REPORT),
    ],
)
