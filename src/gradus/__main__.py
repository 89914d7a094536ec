"""``python -m gradus`` is ``gradus``."""

from gradus.cli import main

main()
