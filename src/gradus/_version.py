"""The version, in one place: the build reads it here too."""

from pathlib import Path

__all__ = ["__version__", "described_version"]

__version__ = "0.3.0"


def described_version() -> str:
    """Return the version and, in an installed distribution, the commit that it was built from."""
    # Written by hatch_build.py; a source folder has none.
    kept = Path(__file__).with_name("_commit.txt")
    return f"{__version__} (commit {kept.read_text(encoding='ascii').strip()})" if kept.exists() else __version__
