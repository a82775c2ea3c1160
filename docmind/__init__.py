"""DocMind measures retrieval for RAG and keeps it from getting worse. Importing it does nothing."""

__version__ = "0.1.0"
