"""`gradus export`: write a network in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradus._cli.console import VOTE, check_file
from gradus._core.wording import counted
from gradus._formats.registry import READ, WRITTEN

__all__ = ["command"]


def command(
    model: Annotated[Path, typer.Argument(help=f"A network or model: {' '.join(READ)}", show_default=False)],
    file: Annotated[Path, typer.Argument(help=f"The extension decides the format: {' '.join(WRITTEN)}", show_default=False)],
    vote: Annotated[bool, typer.Option("--vote", help=VOTE)] = False,
) -> None:
    """Write a network in another format: as a circuit, a model of genes, formulas or a picture.

    Example: gradus export model.json circuit.v
    """
    from gradus._formats.circuits import export
    from gradus._tables.model import load

    check_file(file, WRITTEN)
    loaded = load(model).voted() if vote else load(model)
    network = loaded.as_read()
    export(loaded, file)
    sizes = [(network.n_inputs, "input"), (network.n_outputs, "target"), (int(network.live.sum()), "gate")]
    typer.echo(f"wrote {file}: {', '.join(counted(number, what) for number, what in sizes)}")
