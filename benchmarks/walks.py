"""How many of our modules and functions a command walks through: ``walks.py [--list] learn data.csv -o model.json``.

Counts Python functions that are called (not what is only imported, nor what Numba has compiled), in every thread.
"""

from __future__ import annotations

import inspect
import json
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import gradus
from gradus._cli.main import run

ROOT = str(Path(gradus.__file__).parent)


def walked(arguments: list[str]) -> Counter[tuple[str, str]]:
    """Return how often each function of ours is called by a command line."""
    calls: Counter[tuple[str, str]] = Counter()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        # Modules and bodies of classes run when they are imported; only functions have this flag.
        if event == "call" and code.co_filename.startswith(ROOT) and code.co_flags & inspect.CO_OPTIMIZED:
            calls[code.co_filename[len(ROOT) + 1 :], code.co_qualname] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        run(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return calls


def main() -> int:
    listing = "--list" in sys.argv
    calls = walked([word for word in sys.argv[1:] if word != "--list"])
    modules = Counter(module for module, _ in calls)
    if listing:
        for module, count in sorted(modules.items()):
            print(f"{count:5d} functions of {module}")
    print(json.dumps({"modules": len(modules), "functions": len(calls)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
