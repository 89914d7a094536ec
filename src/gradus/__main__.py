"""``python -m gradus`` is ``gradus``."""

from gradus.cli import main

if __name__ == "__main__":
    main()
