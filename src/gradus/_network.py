"""`Network`: an immutable feedforward circuit of two-input NAND gates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix, WordMatrix, as_bits, check_unique, pack, unpack
from gradus._exports import Exports
from gradus._files import write_text_whole
from gradus.errors import DataError, FormatError

__all__ = ["Network"]

FORMAT = "gradus-network"
VERSION = 1
ROWS_AT_ONCE = 1 << 16


class Network(Exports):
    """A feedforward circuit of NAND gates: a value that never changes.

    Nodes 0 … n_inputs-1 are the inputs; gate g is node n_inputs+g and computes the NAND of its two sources, which are
    nodes below it and may be equal. Any node can be an output.

    Parameters
    ----------
    n_inputs : int
        Number of inputs.
    sources : array-like of int, shape (n_gates, 2)
        Node ids that each gate reads.
    outputs : sequence of int
        One node id a target.
    input_names, output_names : sequence of str, optional
        Unique names; ``x0, x1, …`` and ``z0, z1, …`` if not given.

    Examples
    --------
    >>> xor = Network(2, [[0, 1], [0, 2], [1, 2], [3, 4]], [5])
    >>> xor.predict([[0, 0], [0, 1], [1, 0], [1, 1]]).ravel()
    array([False,  True,  True, False])
    >>> xor
    Network(2, [[0, 1], [0, 2], [1, 2], [3, 4]], [5])
    """

    __slots__ = ("__dict__", "_input_names", "_n_inputs", "_output_names", "_outputs", "_sources")

    def __init__(
        self,
        n_inputs: int,
        sources: npt.ArrayLike,
        outputs: Sequence[int] | npt.NDArray[np.integer[Any]],
        *,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        self._n_inputs = int(n_inputs)
        self._sources = _checked_sources(self._n_inputs, sources)
        self._outputs = _checked_outputs(self._n_inputs + len(self._sources), outputs)
        self._input_names = _checked_names(input_names, self._n_inputs, "input")
        self._output_names = _checked_names(output_names, len(self._outputs), "output")

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self._n_inputs

    @property
    def n_gates(self) -> int:
        """Number of gates, those that no output depends on included."""
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
        """Return the same circuit with other names; None goes back to ``x0, x1, …`` or ``z0, z1, …``."""
        return Network(self.n_inputs, self._sources, self._outputs, input_names=input_names, output_names=output_names)

    @cached_property
    def active(self) -> npt.NDArray[np.bool_]:
        """For each gate, whether any output depends on it; read-only.

        Examples
        --------
        >>> Network(1, [[0, 0], [0, 1], [1, 1]], [3]).active
        array([ True, False,  True])
        """
        used = self.cone(range(self.n_outputs))[self.n_inputs :]
        used.flags.writeable = False
        return used

    def cone(self, outputs: Sequence[int] | range) -> npt.NDArray[np.bool_]:
        """For each node, whether one of these outputs (positions, not node ids) depends on it.

        Examples
        --------
        >>> Network(2, [[0, 0], [1, 1]], [2, 3]).cone([1])
        array([False,  True, False,  True])
        """
        used = np.zeros(self.n_inputs + self.n_gates, dtype=np.bool_)
        used[self._outputs[list(outputs)]] = True
        for gate in range(self.n_gates - 1, -1, -1):
            if used[self.n_inputs + gate]:
                used[self._sources[gate]] = True
        return used

    @cached_property
    def depth(self) -> int:
        """Gates on the longest path from an input to an output.

        Examples
        --------
        >>> Network(2, [[0, 1], [2, 2]], [3]).depth
        2
        """
        levels = np.zeros(self.n_inputs + self.n_gates, dtype=np.int64)
        for gate, (a, b) in enumerate(self._sources):
            levels[self.n_inputs + gate] = 1 + max(levels[a], levels[b])
        return int(levels[self._outputs].max(initial=0))

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
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            result[start : start + len(part)] = unpack(self.node_words(pack(part))[self._outputs], len(part))
        return result

    def node_words(self, inputs: WordMatrix) -> WordMatrix:
        """Values of every node on packed examples, shape (n_inputs + n_gates, words); see `gradus._bits.pack`."""
        values = np.empty((self.n_inputs + self.n_gates, inputs.shape[1]), dtype=np.uint64)
        values[: self.n_inputs] = inputs
        for node, (a, b) in enumerate(self._sources, start=self.n_inputs):
            np.bitwise_and(values[a], values[b], out=values[node])
            np.invert(values[node], out=values[node])
        return values

    def prune(self) -> Network:
        """Return the circuit without the gates that no output depends on; the others keep their order.

        Examples
        --------
        >>> Network(1, [[0, 0], [0, 1], [1, 1]], [3]).prune()
        Network(1, [[0, 0], [1, 1]], [2])
        """
        keep = np.concatenate([np.ones(self.n_inputs, dtype=np.bool_), self.active])
        new_id = np.cumsum(keep) - 1
        return Network(
            self.n_inputs,
            new_id[self._sources[self.active]],
            new_id[self._outputs],
            input_names=self._input_names,
            output_names=self._output_names,
        )

    def save(self, path: str | PathLike[str], *, about: dict[str, Any] | None = None) -> None:
        """Write the network as JSON that a person can read; the file is written whole or not at all.

        Parameters
        ----------
        path : path-like
        about : dict, optional
            Anything else worth keeping (settings, scores); `load` passes over it.
        """
        write_text_whole(path, self.to_json(about=about))

    def to_json(self, *, about: dict[str, Any] | None = None) -> str:
        """Return the text that `save` writes."""
        names = [*self.input_names, *(f"g{g}" for g in range(self.n_gates))]
        gates = ",\n".join(f"    [{a}, {b}]" for a, b in self._sources.tolist())
        head = {
            "format": FORMAT,
            "version": VERSION,
            "reads_as": "gate g is node len(inputs)+g, the NAND of its two source nodes; an output is the id of a node",
        }
        parts = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        if about is not None:
            parts.append(f'  "about": {json.dumps(about)}')
        parts += [
            f'  "inputs": {json.dumps(list(names[: self.n_inputs]))}',
            f'  "gates": [\n{gates}\n  ]' if gates else '  "gates": []',
            f'  "outputs": {json.dumps(dict(zip(self.output_names, self._outputs.tolist(), strict=True)))}',
        ]
        return "{\n" + ",\n".join(parts) + "\n}\n"

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Network:
        """Read a network that `save` wrote.

        Raises
        ------
        FormatError
            If the file is not such a network, or was written by a newer version.
        """
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            what = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
            raise FormatError(f"the model cannot be read: {what}.", path=path) from error
        try:
            return cls.from_json(text)
        except FormatError as error:
            raise FormatError(error.message, path=path, line=error.line, column=error.column) from error

    @classmethod
    def from_json(cls, text: str) -> Network:
        """Read the text that `to_json` returned."""
        return cls._from_document(_parse_document(text))

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> Network:
        inputs, gates, outputs = (document.get(key) for key in ("inputs", "gates", "outputs"))
        if not (isinstance(inputs, list) and all(isinstance(name, str) for name in inputs)):
            raise FormatError("'inputs' must be a list of names.")
        if not (isinstance(gates, list) and all(_is_node_pair(pair) for pair in gates)):
            raise FormatError("'gates' must be a list of pairs of node ids.")
        if not (isinstance(outputs, dict) and all(_is_node(node) for node in outputs.values())):
            raise FormatError("'outputs' must map each target's name to a node id.")
        default_inputs = inputs == [f"x{i}" for i in range(len(inputs))]
        default_outputs = list(outputs) == [f"z{k}" for k in range(len(outputs))]
        try:
            return cls(
                len(inputs),
                np.array(gates, dtype=np.int64).reshape(-1, 2),
                list(outputs.values()),
                input_names=None if default_inputs else inputs,
                output_names=None if default_outputs else list(outputs),
            )
        except DataError as error:
            raise FormatError(str(error)) from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self._n_inputs == other._n_inputs
            and np.array_equal(self._sources, other._sources)
            and np.array_equal(self._outputs, other._outputs)
            and self.input_names == other.input_names
            and self.output_names == other.output_names
        )

    def __hash__(self) -> int:
        return hash((self._n_inputs, self._sources.tobytes(), self._outputs.tobytes()))

    def __repr__(self) -> str:
        names = f", input_names={list(self._input_names)!r}" if self._input_names else ""
        names += f", output_names={list(self._output_names)!r}" if self._output_names else ""
        return f"Network({self._n_inputs}, {self._sources.tolist()}, {self._outputs.tolist()}{names})"

    def __getstate__(self) -> tuple[Any, ...]:
        return self._n_inputs, self._sources, self._outputs, self._input_names, self._output_names

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._n_inputs, self._sources, self._outputs, self._input_names, self._output_names = state
        self._sources.flags.writeable = False
        self._outputs.flags.writeable = False


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
    checked = tuple(str(name) for name in names)
    if len(checked) != count:
        raise DataError(f"there are {len(checked)} {what} names for {count} {what}s.")
    check_unique(checked, f"the list of {what}s")
    return checked


def _parse_document(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text, object_pairs_hook=_no_repeated_keys)
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg}); expected a model that gradus learn wrote."
        raise FormatError(message, line=error.lineno, column=error.colno) from error
    except RecursionError as error:
        raise FormatError("not a Gradus network: nested too deeply.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f'not a Gradus network: there is no "format": "{FORMAT}".')
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError(f"the version is {version!r}; expected a whole number.")
    if version > VERSION:
        raise FormatError(f"this model has version {version} and this Gradus reads up to version {VERSION}; update Gradus.")
    return document


def _no_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse {"z0": 1, "z0": 2}, of which JSON would silently keep the last."""
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise FormatError(f"the name {repeated!r} stands twice in one object.")
    return result


def _is_node(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _is_node_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_node(node) for node in value)
