"""Indexes of chunks: Chroma for vectors, BM25 for words, token vectors for late interaction. No ranking is decided here."""
