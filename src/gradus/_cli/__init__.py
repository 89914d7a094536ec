"""The command line: one module per verb, imported when the verb is called."""

from gradus._cli.main import main

__all__ = ["main"]
