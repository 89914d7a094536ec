"""SBML-qual, the exchange format of logical models, written by ``biodivine_aeon`` (the extra ``bio``)."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from gradus.errors import DataError, MissingExtraError
from gradus.formats.bnet import dumps as bnet_dumps
from gradus.formats.names import read_map
from gradus.network import Network

__all__ = ["dumps"]


def dumps(network: Network) -> str:
    """Return a network as an SBML-qual model with the rules of `gradus.formats.bnet.dumps`.

    Parameters
    ----------
    network : Network

    Returns
    -------
    str
        XML. The ids are safe names; each species' ``name`` is the name in the network, and the map of changed names
        stands in comments as well.

    Raises
    ------
    MissingExtraError
        If ``biodivine_aeon`` is not installed.
    DataError
        If the network has no variables.

    Examples
    --------
    >>> model = dumps(Network(1, [[0, 0]], [1], input_names=["PP*"], output_names=["SK"]))
    >>> 'qual:name="PP*" qual:id="PP_"' in model
    True
    """
    try:
        import biodivine_aeon
    except ImportError as error:
        raise MissingExtraError("SBML needs biodivine_aeon; install it with: pip install 'gradus[bio]'") from error
    if not network.n_inputs + network.n_outputs:
        raise DataError("the network has no inputs and no outputs; an SBML model needs at least one variable.")
    rules = bnet_dumps(network)
    # Inferring the graph drops nothing from rules over their true support; it adds the sign of each influence.
    model = biodivine_aeon.BooleanNetwork.from_bnet(rules).infer_valid_graph().to_sbml()
    original = read_map(rules)
    for safe, name in original.items():
        if all(_xml_can_hold(character) for character in name):
            model = model.replace(f'qual:name="{safe}"', f"qual:name={quoteattr(name)}")
    comments = [line.lstrip("# ") for line in rules.split("\n") if line.startswith("# gradus-name:")]
    declaration, rest = model.split("?>", 1)
    # Two hyphens may not stand in an XML comment; in a JSON string a hyphen can be spelled by its number.
    held = [line.replace("--", "-\\u002d").replace("--", "-\\u002d") for line in comments]
    return "\n".join([f"{declaration}?>", *(f"<!-- {line} -->" for line in held), rest, ""])


def _xml_can_hold(character: str) -> bool:
    """Say whether XML 1.0 has a way to write a character at all."""
    code = ord(character)
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
