"""Reads a YAML file that a person writes, strictly. What its keys mean is not known here."""

from __future__ import annotations

import reprlib
from pathlib import Path
from typing import Any

import yaml

from docmind.errors import StorageError, UsageError


def read_mapping(path: Path, what: str, option: str, expected: str) -> dict[Any, Any]:
    """The keys and values of `path`, which holds `what`, such as "the thresholds", is named by `option`, and knows the keys
    `expected`. Raises StorageError where it cannot be read, UsageError where it is no YAML mapping or repeats a key."""
    try:
        fields = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 (a safe loader)
    except OSError as error:
        raise StorageError(f"{path}: {what} cannot be read: {error.strerror}. Name a file with {option}.") from error
    except (yaml.YAMLError, ValueError, RecursionError, LookupError, AttributeError, TypeError) as error:  # odd tags
        raise UsageError(
            f"{path}: is no YAML: {' '.join(str(error).split())}. Write one `key: value` a line."
        ) from error
    if not isinstance(fields, dict):
        raise UsageError(f"{path}: holds {reprlib.repr(fields)}; `key: value` lines were expected: {expected}.")
    return fields


class _Loader(yaml.SafeLoader):
    """Refuses a repeated key, of which YAML keeps the last in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: list[object] = []
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                )
            seen.append(key.value)
        return dict(super().construct_mapping(node, deep))
