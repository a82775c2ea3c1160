"""The catalogue of the ways to reach a retriever that is not DocMind's own. To add one: a file beside this one, a line here,
and a key in declared.py. What it answers is graded like DocMind's own."""

from __future__ import annotations

from collections.abc import Callable

from docmind.foreign.command import CommandSource
from docmind.foreign.declared import Declared
from docmind.foreign.http import UrlSource
from docmind.foreign.lines import FileSource
from docmind.foreign.python import PythonSource
from docmind.foreign.reply import Source
from docmind.foreign.trec import TrecSource
from docmind.registry import Registry

SOURCES: Registry[Callable[[Declared], Source]] = Registry(
    "way to reach a retriever",
    [
        ("python", PythonSource),
        ("url", UrlSource),
        ("command", CommandSource),
        ("file", FileSource),
        ("trec", TrecSource),
    ],
)


def open_source(declared: Declared) -> Source:
    """What asks that retriever. Close it. Raises UsageError or StorageError where it cannot be reached at all."""
    return SOURCES[declared.kind](declared)
