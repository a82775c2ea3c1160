"""How ONNX Runtime computes, for every model alike. No model is named here."""

from __future__ import annotations

import os

PROVIDERS = ["CPUExecutionProvider"]
"""Always the processor, so that a machine with another device gives the same bits as one without."""


def threads() -> int:
    """How many threads a model computes with: one a processor."""
    return os.cpu_count() or 1


def silence() -> None:
    """Turns the runtime's telemetry off, which its builds for Windows have."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
