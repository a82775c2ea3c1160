"""The verdict as JUnit XML: a suite for the gate, and one a strategy with a test case a question.

A case fails where the gate does for its sake, so that as many suites are red as the verdict says; a question that was
lost within the tolerance is told in the case's output.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET  # written, never parsed

from docmind.evaluation.gate.compare import Change, Flip
from docmind.evaluation.gate.verdict import failing
from docmind.evaluation.reports.material import Material, Report
from docmind.text import visible


def render(material: Material) -> dict[str, str]:
    """`latest.junit.xml`, with the suite of the gate where there is a verdict."""
    root = ET.Element("testsuites", name="docmind")
    changes: dict[str, Change] = {}
    lost: dict[str, frozenset[str]] = {}
    if material.verdict:
        gate = ET.SubElement(root, "testsuite", name="gate")
        for check in material.verdict.checks:
            case = ET.SubElement(gate, "testcase", classname="gate", name=visible(f"{check.name}: {check.told}"))
            if check.passed is not True:
                ET.SubElement(case, "failure" if check.passed is False else "error", message=visible(check.told))
        for reason in material.verdict.incomplete:
            case = ET.SubElement(gate, "testcase", classname="gate", name=visible(reason))
            ET.SubElement(case, "error", message=visible(reason))
        changes = {change.strategy: change for change in material.verdict.comparison.changes}
        lost = failing(material.verdict)
    for name, strategy in material.record.strategies.items():
        suite = ET.SubElement(root, "testsuite", name=name)
        flips = _flips(changes.get(name))
        for question in material.questions:
            found = strategy.questions[question.id]
            case = ET.SubElement(suite, "testcase", classname=name, name=visible(f"{question.id}: {question.text}"))
            if found.error is not None:
                ET.SubElement(case, "error", message=visible(found.error))
            elif flip := flips.get(question.id):
                told = f"rank {flip.old or 'none'} → {flip.new or 'none'}"
                if question.id in lost.get(name, ()):
                    ET.SubElement(case, "failure", message=told)
                else:
                    ET.SubElement(case, "system-out").text = told
    for suite in root:
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("errors", str(len(suite.findall("testcase/error"))))
    ET.indent(root)
    return {"latest.junit.xml": ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"}


REPORT = Report(render, ("latest.junit.xml",))


def _flips(change: Change | None) -> dict[str, Flip]:
    return {flip.question_id: flip for flip in (*change.lost, *change.gained)} if change else {}
