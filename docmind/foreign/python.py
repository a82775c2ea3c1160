"""A retriever that is Python: `python: package.module:name`, a function, or an object of LangChain or LlamaIndex."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from time import perf_counter

from docmind.errors import UsageError
from docmind.foreign.declared import Declared
from docmind.foreign.reading import reply
from docmind.foreign.reply import Asked, Reply, ReplyError
from docmind.foreign.within import within

METHODS = ("invoke", "retrieve")
"""By which retrievers of LangChain and of LlamaIndex are asked, with the question alone."""


class PythonSource:
    """What its module prints while it is imported goes to stderr. A question that takes too long is left to itself."""

    live = True

    def __init__(self, declared: Declared) -> None:
        """Raises UsageError where there is no such module or name, or importing it fails."""
        self._timeout = declared.timeout
        self._found, self._code = _imported(declared.python or "")
        self._call = _call(self._found, declared.python or "")

    @property
    def treatment(self) -> Mapping[str, str]:
        """The hash of the module's source file."""
        return {"code": self._code}

    def ask(self, asked: Asked) -> Reply:
        """Raises ReplyError where it raises, takes too long or gives something else than passages."""
        started = perf_counter()
        try:
            found = within(self._timeout, lambda: self._call(asked))
        except (ReplyError, KeyboardInterrupt):
            raise
        except BaseException as error:  # also SystemExit: whatever it does is its own fault
            raise ReplyError(f"it raised {type(error).__name__}: {' '.join(str(error).split())}") from error
        return reply(found, seconds=perf_counter() - started)

    def close(self) -> None:
        """There is nothing to let go of."""


def _imported(place: str) -> tuple[object, str]:
    """What stands under the name, and the hash of its module's file."""
    name, _, attribute = place.partition(":")
    if not name or not attribute:
        raise UsageError(f"python: {place!r} was found; expected: package.module:name, such as search.app:find.")
    try:
        with _own_folder(), redirect_stdout(sys.stderr):
            module = importlib.import_module(name)
        found: object = module
        for part in attribute.split("."):
            found = getattr(found, part)
    except AttributeError as error:
        raise UsageError(f"python: {place!r}: {error}. Name a function or an object of that module.") from error
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # a module may do anything while it is imported, also end the process
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise UsageError(
            f"python: {name!r} cannot be imported: {told}. It is looked for in the current folder and among what is installed."
        ) from error
    file = getattr(module, "__file__", None)
    return found, hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


@contextmanager
def _own_folder() -> Iterator[None]:
    """The current folder is looked in first, as by `python -m`."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _call(found: object, place: str) -> Callable[[Asked], object]:
    """How `found` is asked."""
    for method in METHODS:
        if callable(ask := getattr(found, method, None)):
            return lambda asked: _waited(ask(asked.text))
    if not callable(found):
        raise UsageError(
            f"python: {place!r} is {type(found).__name__}; expected: a function (question, k), or a retriever."
        )
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return lambda asked: _waited(found(asked.text, asked.k))
    for arguments in (("", 1), ("",)):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        both = len(arguments) == 2
        return lambda asked: _waited(found(*(asked.text, asked.k)[: 1 + both]))
    raise UsageError(f"python: {place!r} takes {signature}; expected: a function (question, k).")


def _waited(found: object) -> object:
    """What it gives, waited for where it is a coroutine; an iterator is a list."""
    if inspect.iscoroutine(found):
        import asyncio

        return asyncio.run(found)
    return list(found) if isinstance(found, Iterator) else found
