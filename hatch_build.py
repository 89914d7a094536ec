"""Build hook: the commit that a distribution is made from goes into it, so that `gradus --version` needs no git."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KEPT = "src/gradus/_commit.txt"


class CommitHook(BuildHookInterface):
    """Adds ``_commit.txt`` to wheels and source distributions made from a git checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the commit into a temporary file, and have it packed."""
        root = Path(self.root)
        # A source distribution has the file already; it may lie in a checkout of something else.
        if (root / KEPT).exists() or version == "editable":
            return
        commit = _commit_of(root)
        if commit is not None:
            self._folder = tempfile.TemporaryDirectory()
            written = Path(self._folder.name, "commit.txt")
            written.write_text(f"{commit}\n", encoding="ascii")
            place = KEPT if self.target_name == "sdist" else KEPT.removeprefix("src/")
            build_data["force_include"][str(written)] = place


def _commit_of(root: Path) -> str | None:
    """Return the commit of a checkout, with ``-dirty`` if files were changed; None where git or its folder is missing."""
    if not (root / ".git").exists():
        return None
    words = ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"]
    try:
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None
