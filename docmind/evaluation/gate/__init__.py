"""Holds a run to its thresholds and to the committed one. It reads records and asks no retriever."""
