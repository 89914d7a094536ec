"""``python -m gradus`` is ``gradus``."""

from gradus._cli import main

if __name__ == "__main__":
    main()
