"""Models for people: what the outputs of a circuit say about the columns of a table, and a page that shows it."""
