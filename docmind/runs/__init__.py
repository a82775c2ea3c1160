"""Joins engine, key, metrics, records and observers into runs. It shows nothing and asks nobody."""
