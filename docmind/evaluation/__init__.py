"""Grades retrieval against an answer key. It is handed retrievers as objects and knows none of them.

key ← scoring ← record ← gate ← reports
"""
