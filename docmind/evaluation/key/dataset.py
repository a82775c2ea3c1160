"""Reads the answer key: JSON lines to questions with located evidence. Faults are told all at once, never mended."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from docmind.errors import AnswerKeyError, IncompleteError, UsageError
from docmind.evaluation.key.evidence import Pages, short
from docmind.evaluation.key.forms import AnyOf, Form, Full, Message, Place, Short
from docmind.files import read_whole
from docmind.registry import did_you_mean
from docmind.text import nfc
from docmind.types import Document, Gold, Question, Span, Turn

TOLD = 20
"""How many faults one error tells; of the rest it gives the number."""

NAMED = 5
"""How many pages a warning names; of the rest it gives the number."""

SHOWN = 80
"""How many characters of a wrong value an error shows."""

_NESTED: dict[int | str, type[Form]] = {"any": Place, "history": Message}
_log = logging.getLogger(__name__)
F = TypeVar("F", bound=Form)
Q = TypeVar("Q")


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The questions asked for, in the order of the file; what was logged of the file's weak spots; the SHA-256, in hex,
    of its bytes; and how many questions a filter left out."""

    questions: tuple[Question, ...]
    warnings: tuple[str, ...]
    sha256: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """A question as it stands in `line`, its evidence not looked for: `gold` has of each piece the first alternative, a page and
    its words. Without any the question is unanswerable."""

    id: str
    text: str
    type: str | None
    line: int
    gold: tuple[tuple[str, str], ...]


def read_written(path: Path) -> tuple[Written, ...]:
    """The answer key in `path` without its documents, in its order. Raises as `load_questions` does, but knows nothing of what is
    wrong with evidence."""
    reader = _Reader(path, Pages((), lambda page: ""))
    found = tuple(reader.read(_decode(path, _data(path)), reader.written))
    _check(path, reader.faults, found)
    return found


def load_questions(
    path: Path,
    documents: Iterable[Document],
    *,
    types: Collection[str] = (),
    ids: Collection[str] = (),
    why_left_out: Callable[[str], str] = lambda page: "",
) -> AnswerKey:
    """The answer key in `path`, its evidence located in `documents`: the questions of `types` and `ids`, if given.
    `why_left_out` says of a page that is none of `documents` why it is not, "" where it is not known.

    The whole file is checked, whatever is asked for. Evidence that stands in several places is a warning, and every
    place counts. Raises AnswerKeyError, which tells every fault with its line; IncompleteError where the file holds no
    question or the filters leave none; UsageError where a filter's value is known to no question, but others are.
    """
    data = _data(path)
    reader = _Reader(path, Pages(documents, why_left_out))
    questions = reader.read(_decode(path, data), reader.question)
    _check(path, reader.faults, questions)
    for warning in reader.warnings:
        _log.warning("%s", warning)
    kept = _filter(questions, types, ids, path)
    return AnswerKey(
        kept, tuple(reader.warnings), hashlib.sha256(data).hexdigest(), left_out=len(questions) - len(kept)
    )


def _data(path: Path) -> bytes:
    try:
        return read_whole(path)
    except OSError as error:
        raise AnswerKeyError(
            f"{path}: the answer key cannot be read: {error.strerror}. Name a file of JSON lines with --questions."
        ) from error


def _check(path: Path, faults: Sequence[str], questions: Sequence[object]) -> None:
    if faults:
        raise AnswerKeyError(_summary(path, faults))
    if not questions:
        raise IncompleteError(f"{path}: holds no question. Write one JSON object a line.")


