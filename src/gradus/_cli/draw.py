"""`gradus draw`: a picture of a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gradus._cli.console import VOTE, check_file
from gradus._core.wording import counted
from gradus._formats.registry import READ
from gradus.errors import FormatError

__all__ = ["command"]


def command(
    model: Annotated[Path, typer.Argument(help=f"A network or model: {' '.join(READ)}", show_default=False)],
    picture: Annotated[Path, typer.Argument(help="Where to draw: a .svg, .png or .pdf file.", show_default=False)],
    order: Annotated[
        str | None,
        typer.Option(
            help="Targets in the order taught, separated by commas; if not given, the order kept in the model, or "
            "else that of the targets.",
            show_default=False,
        ),
    ] = None,
    fold: Annotated[
        bool | None,
        typer.Option(
            "--fold/--no-fold",
            help="Fold gates into boxes; if not given, adders and multiplexers, and in large circuits more.",
        ),
    ] = None,
    vote: Annotated[bool, typer.Option("--vote", help=VOTE)] = False,
) -> None:
    """Draw a network with gate symbols; a gate has the colour of the first target taught that uses it.

    Example: gradus draw model.json net.svg --order z0,z1,z2
    """
    from gradus._circuit.drawing.picture import PICTURES, draw_network
    from gradus._tables.model import load

    check_file(picture, PICTURES)
    loaded = load(model).voted() if vote else load(model)
    taught = _kept_order(loaded.about, model) if order is None else [name.strip() for name in order.split(",")]
    draw_network(loaded.network, picture, order=taught, grouping=loaded.grouping(), fold=fold)
    gates = counted(int(loaded.network.live.sum()), "gate")
    typer.echo(f"drew {picture}: {counted(loaded.network.n_outputs, 'target')}, {gates}")


def _kept_order(about: dict[str, Any], model: Path) -> list[str] | None:
    """Return the order in which the model was taught, if the model holds one."""
    kept = about.get("order")
    if kept is None:
        return None
    if not (isinstance(kept, list) and all(isinstance(name, str) for name in kept)):
        raise FormatError("the order kept in the model is not a list of target names; give one by --order.", path=model)
    return kept
