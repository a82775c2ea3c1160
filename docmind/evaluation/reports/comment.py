"""The verdict as Markdown for a pull request's comment and a job's summary, first things first, in at most LIMIT bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import quote

from docmind.evaluation.gate.check import FAILED, INCOMPLETE, PASSED, Check
from docmind.evaluation.gate.compare import Change, Flip
from docmind.evaluation.gate.verdict import Verdict, probability
from docmind.evaluation.record.types import HitResult
from docmind.evaluation.reports import reading
from docmind.evaluation.reports.excerpts import in_brief
from docmind.evaluation.reports.inert import cut, html, markdown
from docmind.evaluation.reports.material import Material, Report
from docmind.evaluation.reports.movements import moved, ranks
from docmind.evaluation.reports.tables import MISSING, Table
from docmind.types import Question

LIMIT = 60_000
"""Bytes of UTF-8. A comment may have 65,536 characters and a summary 1 MiB; bytes are never fewer than characters."""

QUESTION_LENGTH = 160
PASSAGE_LENGTH = 120

ERROR_LENGTH = 8_000
"""Characters of an error that are shown: a corpus may tell of many faults at once."""

_CHECKED: Mapping[bool | None, str] = {True: "✅", False: "❌", None: "⚠️"}
QUIET = ("regression", "max_regression")
"""Rules that are told only where they are broken, or not judged: the tables below have their figures."""

SIGNS = {PASSED: "✅", FAILED: "❌", INCOMPLETE: "⚠️"}
"""Of a verdict, by exit code."""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows between a head and a tail. Only rows are left out where room is short, and then their number is told."""

    head: str
    rows: Sequence[str] = ()
    tail: str = ""


def render(material: Material) -> dict[str, str]:
    """`latest.comment.md`; nothing where no verdict was asked for."""
    verdict = material.verdict
    if verdict is None:
        return {}
    return {"latest.comment.md": fit(_blocks(material, verdict), LIMIT)}


def failed(error: str, code: int) -> dict[str, str]:
    """`latest.comment.md` of a run that `error` ended with this exit code."""
    return {"latest.comment.md": no_verdict("Retrieval", error, code)}


REPORT = Report(render, ("latest.comment.md",), failed)


def no_verdict(what: str, error: str, code: int, length: int = ERROR_LENGTH) -> str:
    """The text where a run on `what` ended before it was judged: of the error's first `length` characters each line for
    itself."""
    lines = [f"- {markdown(told)}" for told in cut(error, length).splitlines() if told.strip()]
    ended = f"exit code {code}: {reading.MEANING[code]}"
    head = f"### {SIGNS[INCOMPLETE]} {what}: no verdict\n\nThe run ended before it could judge ({ended}):\n"
    return fit([Block(head, lines)], LIMIT)


def _blocks(material: Material, verdict: Verdict) -> list[Block]:
    comparison = verdict.comparison
    terms = [f"- ⚖️ **{markdown(label)}**: {markdown(told)}" for label, told in reading.judged_by(verdict)]
    checks = sorted(verdict.checks, key=lambda check: (check.passed is True, check.passed is False))
    blocks = [
        Block(f"### {SIGNS[verdict.exit_code]} Retrieval: the gate {_is(verdict)}\n"),
        Block("", terms[:1]),
        Block("", [f"- ⚠️ {markdown(reason)}" for reason in verdict.incomplete]),
        Block("", [f"- ℹ️ for information: {markdown(told)}" for told in verdict.information]),
        Block("", [f"- ⚠️ {markdown(note)}" for note in material.notes]),
        Block("", [line(check) for check in checks if check.passed is not True or check.name not in QUIET]),
        Block("", terms[1:]),  # after what decides, which a long proposal must not crowd out
    ]
    if table := moved(verdict):
        blocks.append(_moved(table, verdict))
    if comparison.changes:
        head = (
            f"\nHit@3 over the {comparison.questions} questions that are the same in both runs, in points:\n\n"
            "| strategy | before | after | change | 95 % interval | lost | gained | p | after Holm |\n"
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
        )
        blocks.append(Block(head, [_row(change, verdict) for change in comparison.changes], f"\n{_reading(verdict)}"))
    blocks.append(Block("\n**What differs from the baseline**\n", [f"- {markdown(d)}" for d in comparison.differences]))
    for reason, names in comparison.not_compared.items():
        blocks.append(Block("", [f"- questions {reason}, so not compared ({len(names)}): {_listed(names)}"]))
    if comparison.added:
        blocks.append(Block("", [f"- strategies without a baseline: {_listed(comparison.added)}"]))
    questions = {question.id: question for question in material.questions}
    blocks += [_falls(material, questions, check) for check in verdict.checks if check.falls]
    changes = sorted(comparison.changes, key=lambda c: (c.strategy != verdict.production, -len(c.lost), c.strategy))
    blocks += [_flips(material, questions, change, "lost", change.lost) for change in changes if change.lost]
    blocks += [_flips(material, questions, change, "gained", change.gained) for change in changes if change.gained]
    return blocks


