"""Write benchmarks of the contest of 2020 as the PLA files that `gradus reproduce contest --data FOLDER` takes.

    python benchmarks/contest_files.py odd.npz FOLDER --left 1/4

The archive has, for number k, ``n<k>`` columns, of which the last is the output, and ``train<k>``, ``valid<k>`` and
``test<k>``, each a matrix of packed rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from gradus.lab import files


def pla(rows: np.ndarray) -> bytes:
    """Return rows of zeros and ones, whose last column is the output, as a PLA file."""
    text = np.full((len(rows), rows.shape[1] + 2), ord(" "), dtype=np.uint8)
    text[:, : rows.shape[1] - 1] = rows[:, :-1] + ord("0")
    text[:, -2], text[:, -1] = rows[:, -1] + ord("0"), ord("\n")
    head = f".i {rows.shape[1] - 1}\n.o 1\n.p {len(rows)}\n.type fr\n"
    return head.encode() + text.tobytes() + b".e\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("archive", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--left", default="0/1", metavar="K/N", help="only numbers that leave K on division by N")
    options = parser.parse_args()
    rest, by = map(int, options.left.split("/"))
    options.folder.mkdir(parents=True, exist_ok=True)
    with np.load(options.archive) as archive:
        for name in archive.files:
            if name.startswith("n") and int(name[1:]) % by == rest:
                number, width = int(name[1:]), int(archive[name])
                for kind in ("train", "valid", "test"):
                    rows = np.unpackbits(archive[f"{kind}{number}"], axis=1)[:, :width]
                    files.write_bytes_whole(options.folder / f"ex{number:02d}.{kind}.pla", pla(rows))


if __name__ == "__main__":
    main()
