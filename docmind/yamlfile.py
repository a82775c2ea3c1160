"""YAML as it is written: every value is its text, of no other type. What its keys mean is not known here."""

from __future__ import annotations

import reprlib
from collections.abc import Container, Hashable
from pathlib import Path
from typing import Any

import yaml

from docmind.errors import StorageError, UsageError
from docmind.files import read_whole
from docmind.parameters import DECIMAL
from docmind.text import nfc

LONGEST = 100_000
"""Characters of a YAML text, its aliases written out; one of a hundred lines has some thousand."""

_NOTHING = ("", "~", "null")
_MERGED = "<<"


class NotYamlError(ValueError):
    """Why a text is no YAML that is read here, and in which of its `line`s, from 1."""

    def __init__(self, reason: object, line: int = 1) -> None:
        super().__init__(" ".join(str(reason).split()))
        self.line = line


def values(text: str, numbers: Container[str] = ()) -> object:
    """What the YAML in `text` says: mappings by text, lists, text as it is written (NFC), None for what is empty or `null`.

    1.10, 17:30, 012, no and 2024-10-05 are text: what types YAML would make of them has changed from version to version,
    and how they are written would be lost. Tags mean nothing for the same reason. Only the values of keys among `numbers`
    are numbers where they are written plainly, as parameters are. Aliases and `<<` are followed.

    Raises NotYamlError for anything else, a key that stands twice, and a text of more than LONGEST characters, its aliases
    written out.
    """
    if len(text) > LONGEST:
        raise NotYamlError(f"it has {len(text):,} characters; {LONGEST:,} are read")
    try:
        found = _Loader(text, numbers).get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise NotYamlError(getattr(error, "problem", None) or error, 1 + mark.line if mark else 1) from error
    except RecursionError as error:
        raise NotYamlError("it is nested too deeply") from error
    except (ValueError, OverflowError) as error:  # each Python has other words for it
        raise NotYamlError("an escape or the version of YAML holds a number out of range") from error
    _refuse_grown(found)
    return found


def read_mapping(path: Path, what: str, option: str, expected: str, numbers: Container[str] = ()) -> dict[str, Any]:
    """The keys and values of `path`, as `values` has them, which holds `what`, such as "the thresholds", is named by
    `option`, and knows the keys `expected`. Raises StorageError where it cannot be read, UsageError where it is no YAML
    mapping."""
    try:
        fields = values(read_whole(path).decode("utf-8-sig"), numbers)
    except OSError as error:
        raise StorageError(f"{path}: {what} cannot be read: {error.strerror}. Name a file with {option}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is no YAML: {error}. Save it as UTF-8.") from error
    except NotYamlError as error:
        raise UsageError(f"{path}: is no YAML: line {error.line}: {error}. Write one `key: value` a line.") from error
    if not isinstance(fields, dict):
        raise UsageError(f"{path}: holds {reprlib.repr(fields)}; `key: value` lines were expected: {expected}.")
    return fields


class _Loader(yaml.BaseLoader):
    """Builds what `values` gives. PyYAML refuses an alias to what it stands in."""

    def __init__(self, text: str, numbers: Container[str]) -> None:
        super().__init__(text)
        self._numbers = numbers

    def construct_scalar(self, node: yaml.ScalarNode) -> Any:
        if not node.style and node.value in _NOTHING:
            return None
        # JSON writes what lies beyond U+FFFF as two escapes, and one alone is no character
        return nfc(str(node.value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        found: dict[Hashable, Any] = {}
        for at, inner in node.value:
            if not isinstance(at, yaml.ScalarNode):
                raise _fault("a key that is no text was found", at)
            key = str(at.value)
            if key in found:
                raise _fault(f"the key {reprlib.repr(key)} stands twice", at)
            found[key] = self._number(inner) if key in self._numbers else self.construct_object(inner)
        merged = found.pop(_MERGED, [])
        for defaults in merged if isinstance(merged, list) else [merged]:
            if not isinstance(defaults, dict):
                raise _fault(f"{_MERGED} wants a mapping, or a list of them", node)
            found = {**defaults, **found}
        return found

    def _number(self, node: yaml.Node) -> object:
        if isinstance(node, yaml.ScalarNode) and not node.style and DECIMAL.fullmatch(node.value):
            return float(node.value) if "." in node.value else int(node.value)
        return self.construct_object(node)


def _fault(problem: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _refuse_grown(found: object) -> None:
    """Raise NotYamlError where `found` is longer than LONGEST: a few lines of aliases can stand for gigabytes."""
    length = 0
    left = [found]
    while left:
        value = left.pop()
        if isinstance(value, str):
            length += len(value)
        elif isinstance(value, dict):
            length += len(value) + sum(map(len, value))
            left.extend(value.values())
        elif isinstance(value, list):
            length += len(value)
            left.extend(value)
        if length > LONGEST:
            raise NotYamlError(f"its aliases (*name) stand for more than {LONGEST:,} characters. Write fewer out")