def _decode(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise AnswerKeyError(
            f"{path}:{line}: the byte {data[error.start]:#04x} is not UTF-8. Save the file as UTF-8."
        ) from error


def _summary(path: Path, faults: Sequence[str]) -> str:
    more = [f"and {len(faults) - TOLD} more"] if len(faults) > TOLD else []
    return "\n".join([f"{path}: faults in the answer key: {len(faults)}", *faults[:TOLD], *more])


def _filter(
    questions: Sequence[Question], types: Collection[str], ids: Collection[str], path: Path
) -> tuple[Question, ...]:
    types, ids = [*map(nfc, types)], [*map(nfc, ids)]
    known_types = dict.fromkeys(question.type for question in questions if question.type is not None)
    known_ids = [question.id for question in questions]
    kept = tuple(q for q in questions if (not types or q.type in types) and (not ids or q.id in ids))
    if not kept:
        raise IncompleteError(
            f"{path}: no question is left by the filter (types: {', '.join(types) or 'any'}; "
            f"ids: {', '.join(ids) or 'any'}). There are the types {', '.join(known_types) or '(none)'}, and "
            f"{len(known_ids)} ids from {known_ids[0]!r} to {known_ids[-1]!r}."
        )
    for kind, asked, known in (("type", types, list(known_types)), ("id", ids, known_ids)):
        for name in asked:
            if name not in known:
                raise UsageError(f"{path}: no question has the {kind} {name!r}.{did_you_mean(name, known)}")
    return kept


class _Reader:
    """Goes through the file once, and keeps what is wrong with it."""

    def __init__(self, path: Path, pages: Pages) -> None:
        self.faults: list[str] = []
        self.warnings: list[str] = []
        self._path = path
        self._pages = pages
        self._line_of: dict[str, int] = {}
        self._where = ""

    def read(self, text: str, make: Callable[[Full | Short, int], Q]) -> list[Q]:
        """What `make` makes of the lines that have the form, each with its number. Lines end at line feeds alone: JSON may hold
        other breaks."""
        questions = []
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                self._where = f"{self._path}:{number}"
                form = self._form(line, number)
                if form:
                    questions.append(make(form, number))
        return questions

    def written(self, form: Full | Short, number: int) -> Written:
        """As it stands there."""
        gold = tuple((either[0].source, either[0].evidence) for either in self._pieces(form) if either)
        return Written(form.id, form.question, form.type, number, gold)

    def _form(self, line: str, number: int) -> Full | Short | None:
        try:
            from_json(line)  # stricter than json: no NaN, no endless nesting
            fields = json.loads(line, object_pairs_hook=_refuse_repeated)
        except ValueError as error:
            self._fault(f"{short(line.strip(), SHOWN)} is not JSON ({error}). Write one JSON object a line.")
            return None
        if not isinstance(fields, dict):
            self._fault(f"{short(fields, SHOWN)} is no JSON object. Write an object with id, question and gold.")
            return None
        self._name(fields.get("id"), number)
        return self._shape(Full, fields) if "gold" in fields else self._shape(Short, fields)

    def question(self, form: Full | Short, number: int) -> Question:
        """With its evidence located."""
        for doc_id in form.doc_ids or ():
            try:
                self._pages.check(doc_id)
            except AnswerKeyError as error:
                self._fault(str(error))
        return Question(
            id=form.id,
            text=form.question,
            gold=tuple(self._gold(alternatives, form.doc_ids) for alternatives in self._pieces(form)),
            type=form.type,
            answer=form.answer,
            history=tuple(Turn(message.role, message.text) for message in form.history),
            doc_ids=None if form.doc_ids is None else frozenset(form.doc_ids),
            split=form.split,
            author=form.author,
            reviewed_by_human=form.reviewed_by_human,
            near_miss=form.near_miss,
            line=number,
        )

    def _name(self, question_id: object, number: int) -> None:
        """Every later fault of the line names its question."""
        if not isinstance(question_id, str):
            return
        question_id = nfc(question_id)
        self._where += f": {question_id}"
        first = self._line_of.setdefault(question_id, number)
        if first != number:
            self._fault(f"the id {question_id!r} stands in line {first} already. Give each question an id of its own.")

    def _shape(self, form: type[F], fields: object, at: str = "") -> F | None:
        try:
            return form.model_validate(fields)
        except ValidationError as error:
            for details in error.errors():
                self._fault(_tell(form, details, at))
            return None

    def _pieces(self, form: Full | Short) -> list[list[Place]]:
        """For each piece its alternatives."""
        if isinstance(form, Short):
            if form.source is None or form.evidence is None:
                return []
            return [[Place(source=form.source, evidence=form.evidence, section=form.section, also_in=form.also_in)]]
        pieces = []
        for index, fields in enumerate(form.gold or ()):
            at = f"gold[{index}]."
            if "any" in fields:
                either = self._shape(AnyOf, fields, at)
                pieces.append(either.any if either else [])
            else:
                place = self._shape(Place, fields, at)
                pieces.append([place] if place else [])
        return pieces

    def _gold(self, alternatives: Sequence[Place], doc_ids: Sequence[str] | None) -> Gold:
        spans: list[Span] = []
        for place in alternatives:
            spans += self._find(place.source, place.evidence, place.section, doc_ids)
            for page in place.also_in:
                spans += self._find(page, place.evidence, None, doc_ids)
        self._warn_of_twins(alternatives, spans, doc_ids)
        return Gold(spans=tuple(dict.fromkeys(spans)))

    def _warn_of_twins(
        self, alternatives: Sequence[Place], spans: Sequence[Span], doc_ids: Sequence[str] | None
    ) -> None:
        """A hit on a page that says the same and is not listed would count as a miss."""
        twins = {page for span in spans for page in self._pages.twins(span)} - {span.doc_id for span in spans}
        others = sorted(twins if doc_ids is None else twins.intersection(doc_ids))
        if others:
            more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
            self.warnings.append(
                f"{self._where}: what is around evidence {short(alternatives[0].evidence)} stands word for word in "
                f"{', '.join(others[:NAMED])}{more} too, which would be a miss. Name it in also_in, or limit the question by "
                "doc_ids."
            )

    def _find(self, source: str, evidence: str, section: str | None, doc_ids: Sequence[str] | None) -> tuple[Span, ...]:
        try:
            found = self._pages.find(source, evidence, section)
        except AnswerKeyError as error:
            self._fault(str(error))
            return ()
        if doc_ids is not None and source not in doc_ids:
            self._fault(f"{source!r} holds evidence, but is not among doc_ids, so it cannot be found. Add it there.")
        if len(found) > 1:
            self.warnings.append(
                f"{self._where}: evidence {short(evidence)} stands {len(found)} times in {source}, and every place counts. "
                "Quote more of it, or name the section."
            )
        return found

    def _fault(self, message: str) -> None:
        self.faults.append(f"{self._where}: {message}")


def _tell(form: type[Form], details: ErrorDetails, at: str) -> str:
    """A fault of form in words: which key, its value, what was expected."""
    path = details["loc"]
    key = at + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    if details["type"] == "extra_forbidden":
        known = list((form if len(path) == 1 else _NESTED[path[0]]).model_fields)
        return f"unknown key {key!r}.{did_you_mean(str(path[-1]), known)} There are: {', '.join(known)}."
    if details["type"] == "missing":
        unanswerable = " (null if the question cannot be answered)" if key in ("source", "evidence") else ""
        return f"{key!r} is missing. Add it{unanswerable}."
    expected = (
        details["msg"].removeprefix("Value error, ").removeprefix("Input should be ").removeprefix("List should have ")
    )
    return f"{key or 'the line'} is {short(details['input'], SHOWN)}; expected: {expected}."


def _refuse_repeated(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Parsers keep the last of two equal keys, and the first would be lost in silence."""
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise ValueError(f"the key {key!r} stands twice")
        fields[key] = value
    return fields
