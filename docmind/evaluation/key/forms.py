"""The forms that a line of the answer key can have. Shapes alone: whether evidence is in its page is not known here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from docmind.text import nfc, words


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("text that is not blank")
    return text


def _with_a_word(text: str) -> str:
    if not words(text):
        raise ValueError("a question that holds a word, as whoever asks the documents needs one")
    return text


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("text without line breaks and control characters")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
Page = Annotated[Text, AfterValidator(nfc)]
"""A page's path below the corpus, as documents are called: composed (NFC), whoever wrote it."""
Name = Annotated[Text, AfterValidator(_printable), AfterValidator(nfc)]
"""Stands in file names, in logs and in reports of one line."""


class Form(BaseModel):
    """Strict: no key but the known ones, no value taken for one of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Place(Form):
    """Where a piece of evidence stands: in `source`, and, word for word, in the pages `also_in`, which answer too."""

    source: Page
    evidence: Text
    section: Text | None = None
    also_in: list[Page] = []


class AnyOf(Form):
    """Alternatives, any one of which will do."""

    any: Annotated[list[Place], Field(min_length=1)]


class Message(Form):
    """A turn of the conversation before the question."""

    role: Literal["user", "assistant"]
    text: Text


class Line(Form):
    """What both forms of a line share."""

    id: Name
    question: Annotated[Text, AfterValidator(_with_a_word)]
    type: Name | None = None
    answer: Text | None = None
    split: Literal["dev", "test"] | None = None
    author: Text | None = None
    reviewed_by_human: bool = False
    near_miss: bool = False
    history: list[Message] = []
    doc_ids: Annotated[list[Page], Field(min_length=1)] | None = None


class Full(Line):
    """Pieces of evidence that are all needed, each to be read as Place or AnyOf; none means unanswerable."""

    gold: list[dict[str, Any]] | None


class Short(Line):
    """One piece. `source` and `evidence` are both null for an unanswerable question."""

    source: Page | None
    evidence: Text | None
    section: Text | None = None
    also_in: list[Page] = []

    @model_validator(mode="after")
    def _both_or_none(self) -> Short:
        if (self.source is None) != (self.evidence is None):
            raise ValueError("source and evidence together, or both null for an unanswerable question")
        if self.source is None and (self.section or self.also_in):
            raise ValueError("no section and no also_in where there is no evidence")
        return self