def _is(verdict: Verdict) -> str:
    failed = list(dict.fromkeys(check.name for check in verdict.checks if check.passed is False))
    if verdict.exit_code == 0:
        return "passed"
    told = f"failed ({', '.join(failed)})" if failed else ""
    return told if verdict.exit_code == 1 else " and ".join(filter(None, [told, "could not judge the whole run"]))


def line(check: Check) -> str:
    """A check as an item of a list."""
    return f"- {_CHECKED[check.passed]} **{check.name}**: {markdown(check.told)}"


def _moved(table: Table, verdict: Verdict) -> Block:
    head = (
        f"\n{markdown(verdict.production)} (production) over the questions that are the same in both runs, in percent and "
        f"points:\n\n| {' | '.join(table.header)} |\n|---|{'---:|' * (len(table.header) - 2)}---|"
    )
    strong = [[*row[:-1], f"**{row[-1]}**" if "beyond" in row[-1] else row[-1]] for row in table.rows]
    return Block(head, [f"| {' | '.join([markdown(row[0]), *row[1:]])} |" for row in strong])


def _row(change: Change, verdict: Verdict) -> str:
    told = "" if verdict.judges(change.strategy) else " (for information)"
    if change.strategy == verdict.production:
        told = f" (production){told}"
    figures = (
        f"{100 * change.before / change.n:.1f}",
        f"{100 * change.after / change.n:.1f}",
        f"{0.0 - 100 * float(change.drop):+.1f}",
        f"{100 * change.low:+.1f} to {100 * change.high:+.1f}",
        str(len(change.lost)),
        str(len(change.gained)),
        probability(change.p),
        probability(change.adjusted),
    )
    return f"| {' | '.join([markdown(change.strategy) + told, *figures])} |"


def _reading(verdict: Verdict) -> str:
    changes = verdict.comparison.changes
    noisy = sum(change.within_noise for change in changes)
    return f"{reading.FIGURES} Within noise: {noisy} of {len(changes)} strategies. {reading.smallest_drop(verdict)}\n"


def _flips(
    material: Material, questions: Mapping[str, Question], change: Change, verb: str, flips: Sequence[Flip]
) -> Block:
    n = f"{len(flips)} question{'s' if len(flips) > 1 else ''}"
    place = "" if verb == "gained" else " lost at | in its place |"
    head = (
        f"\n<details><summary>{html(change.strategy)} {verb} {n}</summary>\n\n"
        f"| question | rank |{place}\n|---|---|{'---|---|' if place else ''}"
    )
    return Block(head, [_flip(material, questions[f.question_id], f, bool(place)) for f in flips], "\n</details>\n")


def _falls(material: Material, questions: Mapping[str, Question], check: Check) -> Block:
    n = f"{len(check.falls)} question{'s' if len(check.falls) > 1 else ''}"
    head = (
        f"\n<details><summary>{html(check.strategy)} lost {html(check.of)} on {n}</summary>\n\n"
        "| question | rank | in its place |\n|---|---|---|"
    )
    rows = [
        f"| {_linked(material, questions[f.question_id])} | {ranks(f)} | {_instead(material, f.instead)} |"
        for f in check.falls
    ]
    return Block(head, rows, "\n</details>\n")


def _linked(material: Material, question: Question) -> str:
    target = f"{material.link}{quote(PurePath(material.key).as_posix())}#L{question.line}"
    return f"[{markdown(question.id)}]({target}) {markdown(cut(question.text, QUESTION_LENGTH))}"


def _flip(material: Material, question: Question, flip: Flip, displaced: bool) -> str:
    cells = [
        _linked(material, question),
        f"{flip.old or MISSING} → {flip.new or MISSING}",
    ]
    if displaced:
        cells += [flip.lost_at or MISSING, _instead(material, flip.instead)]
    return f"| {' | '.join(cells)} |"


def _instead(material: Material, hit: HitResult | str | None) -> str:
    if hit is None:
        return MISSING
    return ": ".join(markdown(part) for part in in_brief(hit, material.documents, PASSAGE_LENGTH) if part)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(map(markdown, names[:10])) + more


def fit(blocks: Sequence[Block], limit: int) -> str:
    """The text of the blocks in at most `limit` bytes: whole rows, in order, as many as there is room for after all heads,
    tails and notes on what was left out."""
    left_out = "\n- {} more rows left out here: see latest.html and latest.json."
    if_cut = len(left_out.encode()) + len(str(sum(len(block.rows) for block in blocks)))
    room = limit - sum(len(f"{block.head}\n\n{block.tail}".encode()) + if_cut for block in blocks)
    parts = []
    for block in blocks:
        shown = 0
        for row in block.rows:
            room -= len(row.encode()) + 1
            if room < 0:
                break
            shown += 1
        rest = len(block.rows) - shown
        note = [left_out.format(rest)] if rest else []
        parts.append("\n".join(filter(None, [block.head, *block.rows[:shown], *note, block.tail])))
    return "\n".join(filter(None, parts)) + "\n"
