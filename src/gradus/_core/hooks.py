"""What a lower package needs of a higher one, by name: the public module states where it is."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["HOOKS", "call_hook"]

HOOKS: dict[str, tuple[str, str]] = {}
"""Module and function of each hook, filled in by `gradus`; imported when it is first called."""


def call_hook(name: str, *arguments: Any) -> Any:
    """Call what is registered under this name, or return None if nothing is."""
    if name not in HOOKS:
        return None
    module, function = HOOKS[name]
    return getattr(importlib.import_module(module), function)(*arguments)
