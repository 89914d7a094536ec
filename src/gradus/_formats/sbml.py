"""SBML-qual, the exchange format of logical models, written by ``biodivine_aeon`` (the extra ``bio``)."""

from __future__ import annotations

from gradus._formats.bnet import write_bnet
from gradus._formats.names import MARK
from gradus._network import Network
from gradus.errors import DataError, MissingExtraError

__all__ = ["write_sbml"]


def write_sbml(network: Network) -> str:
    r"""Return a network as an SBML-qual model with the rules of `gradus._formats.bnet.write_bnet`.

    Returns
    -------
    str
        XML. Names that are not plain identifiers are mapped; comments hold the map.

    Raises
    ------
    MissingExtraError
        If ``biodivine_aeon`` is not installed.
    DataError
        If the network has no variables.

    Examples
    --------
    >>> model = write_sbml(Network(1, [[0, 0]], [1], input_names=["PP*"], output_names=["SK"]))
    >>> print(model.split("\n")[1])
    <!-- gradus-name: PP_ stands for "PP*" -->
    """
    try:
        import biodivine_aeon
    except ImportError as error:
        raise MissingExtraError("SBML needs AEON (the extra 'bio'); run pip install biodivine-aeon.") from error
    if not network.n_inputs + network.n_outputs:
        raise DataError("the network has no inputs and no outputs; an SBML model needs at least one variable.")
    rules = write_bnet(network)
    # Inferring the graph drops nothing from rules over their true support; it adds the sign of each influence.
    model = biodivine_aeon.BooleanNetwork.from_bnet(rules).infer_valid_graph().to_sbml()
    comments = [line[2:] for line in rules.split("\n") if line.startswith(f"# {MARK}")]
    declaration, rest = model.split("?>", 1)
    # An XML comment must not hold two hyphens; in a JSON string a hyphen can be written as an escape.
    held = [line.replace("--", "-\\u002d") for line in comments]
    return "\n".join([f"{declaration}?>", *(f"<!-- {line} -->" for line in held), rest, ""])
