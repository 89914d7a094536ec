"""`gradus export`: write a learned network in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradus._cli.output import check_file
from gradus._core.wording import counted

__all__ = ["command"]


def command(
    model: Annotated[Path, typer.Argument(help="A network that 'gradus learn' wrote (.json).", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(
            help="File; its extension says how: .v .blif .bench .aag .aig .bnet .sbml .dot .txt .json .svg .png .pdf",
            show_default=False,
        ),
    ],
) -> None:
    """Write a learned network as Verilog, BLIF, BENCH, AIGER, .bnet, SBML, DOT, formulas or a picture.

    Example: gradus export model.json circuit.v
    """
    from gradus._formats.writers import EXTENSIONS, export
    from gradus._tables.model import load

    check_file(file, EXTENSIONS)
    loaded = load(model)
    network = loaded.network
    export(loaded, file)
    sizes = [(network.n_inputs, "input"), (network.n_outputs, "target"), (int(network.live.sum()), "live gate")]
    typer.echo(f"wrote {file}: {', '.join(counted(number, what) for number, what in sizes)}")
