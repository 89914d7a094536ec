"""Networks and hierarchies as pictures."""
