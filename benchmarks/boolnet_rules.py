"""Rules that BoolNet (an R package) reconstructs from series, for comparison; R is started as a program of its own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_INPUTS", "boolnet_missing", "boolnet_rules"]

MOST_INPUTS = 4
"""Largest regulator set that BoolNet tries; its time grows about tenfold with each one more."""
Rule = tuple[tuple[int, ...], npt.NDArray[np.bool_]]

PROGRAM = """
suppressMessages(library(BoolNet))
given <- commandArgs(trailingOnly = TRUE)
rows <- as.matrix(read.csv(given[1], header = FALSE))
series <- lapply(split(seq_len(nrow(rows)), rows[, 1]), function(own) {
  states <- t(rows[own, -1, drop = FALSE])
  rownames(states) <- paste0("g", seq_len(nrow(states)))
  states
})
found <- suppressWarnings(reconstructNetwork(unname(series), method = given[2], maxK = as.integer(given[3])))
for (solutions in found$interactions) {
  first <- if (length(solutions)) solutions[[1]] else list(input = integer(0), func = -1)
  cat(paste(first$input, collapse = " "), ";", paste(first$func, collapse = " "), "\\n", sep = "")
}
"""


def boolnet_missing() -> str | None:
    """Say why BoolNet cannot be asked; None if it can."""
    if shutil.which("Rscript") is None:
        return "there is no Rscript on the path"
    asked = subprocess.run(["Rscript", "-e", "library(BoolNet)"], capture_output=True, text=True, check=False)
    return None if asked.returncode == 0 else "R has no package BoolNet"


def boolnet_rules(runs: Sequence[npt.NDArray[np.bool_]], method: str) -> list[Rule | None]:
    """Reconstruct the rule of each gene: the first of the smallest sets with the fewest errors, as BoolNet lists them.

    Parameters
    ----------
    runs : sequence of bool arrays (steps, genes)
    method : "bestfit" or "reveal"

    Returns
    -------
    list
        Regulators and next values in each cell (bit i of a cell's number is the value of regulator i), and None where
        BoolNet finds nothing. A cell that was never seen has the gene's usual value.
    """
    lines = [",".join(map(str, [number, *row.astype(int)])) for number, run in enumerate(runs) for row in run]
    with tempfile.TemporaryDirectory() as folder:
        program, table = Path(folder, "rules.R"), Path(folder, "series.csv")
        program.write_text(PROGRAM)
        table.write_text("\n".join(lines) + "\n")
        told = subprocess.run(
            ["Rscript", str(program), str(table), method, str(MOST_INPUTS)], capture_output=True, text=True, check=True
        )
    usual = np.concatenate([run[1:] for run in runs]).mean(axis=0) >= 0.5
    return [_rule(line, bool(usual[gene])) for gene, line in enumerate(told.stdout.splitlines())]


def _rule(line: str, usual: bool) -> Rule | None:
    inputs_text, values_text = line.split(";")
    inputs = [int(number) - 1 for number in inputs_text.split() if number != "0"]
    values = [int(value) for value in values_text.split()]
    if values == [-1] and not inputs:
        return None
    # BoolNet counts its first input as the highest bit.
    cells = np.array([usual if value < 0 else value == 1 for value in values])
    order = np.argsort(inputs)
    numbers = np.arange(len(cells))
    places = sum(
        (((numbers >> low) & 1) << (len(inputs) - 1 - int(at)) for low, at in enumerate(order)), np.zeros_like(numbers)
    )
    return tuple(sorted(inputs)), cells[places]
