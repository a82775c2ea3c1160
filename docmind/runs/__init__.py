"""Conducts what joins the parts: engine, key, metrics, records and observers. Nothing is shown or read from a terminal here."""
