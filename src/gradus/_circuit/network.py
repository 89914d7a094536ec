"""`Network`: an immutable feedforward circuit of gates with two inputs each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit.document import format_document, parse_document
from gradus._circuit.gate_list import GateList, as_nands, cleaned
from gradus._core.bits import BoolMatrix, WordMatrix, as_bits, check_unique, n_words, pack, unpack
from gradus._core.files import read_guard, read_text, write_text_whole
from gradus._core.gates import NAND, gate_words, reads
from gradus._core.hooks import call_hook
from gradus._core.wording import counted
from gradus.errors import DataError, FormatError

__all__ = ["Network", "cone_of", "given_names", "network_of", "part_of"]

ROWS_AT_ONCE = 1 << 16
MOST_SPELLED_OUT = 8


class Network:
    """An immutable feedforward circuit of gates with two inputs each.

    Nodes 0 … n_inputs-1 are the inputs; gate g is node n_inputs+g and computes a Boolean function of its two sources, which
    are nodes below it and may be equal. Any node can be an output.

    Parameters
    ----------
    n_inputs : int
        Number of inputs.
    sources : array-like of int, shape (n_gates, 2)
        Node ids that each gate reads.
    outputs : sequence of int
        One node id per target.
    functions : sequence of int, optional
        The truth table of each gate as a number from 0 to 15: the value at source values (a, b) is bit 2a+b. So NAND is 7,
        AND 8, OR 14, NOR 1, XOR 6, XNOR 9, NOT a 3. All gates are NAND if not given.
    input_names, output_names : sequence of str, optional
        Unique names; ``x0, x1, …`` and ``z0, z1, …`` if not given.

    Examples
    --------
    >>> half_adder = Network(2, [[0, 1], [0, 1]], [2, 3], [6, 8], output_names=["sum", "carry"])
    >>> half_adder.predict([[0, 0], [0, 1], [1, 0], [1, 1]]).astype(int).tolist()
    [[0, 0], [1, 0], [1, 0], [0, 1]]
    >>> Network(2, [[0, 1]], [2])
    Network(2, [[0, 1]], [2])
    """

    def __init__(
        self,
        n_inputs: int,
        sources: npt.ArrayLike,
        outputs: Sequence[int] | npt.NDArray[np.integer[Any]],
        functions: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
        *,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        self._n_inputs = int(n_inputs)
        self._sources = _checked_sources(self._n_inputs, sources)
        self._functions = _checked_functions(len(self._sources), functions)
        self._outputs = _checked_outputs(self._n_inputs + len(self._sources), outputs)
        self._input_names = _checked_names(input_names, self._n_inputs, "input")
        self._output_names = _checked_names(output_names, len(self._outputs), "output")

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self._n_inputs

    @property
    def n_gates(self) -> int:
        """Number of gates, including those that no output depends on."""
        return len(self._sources)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self._outputs)

    @property
    def sources(self) -> npt.NDArray[np.int64]:
        """Node ids that each gate reads, shape (n_gates, 2); read-only."""
        return self._sources

    @property
    def functions(self) -> npt.NDArray[np.uint8]:
        """Truth table of each gate, see `Network`; read-only."""
        return self._functions

    @property
    def outputs(self) -> npt.NDArray[np.int64]:
        """Node id of each output; read-only."""
        return self._outputs

    @property
    def input_names(self) -> tuple[str, ...]:
        """A name for each input."""
        return self._input_names or tuple(f"x{i}" for i in range(self.n_inputs))

    @property
    def output_names(self) -> tuple[str, ...]:
        """A name for each output."""
        return self._output_names or tuple(f"z{k}" for k in range(self.n_outputs))

    def with_names(self, input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None) -> Network:
        """Return the same circuit with other names; None restores ``x0, x1, …`` or ``z0, z1, …``."""
        return Network(
            self.n_inputs, self._sources, self._outputs, self._functions, input_names=input_names, output_names=output_names
        )

    @cached_property
    def live(self) -> npt.NDArray[np.bool_]:
        """For each gate, whether any output depends on it; read-only.

        Examples
        --------
        >>> Network(1, [[0, 0], [0, 1], [1, 1]], [3]).live
        array([ True, False,  True])
        """
        used = self.cone(range(self.n_outputs))[self.n_inputs :]
        used.flags.writeable = False
        return used

    def cone(self, outputs: Sequence[int] | range) -> npt.NDArray[np.bool_]:
        """Return, for each node, whether one of these outputs (positions, not node ids) depends on it.

        A gate does not depend on a source that its function ignores.

        Examples
        --------
        >>> Network(2, [[0, 0], [1, 1]], [2, 3]).cone([1])
        array([False,  True, False,  True])
        """
        used = np.zeros(self.n_inputs + self.n_gates, dtype=np.bool_)
        used[self._outputs[list(outputs)]] = True
        wires = self.read_sources
        for gate in range(self.n_gates - 1, -1, -1):
            if used[self.n_inputs + gate]:
                used[wires[gate]] = True
        return used

    @cached_property
    def read_sources(self) -> list[list[int]]:
        """The distinct nodes that each gate depends on: none, one or two."""
        wires = []
        for function, (a, b) in zip(self._functions.tolist(), self._sources.tolist(), strict=True):
            reads_a, reads_b = reads(function, a == b)
            wires.append([a] * reads_a + [b] * reads_b)
        return wires

    @cached_property
    def depth(self) -> int:
        """Number of gates on the longest path from an input to an output.

        Examples
        --------
        >>> Network(2, [[0, 1], [2, 2]], [3]).depth
        2
        """
        levels = [0] * self.n_inputs
        for sources in self.read_sources:
            levels.append(1 + max((levels[source] for source in sources), default=0))
        return max((levels[node] for node in self._outputs.tolist()), default=0)

    def predict(self, X: Any) -> BoolMatrix:
        """Evaluate every output on every row.

        Parameters
        ----------
        X : array-like of 0/1, shape (n, n_inputs)

        Returns
        -------
        ndarray of bool, shape (n, n_outputs)
        """
        rows = as_bits(X)
        if rows.shape[1] != self.n_inputs:
            raise DataError(f"X has {rows.shape[1]} columns, but the network reads {self.n_inputs} inputs.")
        result = np.empty((len(rows), self.n_outputs), dtype=np.bool_)
        read = self._read_inputs  # a circuit may read only a few inputs, and packing takes longer than evaluating
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            words = np.zeros((self.n_inputs, n_words(len(part))), dtype=np.uint64)
            words[read] = pack(part[:, read])
            result[start : start + len(part)] = unpack(self.node_words(words)[self._outputs], len(part))
        return result

    @cached_property
    def _read_inputs(self) -> npt.NDArray[np.intp]:
        """Inputs that some output depends on."""
        return np.flatnonzero(self.cone(range(self.n_outputs))[: self.n_inputs])

    def node_words(self, inputs: WordMatrix) -> WordMatrix:
        """Return the values of all nodes on packed examples, shape (nodes, words); see `gradus._core.bits.pack`."""
        values = np.empty((self.n_inputs + self.n_gates, inputs.shape[1]), dtype=np.uint64)
        values[: self.n_inputs] = inputs
        gates = zip(self._functions.tolist(), self._sources.tolist(), strict=True)
        for node, (function, (a, b)) in enumerate(gates, start=self.n_inputs):
            gate_words(function, values[a], values[b], values[node])
        return values

    def prune(self, *, absorb: bool = True) -> Network:
        """Return the circuit without needless gates; the others keep their order.

        Gates that no output depends on are dropped, and equal gates are made once. Constants, buffers and inverters are
        absorbed by the gates that read them; only outputs can remain gates of one node, or constants (gates that ignore
        node 0).

        Parameters
        ----------
        absorb : bool
            If False, gates are only dropped, so that the functions of the others stay as they are.

        Examples
        --------
        >>> Network(2, [[0, 0], [1, 1], [2, 3]], [4]).prune()
        Network(2, [[0, 1]], [2], [14])
        >>> Network(1, [[0, 0], [0, 1], [1, 1]], [3]).prune(absorb=False)
        Network(1, [[0, 0], [1, 1]], [2])
        """
        return self._of(cleaned(self._live_gates()) if absorb else self._live_gates())

    def _live_gates(self) -> GateList:
        """Return the live gates; a source that a gate ignores may be dead, so it is replaced."""
        new_id = np.cumsum(np.concatenate([np.ones(self.n_inputs, dtype=np.bool_), self.live])) - 1
        used = []
        for read, live in zip(self.read_sources, self.live.tolist(), strict=True):
            if live:
                used.append((read[0], read[-1]) if read else (0, 0))
        sources = np.array(used, dtype=np.int64).reshape(-1, 2)
        return GateList(self.n_inputs, self._functions[self.live], new_id[sources], new_id[self._outputs])

    def to_nand(self) -> Network:
        """Return an equivalent network of NAND gates only; if all gates are NAND already, return the network itself.

        Examples
        --------
        >>> Network(2, [[0, 1]], [2], [6]).to_nand()
        Network(2, [[0, 1], [0, 2], [1, 2], [3, 4]], [5])
        """
        if (self._functions == NAND).all():
            return self
        return self._of(as_nands(self.prune()._live_gates())).prune(absorb=False)

    def _of(self, gates: GateList) -> Network:
        return network_of(gates, input_names=self._input_names, output_names=self._output_names)

    def save(self, path: str | PathLike[str], *, about: dict[str, Any] | None = None) -> None:
        """Write the network as human-readable JSON; the file is written whole or not at all.

        Parameters
        ----------
        path : path-like
        about : dict, optional
            Anything else to keep (settings, scores); `load` ignores it.
        """
        write_text_whole(path, self.to_json(about=about))

    def to_json(self, *, about: dict[str, Any] | None = None) -> str:
        """Return the text that `save` writes."""
        circuit = GateList(self.n_inputs, self._functions, self._sources, self._outputs)
        return format_document(circuit, self.input_names, self.output_names, about)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Network:
        """Read a network that `save` wrote; `gradus.read_network` reads other formats too.

        Raises
        ------
        FormatError
            If the file is not such a network.
        """
        with read_guard(path, "a network"):
            return cls.from_json(read_text(path))

    @classmethod
    def from_json(cls, text: str) -> Network:
        """Read the text that `to_json` returned."""
        circuit, inputs, outputs = parse_document(text)
        try:
            return network_of(circuit, **given_names(inputs, outputs))
        except DataError as error:
            raise FormatError(str(error)) from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self._n_inputs == other._n_inputs
            and np.array_equal(self._sources, other._sources)
            and np.array_equal(self._functions, other._functions)
            and np.array_equal(self._outputs, other._outputs)
            and self.input_names == other.input_names
            and self.output_names == other.output_names
        )

    def __hash__(self) -> int:
        return hash((self._n_inputs, self._sources.tobytes(), self._functions.tobytes(), self._outputs.tobytes()))

    def __repr__(self) -> str:
        if max(self.n_inputs, self.n_gates, self.n_outputs) > MOST_SPELLED_OUT:
            parts = ((self.n_inputs, "input"), (self.n_gates, "gate"), (self.n_outputs, "output"))
            return f"Network({', '.join(counted(number, what) for number, what in parts)})"
        more = "" if (self._functions == NAND).all() else f", {self._functions.tolist()}"
        more += f", input_names={list(self._input_names)!r}" if self._input_names else ""
        more += f", output_names={list(self._output_names)!r}" if self._output_names else ""
        return f"Network({self._n_inputs}, {self._sources.tolist()}, {self._outputs.tolist()}{more})"

    def _repr_svg_(self, grouping: Any = None) -> str | None:
        """Return the drawing for notebooks, or None if it cannot be drawn or would be too large even when folded."""
        drawing: str | None = call_hook("draw", self, grouping)
        return drawing

    def __getstate__(self) -> tuple[Any, ...]:
        return self._n_inputs, self._sources, self._functions, self._outputs, self._input_names, self._output_names

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._n_inputs, self._sources, self._functions, self._outputs, self._input_names, self._output_names = state
        for array in (self._sources, self._functions, self._outputs):
            array.flags.writeable = False


def network_of(gates: GateList, **names: Sequence[str] | None) -> Network:
    """Return a circuit whose outputs all have nodes as a `Network`."""
    return Network(gates.n_inputs, gates.sources, gates.outputs, gates.functions, **names)


def without_idle_inputs(network: Network) -> Network:
    """Return a network without the inputs that no output depends on; a constant keeps one."""
    pruned = network.prune(absorb=False)
    kept = pruned._read_inputs if len(pruned._read_inputs) else np.zeros(1, dtype=np.intp)
    new = np.zeros(pruned.n_inputs + pruned.n_gates, dtype=np.int64)
    new[[*kept, *range(pruned.n_inputs, len(new))]] = np.arange(len(kept) + pruned.n_gates)
    names = {"input_names": [network.input_names[place] for place in kept], "output_names": network.output_names}
    return Network(len(kept), new[pruned.sources], new[pruned.outputs], pruned.functions, **names)


def part_of(network: Network, node: int, cut: Collection[int] = ()) -> tuple[Network, list[int]]:
    """Return the circuit of one node without needless gates, and the inputs and nodes of the cut that are its inputs."""
    gates, leaves = cone_of(network, node, set(cut) - {node})
    new = dict(zip(leaves, range(len(leaves)), strict=True))
    sources = []
    for gate in gates:
        read = network.read_sources[gate - network.n_inputs]
        sources.append((new[read[0]], new[read[-1]]) if read else (0, 0))
        new[gate] = len(new)
    functions = network.functions[np.array(gates, dtype=np.intp) - network.n_inputs]
    return Network(len(leaves), sources, [new[node]], functions).prune(), leaves


def cone_of(network: Network, node: int, cut: Collection[int] = ()) -> tuple[list[int], list[int]]:
    """Return the gates that a node depends on up to the cut, and the inputs and cut nodes that these read."""
    gates: set[int] = set()
    leaves: set[int] = set()
    stack = [node]
    while stack:
        at = stack.pop()
        if at in gates or at in leaves:
            continue
        if at < network.n_inputs or at in cut:
            leaves.add(at)
        else:
            gates.add(at)
            stack += network.read_sources[at - network.n_inputs]
    return sorted(gates), sorted(leaves) or [0]  # a network has at least one input, even for a constant


def given_names(inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, Sequence[str] | None]:
    """Return names as `Network` takes them: None for those that it gives by itself."""
    return {
        "input_names": None if list(inputs) == [f"x{i}" for i in range(len(inputs))] else inputs,
        "output_names": None if list(outputs) == [f"z{k}" for k in range(len(outputs))] else outputs,
    }


def _checked_sources(n_inputs: int, sources: npt.ArrayLike) -> npt.NDArray[np.int64]:
    if n_inputs < 0:
        raise DataError(f"n_inputs is {n_inputs}; it cannot be negative.")
    given = np.asarray(sources)
    wiring = np.array(given, dtype=np.int64).reshape(-1, 2) if given.size == 0 else np.array(given)
    if wiring.ndim != 2 or wiring.shape[1] != 2 or not np.issubdtype(wiring.dtype, np.integer):
        raise DataError("sources must hold two integer node ids for each gate.")
    wiring = np.ascontiguousarray(wiring, dtype=np.int64)
    nodes = n_inputs + np.arange(len(wiring))[:, np.newaxis]
    bad = (wiring < 0) | (wiring >= nodes)
    if bad.any():
        gate, terminal = (int(i) for i in np.argwhere(bad)[0])
        raise DataError(
            f"gate {gate} reads node {wiring[gate, terminal]}, but a gate reads only nodes below its own "
            f"(0 to {n_inputs + gate - 1})."
        )
    wiring.flags.writeable = False
    return wiring


def _checked_functions(n_gates: int, functions: Any) -> npt.NDArray[np.uint8]:
    given = np.full(n_gates, NAND) if functions is None else np.asarray(functions)
    if given.shape != (n_gates,) or (n_gates and not np.issubdtype(given.dtype, np.integer)):
        raise DataError(f"functions must hold a whole number for each of the {n_gates} gates.")
    bad = (given < 0) | (given > 15)
    if bad.any():
        gate = int(np.argmax(bad))
        raise DataError(f"gate {gate} has the function {given[gate]}; a function is a number from 0 to 15.")
    tables = np.array(given, dtype=np.uint8)
    tables.flags.writeable = False
    return tables


def _checked_outputs(n_nodes: int, outputs: Any) -> npt.NDArray[np.int64]:
    given = np.asarray(outputs)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise DataError("outputs must be a list of integer node ids.")
    nodes = np.array(given, dtype=np.int64)
    bad = (nodes < 0) | (nodes >= n_nodes)
    if bad.any():
        position = int(np.argmax(bad))
        raise DataError(f"output {position} is node {nodes[position]}, but the nodes are 0 to {n_nodes - 1}.")
    nodes.flags.writeable = False
    return nodes


def _checked_names(names: Sequence[str] | None, count: int, what: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    checked = tuple(map(str, names))
    if len(checked) != count:
        raise DataError(f"there are {len(checked)} {what} names for {count} {what}s.")
    check_unique(checked, f"the list of {what}s")
    return checked
