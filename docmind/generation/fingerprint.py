"""What an answer depends on beside its passages: the rules and the code that make it. Part of an answer's key."""

from __future__ import annotations

import hashlib

from docmind.code import sources

CODE = ("generation", "llm", "text.py", "types.py")


def fingerprint() -> str:
    """SHA-256, in hex, of the sources, line ends aside: prompts, thresholds, how text is quoted and a reply is read."""
    return hashlib.sha256(str(sources(*CODE)).encode()).hexdigest()
