"""Files in and out: one module per format, for both directions, imported when it is used.

`gradus._formats.circuits.export` writes a network in any of the formats.
"""

from __future__ import annotations

from gradus._formats.registry import READ as MODELS

__all__ = ["MODELS"]
