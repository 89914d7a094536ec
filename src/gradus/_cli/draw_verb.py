"""`gradus draw`: a picture of a learned network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gradus._cli.output import check_file
from gradus._files import read_text
from gradus._wording import counted
from gradus.errors import FormatError

__all__ = ["command"]


def command(
    model: Annotated[Path, typer.Argument(help="A network that 'gradus learn' wrote (.json).", show_default=False)],
    picture: Annotated[Path, typer.Argument(help="Where to draw: a .svg, .png or .pdf file.", show_default=False)],
    order: Annotated[
        str | None,
        typer.Option(
            help="Targets in the order taught, separated by commas; if not given, the order kept in the model, or "
            "else that of the targets.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Draw a learned network with gate symbols; a gate has the colour of the first target taught that uses it.

    Example: gradus draw model.json net.svg --order z0,z1,z2
    """
    from gradus._drawing.picture import PICTURES, draw_network
    from gradus._network import Network

    check_file(picture, PICTURES)
    network = Network.load(model)
    taught = _kept_order(model) if order is None else [name.strip() for name in order.split(",")]
    draw_network(network, picture, order=taught)
    gates = counted(int(network.live.sum()), "live gate")
    typer.echo(f"drew {picture}: {counted(network.n_outputs, 'target')}, {gates}")


def _kept_order(model: Path) -> list[str] | None:
    """Return the order that a model's "about" part holds, if it holds one; the model is known to be JSON by now."""
    about = json.loads(read_text(model)).get("about")
    kept = about.get("order") if isinstance(about, dict) else None
    if kept is None:
        return None
    if not (isinstance(kept, list) and all(isinstance(name, str) for name in kept)):
        raise FormatError("the order kept in the model is not a list of target names; give one by --order.", path=model)
    return kept
