"""A regression on show: a small handbook made on the spot, a search of thirty lines over it, and a change that breaks it."""
