"""Retrievers that are not DocMind's own, reached by Python, HTTP, a command or a file, and graded like its own."""
