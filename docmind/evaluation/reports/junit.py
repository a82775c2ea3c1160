"""The verdict as JUnit XML: a suite for the gate, and one a strategy with a test case an answerable question.

Names hold no figure and stay the same from run to run, since dashboards tell a case's history by its name. A case fails
where the gate does for its sake, so that as many suites are red as the verdict says. Any other question that is missed at
3 is skipped, with what became of it: it did not pass, and nobody is asked to mend it now.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET  # written, never parsed

from docmind.evaluation.gate.compare import Change, Flip
from docmind.evaluation.gate.movement import Fall
from docmind.evaluation.gate.verdict import Verdict, failing, falls
from docmind.evaluation.record.types import QuestionResult
from docmind.evaluation.reports.material import Material, Report
from docmind.evaluation.reports.movements import ranks
from docmind.evaluation.reports.reading import judged_by
from docmind.evaluation.scoring.spans import is_hit
from docmind.text import visible


def render(material: Material) -> dict[str, str]:
    """`latest.junit.xml`, with the suite of the gate where there is a verdict."""
    root = ET.Element("testsuites", name="docmind")
    verdict = material.verdict
    if verdict:
        _gate(ET.SubElement(root, "testsuite", name="gate"), verdict)
    changes = {change.strategy: change for change in verdict.comparison.changes} if verdict else {}
    lost = failing(verdict) if verdict else {}
    for name, strategy in material.record.strategies.items():
        suite = ET.SubElement(root, "testsuite", name=visible(name))
        flips = _flips(changes.get(name))
        fell = falls(verdict, name) if verdict else {}
        for question in material.questions:
            found = strategy.questions[question.id]
            if question.gold or found.error is not None:
                case = _case(suite, name, f"{question.id}: {question.text}")
                told = _ranks(found, flips.get(question.id), fell.get(question.id))
                _tell(case, found, told, question.id in flips, question.id in lost.get(name, ()))
    for suite in root:
        suite.set("tests", str(len(suite)))
        for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(attribute, str(len(suite.findall(f"testcase/{element}"))))
    ET.indent(root)
    return {"latest.junit.xml": ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"}


REPORT = Report(render, ("latest.junit.xml",))


def _flips(change: Change | None) -> dict[str, Flip]:
    return {flip.question_id: flip for flip in (*change.lost, *change.gained)} if change else {}


def _gate(suite: ET.Element, verdict: Verdict) -> None:
    """A case a check, and one for the run as a whole."""
    for check in verdict.checks:
        case = _case(suite, "gate", check.title)
        if check.passed is True:
            ET.SubElement(case, "system-out").text = visible(check.told)
        else:
            ET.SubElement(case, "error" if check.passed is None else "failure", message=visible(check.told))
    case = _case(suite, "gate", "the run is whole and can be compared")
    if verdict.incomplete:
        ET.SubElement(case, "error", message=visible("; ".join(verdict.incomplete)))
    if told := "\n".join(f"{label}: {text}" for label, text in judged_by(verdict)):
        ET.SubElement(case, "system-out").text = visible(told)


def _case(suite: ET.Element, group: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=visible(group), name=visible(name))


def _ranks(found: QuestionResult, flip: Flip | None, fall: Fall | None) -> str:
    if fall:
        return f"rank{'s' if len(fall.old) > 1 else ''} {ranks(fall)}"
    return f"rank {flip.old or 'none'} → {flip.new or 'none'}" if flip else f"rank {found.rank or 'none'}"


def _tell(case: ET.Element, found: QuestionResult, told: str, flipped: bool, fails: bool) -> None:
    """What became of a question: nothing is said of one that is hit as it was before."""
    if found.error is not None:
        ET.SubElement(case, "error", message=visible(found.error))
    elif fails:
        ET.SubElement(case, "failure", message=told)
    elif not is_hit(found.rank):
        ET.SubElement(case, "skipped", message=f"missed at 3: {told}{', within what may be lost' if flipped else ''}")
    elif flipped:
        ET.SubElement(case, "system-out").text = told
