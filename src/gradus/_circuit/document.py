"""Network files: JSON that is checked when read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradus._circuit.gate_list import GateList
from gradus._core.gates import GATE_NAMES
from gradus.errors import FormatError

__all__ = ["format_document", "parse_document"]

FORMAT = "gradus-network"
VERSION = 2
READS_AS = "gate g is node len(inputs)+g: [function of a and b, node a, node b]; an output is the id of a node"
_FUNCTIONS = dict(zip(GATE_NAMES, range(16), strict=True))


def format_document(circuit: GateList, inputs: Sequence[str], outputs: Sequence[str], about: dict[str, Any] | None) -> str:
    """Return the text of a network file, with one gate per line and whatever else is worth keeping as "about"."""
    gates = []
    for function, (a, b) in zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True):
        gates.append(f"    {json.dumps([GATE_NAMES[function], a, b])}")
    ends = dict(zip(outputs, circuit.outputs.tolist(), strict=True))
    document = {"format": FORMAT, "version": VERSION, "reads_as": READS_AS}
    document |= {} if about is None else {"about": about}
    document |= {"inputs": list(inputs), "gates": [], "outputs": ends}
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document.items()]
    if gates:
        lines[-2] = '  "gates": [\n' + ",\n".join(gates) + "\n  ]"
    return "{\n" + ",\n".join(lines) + "\n}\n"


def parse_document(text: str) -> tuple[GateList, list[str], list[str]]:
    """Return a circuit whose nodes are not yet checked against one another, and the names of its inputs and outputs."""
    document = _checked_head(text)
    inputs, gates, outputs = (document.get(key) for key in ("inputs", "gates", "outputs"))
    if not (isinstance(inputs, list) and all(isinstance(name, str) for name in inputs)):
        raise FormatError("'inputs' must be a list of names.")
    if not (isinstance(outputs, dict) and all(_is_node(node) for node in outputs.values())):
        raise FormatError("'outputs' must map each target's name to a node id.")
    if not (isinstance(gates, list) and all(isinstance(gate, list) and _is_node_pair(gate[1:]) for gate in gates)):
        raise FormatError("'gates' must be a list of gates such as [\"xor\", 0, 1]: a function and two node ids.")
    for position, (name, _, _) in enumerate(gates):
        if not isinstance(name, str) or name not in _FUNCTIONS:
            raise FormatError(f"gate {position} has the unknown function {name!r}; use one of {', '.join(GATE_NAMES)}.")
    functions = np.array([_FUNCTIONS[name] for name, _, _ in gates], np.uint8)
    sources = np.array([gate[1:] for gate in gates], np.int64).reshape(-1, 2)
    ends = np.array(list(outputs.values()), np.int64)
    return GateList(len(inputs), functions, sources, ends), inputs, list(outputs)


def _checked_head(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text, object_pairs_hook=_no_repeated_keys)
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg}); expected a model that gradus learn wrote."
        raise FormatError(message, line=error.lineno, column=error.colno) from error
    except (RecursionError, ValueError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise FormatError(f"not a Gradus network: {what}.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f'not a Gradus network: there is no "format": "{FORMAT}".')
    version = document.get("version")
    if version != VERSION or isinstance(version, bool):
        remedy = "; update Gradus" if isinstance(version, int) and version > VERSION else ""
        raise FormatError(f"the network has version {version!r}, and this Gradus reads version {VERSION}{remedy}.")
    return document


def _no_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse repeated keys such as {"z0": 1, "z0": 2}, of which the parser would silently keep the last."""
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise FormatError(f"the name {key!r} occurs twice in one object.")
    return dict(pairs)


def _is_node(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _is_node_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_node(node) for node in value)
