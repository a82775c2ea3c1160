"""Reads what a foreign retriever answered, of whatever form, as a Reply. What is none is a ReplyError with the value."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping, Sequence

from docmind.foreign.declared import Fields
from docmind.foreign.reply import Passage, Reply, ReplyError, Step

LONGEST = 1_000_000
"""Characters of a passage."""

MOST = 10_000
"""Passages of a reply."""

SOURCES = ("source", "file_path", "file_name", "path", "doc_id", "url")
"""Where the metadata of a library's documents name the document, in this order."""


def loads(data: bytes | str) -> object:
    """The JSON in `data`, which is UTF-8. Raises ReplyError where it is none; NaN and infinity are none."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        return json.loads(text, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise ReplyError(f"the reply is not UTF-8 ({error.reason} at byte {error.start})") from None
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"the reply is no JSON ({error}): {short(data)}") from None


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def reply(found: object, names: Fields | None = None, seconds: float | None = None) -> Reply:
    """The Reply that `found` is: a list of passages, or an object with such a list, with `steps`, or both."""
    names = names or Fields()
    version = ""
    steps: list[Step] = []
    listed: object = found
    if isinstance(found, Mapping):
        version = str(found.get("version") or "")
        if found.get("steps") is not None:
            steps = [_step(step, names) for step in _list(found["steps"], "steps")]
        if not names.passages:
            raise ReplyError(
                f"the reply is an object, and fields.passages says that it is the list itself: {short(found)}"
            )
        listed = _at(found, names.passages, None)
        if listed is None and not steps:
            raise ReplyError(f"the reply has no {names.passages!r}: {short(found)}")
    elif not isinstance(found, list | tuple):
        raise ReplyError(f"the reply is neither a list of passages nor an object: {short(found)}")
    passages = tuple(passage(each, names) for each in _list(listed, names.passages)) if listed is not None else ()
    return Reply(passages, tuple(steps), version, seconds)


def passage(found: object, names: Fields) -> Passage:
    """The passage that `found` is: a text, a mapping, or an object of LangChain, LlamaIndex or Haystack."""
    if isinstance(found, Passage):
        return _checked(found)
    if isinstance(found, str):
        return _checked(Passage(found))
    if not isinstance(found, Mapping):
        found = _of_library(found)
    text, source = _at(found, names.text, ""), _at(found, names.source, None)
    name = _at(found, names.id, None)
    return _checked(
        Passage(
            text=_text("text", text),
            source=None if source is None else _text("source", source),
            start=_offset("start", _at(found, names.start, None)),
            end=_offset("end", _at(found, names.end, None)),
            score=_score(_at(found, names.score, None)),
            id=None if name is None else str(name),
        )
    )


def _step(found: object, names: Fields) -> Step:
    if not isinstance(found, Mapping):
        raise ReplyError(f"a step is no object with query and passages: {short(found)}")
    listed = _list(_at(found, names.passages or "passages", None), "passages of a step")
    return Step(_text("query of a step", found.get("query", "")), tuple(passage(each, names) for each in listed))


def _list(found: object, what: str) -> Sequence[object]:
    if not isinstance(found, list | tuple):
        raise ReplyError(f"{what}: a list was expected: {short(found)}")
    if len(found) > MOST:
        raise ReplyError(f"{what}: {len(found):,} were found; at most {MOST:,} are read")
    return found


def _at(found: Mapping[str, object], path: str, default: object) -> object:
    """What stands in `found` under the names of `path`, or under the whole of it."""
    if path in found:
        return default if found[path] is None else found[path]
    value: object = found
    for name in path.split("."):
        if not isinstance(value, Mapping) or value.get(name) is None:
            return default
        value = value[name]
    return value


def _of_library(found: object) -> Mapping[str, object]:
    """The parts of a library's object: a node and its score (LlamaIndex), or a document (LangChain, Haystack)."""
    score = getattr(found, "score", None)
    node = getattr(found, "node", found)
    content = getattr(node, "get_content", None)
    text = content() if callable(content) else getattr(node, "page_content", getattr(node, "content", None))
    if not isinstance(text, str):
        raise ReplyError(f"a passage is neither text nor a mapping nor a document of a known library: {short(found)}")
    meta = getattr(node, "metadata", None) or getattr(node, "meta", None) or {}
    known = [str(meta[name]) for name in SOURCES if isinstance(meta, Mapping) and meta.get(name)]
    name = getattr(node, "node_id", None) or getattr(node, "id", None)
    return {"text": text, "source": known[0] if known else None, "score": score, "id": name}


def _text(what: str, found: object) -> str:
    if not isinstance(found, str):
        raise ReplyError(f"{what}: a text was expected: {short(found)}")
    if len(found) > LONGEST:
        raise ReplyError(f"{what}: {len(found):,} characters were found; at most {LONGEST:,} are read")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise ReplyError(f"{what}: holds half of a character (a lone surrogate): {short(found)}") from None
    return found


def _offset(what: str, found: object) -> int | None:
    if found is None:
        return None
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise ReplyError(f"{what}: a whole number from 0 was expected: {short(found)}")
    return found


def _score(found: object) -> float | None:
    if found is None:
        return None
    try:
        value = float(found) if not isinstance(found, bool | str | bytes) else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise ReplyError(f"score: a finite number was expected: {short(found)}")
    return value


def _checked(found: Passage) -> Passage:
    """Raises ReplyError where a passage says neither what nor where it is."""
    if not found.text.strip() and not found.source:
        raise ReplyError("a passage has neither text nor source")
    if (found.start is None) != (found.end is None):
        raise ReplyError("a passage has one of start and end; both were expected, or neither")
    if found.start is not None and found.end is not None and found.start >= found.end:
        raise ReplyError(f"start {found.start} and end {found.end}: a start before the end was expected")
    return found


def short(found: object) -> str:
    """A value as an error shows it."""
    return reprlib.repr(found)
