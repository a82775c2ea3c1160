"""What the page is started with: `streamlit run app.py -- --corpus DIR`, the options of the command by the same names."""

from __future__ import annotations

from argparse import ArgumentError, ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from docmind.config import PROFILES, Settings
from docmind.errors import UsageError

PLACES = ("corpus", "questions", "out", "baseline", "thresholds", "strategies-file", "index-dir")
"""Options that name a folder or a file."""


def read(arguments: Sequence[str]) -> Settings:
    """The settings that `arguments` ask for, the project's own where they do not. Raises UsageError for any other option,
    or another value than it takes."""
    parser = ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    for place in PLACES:
        parser.add_argument(f"--{place}", dest=place.removesuffix("-file").replace("-", "_"), type=Path)
    parser.add_argument("--profile", choices=PROFILES)
    parser.add_argument("--exclude", action="append")
    try:
        found, others = parser.parse_known_args(arguments)
    except ArgumentError as error:
        raise UsageError(f"{error}. Start the page anew with another value.") from error
    if others:
        known = ", ".join(f"--{name}" for name in (*PLACES, "profile", "exclude"))
        raise UsageError(f"the page has no option {others[0]!r}. There are: {known}, after a --.")
    given = {name: value for name, value in vars(found).items() if value is not None}
    if "exclude" in given:
        given["exclude"] = tuple(given["exclude"])
    return Settings(**given)
