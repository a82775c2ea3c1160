"""DocMind measures retrieval for RAG and keeps it from getting worse. Importing it does nothing.

    import docmind

    run = docmind.evaluate("my-docs", "questions.jsonl", ["headers+rerank", "headers(size=300)+rerank(depth=100)"])
    run["headers+rerank"].metrics["hit@3"]
    run.save("results")

    with docmind.open("my-docs") as search:
        search("headers+rerank", "how long is parental leave?", k=3).hits[0].text

docs/library.md tells the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docmind.config import Settings as Settings
    from docmind.errors import DocMindError as DocMindError
    from docmind.runs.retrieval import Evaluation as Evaluation
    from docmind.runs.retrieval import compare as compare
    from docmind.runs.retrieval import evaluate as evaluate
    from docmind.runs.retrieval import open as open
    from docmind.runs.retrieval import read as read

__version__ = "0.1.0"

__all__ = ["DocMindError", "Evaluation", "Settings", "compare", "evaluate", "open", "read"]

_HOMES = {"DocMindError": "docmind.errors", "Settings": "docmind.config"}


def __getattr__(name: str) -> object:
    """What stands in __all__, imported when it is first asked for: the models and indexes take a second."""
    if name not in __all__:
        raise AttributeError(f"module 'docmind' has no attribute {name!r}. There are: {', '.join(__all__)}.")
    return getattr(import_module(_HOMES.get(name, "docmind.runs.retrieval")), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
