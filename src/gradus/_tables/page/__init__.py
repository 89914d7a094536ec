"""Models for people: the rules of a circuit over the columns of a table, and a page that shows them."""
