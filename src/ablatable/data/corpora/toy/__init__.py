"""A synchronous English-German grammar of our own: one abstract sentence, spoken in both languages."""

RECIPE = 1
"""Raise when the grammar would make another text."""
