"""One tree of errors. What a user can mend is one of these; anything else is a fault of DocMind.

    DocMindError            exit code 2
    ├── UsageError          an unknown name, an impossible option
    ├── MissingPackageError a package of an extra that is not installed
    ├── CorpusError         a folder or page that cannot be read as documents
    ├── AnswerKeyError      a question or its evidence that cannot be used
    ├── ModelError          weights missing, altered or out of reach; a text too long for the model
    ├── LanguageModelError  a language model out of reach, refusing, or answering what cannot be read
    ├── StorageError        an index, a cache or a result that cannot be written or read
    │   └── RecordError     a file of results that is not what a run writes
    │       └── BaselineError   a baseline that is not
    └── IncompleteError     exit code 3: nothing to score, or not comparable

A message says the value, what was expected, and the command or edit that mends it.
"""

from __future__ import annotations

from docmind.types import Usage


class DocMindError(Exception):
    """The root. `exit_code` is what a command ends with when the error reaches it."""

    exit_code = 2


class UsageError(DocMindError):
    """An unknown name or an impossible option."""


class MissingPackageError(DocMindError):
    """A package of an extra that is not installed."""


class CorpusError(DocMindError):
    """A folder or page that cannot be read as documents."""


class AnswerKeyError(DocMindError):
    """A question, or evidence of it, that cannot be used."""


class ModelError(DocMindError):
    """Weights missing, altered or out of reach, or a text too long for the model."""


class LanguageModelError(DocMindError):
    """A language model out of reach, refusing, or answering what cannot be read. `usage` is what `model`, named as in a
    Completion, cost all the same."""

    def __init__(self, message: str, model: str = "", usage: Usage | None = None) -> None:
        super().__init__(message)
        self.model = model
        self.usage = usage or Usage()


class StorageError(DocMindError):
    """An index, a cache or a result that cannot be written or read."""


class RecordError(StorageError):
    """A file of results that is cut, edited, of another version or something else. It names the field."""


class BaselineError(RecordError):
    """A baseline that is."""


class IncompleteError(DocMindError):
    """Nothing to score, or what cannot be compared."""

    exit_code = 3
