"""Files in and out: one module per format, for both directions, imported when it is used.

`gradus._formats.writers.export` writes a network in any of the formats.
"""

from __future__ import annotations

__all__ = ["MODELS"]

MODELS = (".bnet", ".sbml", ".blif", ".aag", ".aig")
"""Extensions of the Boolean models that are read."""
