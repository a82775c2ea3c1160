"""TREC files, a run and its qrels a strategy, from which trec_eval and ir_measures get the same hit and mrr; their nDCG is
another (eval/README.md says why), and the format has no place to say so.

A chunk is relevant (1) where it covers a piece of the question's gold. Outside tools ignore the ranks and break ties
in ways of their own, so scores here fall strictly: 1/rank. Ids are percent-encoded, since columns end at white space.
"""

from __future__ import annotations

from urllib.parse import quote

from docmind.evaluation.reports.material import Material, Report
from docmind.spec import slug

NOTHING = "no-chunk-covers-it"
"""Stands for what would answer a question that no chunk does: without a line in the qrels it would leave the means."""


def render(material: Material) -> dict[str, str]:
    """`latest.STRATEGY.run` and `latest.STRATEGY.qrels`, of the answerable questions."""
    files = {}
    for name, strategy in material.record.strategies.items():
        run, qrels = [], []
        for question in material.questions:
            if not question.gold:
                continue
            for rank, hit in enumerate(strategy.questions[question.id].hits, start=1):
                run.append(f"{_id(question.id)} Q0 {_id(hit.chunk)} {rank} {1 / rank:.6f} {_id(name)}\n")
            for chunk in sorted(material.relevant[name][question.id]) or [NOTHING]:
                qrels.append(f"{_id(question.id)} 0 {_id(chunk)} 1\n")
        files[f"latest.{slug(name)}.run"] = "".join(run)
        files[f"latest.{slug(name)}.qrels"] = "".join(qrels)
    return files


REPORT = Report(render, ("latest.{strategy}.run", "latest.{strategy}.qrels"))


def _id(name: str) -> str:
    """Reversible: urllib.parse.unquote."""
    return quote(name, safe="+/#")
