"""From ranked passages to a cited answer. What finds the passages is not known here."""
