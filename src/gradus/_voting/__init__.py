"""Circuits that vote about a table of numbers and categories, and the one circuit that is learned from their vote."""
