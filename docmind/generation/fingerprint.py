"""What an answer depends on beside its passages: the rules and the code that make it. Part of an answer's key."""

from __future__ import annotations

import hashlib
from pathlib import Path


def fingerprint() -> str:
    """SHA-256, in hex, of the sources of this package, line ends aside: prompts, thresholds, and how text is quoted."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256("".join(sources).encode()).hexdigest()
