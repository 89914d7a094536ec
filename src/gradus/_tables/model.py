"""`Model`: circuits with the encodings around them, from a table to labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.network import without_idle_inputs
from gradus._core.bits import BoolMatrix
from gradus._core.files import write_text_whole
from gradus._core.wording import counted
from gradus._tables.encoding import TableEncoding
from gradus._tables.goals import GOALS, Goal, Weights, goal_multipliers
from gradus._tables.labels import TargetEncoding, output_parts, side_by_side
from gradus._tables.model_file import about_model, plain_parts, read_model
from gradus._tables.readers import NodeValues, OutputReader, read_circuit
from gradus.errors import DataError, FormatError, MissingExtraError

if TYPE_CHECKING:
    from gradus._circuit.drawing.diagram import Grouping
    from gradus._formats.rule_program import RuleProgram
    from gradus._tables.statements import Statement

__all__ = ["Model", "load"]

MOST_NAMED = 4  # targets that its text names
DIGITS = 12  # of a probability: equal ones tie on every machine
Floats: TypeAlias = npt.NDArray[np.float64]
Readers: TypeAlias = tuple[tuple[OutputReader, ...], ...]


@dataclass(frozen=True, eq=False)
class Model:
    """Circuits, how a table becomes their inputs, and how their outputs become labels; see `gradus.load`.

    Attributes
    ----------
    networks : tuple of Network
        The circuits that vote. The first is the best one by itself: the one that is read, drawn and exported.
    features : TableEncoding
        How columns become inputs.
    targets : tuple of TargetEncoding
        How outputs become class labels, one for each target.
    about : dict
        What the model was learned from and how: settings, order, errors.
    readers : tuple of tuples of OutputReader
        For each circuit and target, how often its outputs were true of each class, which weighs its vote. If empty, every
        circuit has one vote.
    apart : bool
        Whether the first circuit was learned from the vote of the others, and does not vote.
    goals : dict of str to tuple of arrays
        For each goal and target, what the probabilities of the classes are multiplied by before the largest is taken, as
        chosen on rows held out; for ``"accuracy"`` the probabilities themselves are.
    goal : {"accuracy", "balanced_accuracy", "f1"}
        What `predict` maximises.

    Examples
    --------
    >>> import gradus
    >>> table = [[1.5, 0], [2.5, 1], [8.5, 0], [9.5, 1]]
    >>> classifier = gradus.BooleanNetworkClassifier(noise=0, random_state=0)
    >>> model = classifier.fit(table, ["low", "low", "high", "high"]).model_
    >>> model.feature_names, model.target_names
    (('x0', 'x1'), ('y',))
    >>> model.predict({"x1": [0, 0], "x0": [1, 9]}).tolist()
    ['low', 'high']
    """

    networks: tuple[Network, ...]
    features: TableEncoding
    targets: tuple[TargetEncoding, ...]
    about: dict[str, Any] = field(default_factory=dict)
    readers: Readers = ()
    apart: bool = False
    goals: Mapping[str, tuple[Floats, ...]] = field(default_factory=dict)
    goal: Goal = "accuracy"

    def __post_init__(self) -> None:
        if not self.networks:
            raise DataError("a model needs at least one network.")
        for network in self.networks:
            if network.input_names != self.features.input_names:
                raise DataError("the model's feature encoding does not give the inputs of its network.")
            if network.output_names != self.output_names:
                raise DataError("the model's target encoding does not give the outputs of its network.")
        if self.readers and [*map(len, self.readers)] != [len(self.targets)] * len(self.networks):
            raise DataError("the model must have counts for every circuit and target, or none.")

    @classmethod
    def of_bits(cls, network: Network) -> Model:
        """Return a plain network as a model whose features and targets are 0 and 1."""
        return cls(*plain_parts(network))

    @classmethod
    def fit(
        cls,
        networks: Sequence[Network],
        features: TableEncoding,
        targets: Sequence[TargetEncoding],
        inputs: BoolMatrix,
        codes: npt.NDArray[np.int64],
        weights: Weights | None = None,
    ) -> Model:
        """Make a model, and count on training rows how often each circuit is right.

        `inputs` are the rows as `features` encodes them, and `codes` the class of each row for each target.
        """
        weights = Weights.equal(len(codes), targets) if weights is None else weights
        names = [name for target in targets for name in target.output_names]
        named = tuple(network.with_names(features.input_names, names) for network in networks)
        readers = tuple(read_circuit(network, targets, inputs, codes, weights) for network in named)
        model = cls(named, features, tuple(targets), readers=readers)
        return model.with_goals(model.votes(inputs), codes, weights)

    def with_goals(self, shares: Sequence[Floats], codes: npt.NDArray[np.int64], weights: Weights) -> Model:
        """Return the model with a threshold of the vote for each goal, chosen by its predictions for labelled rows."""
        chosen = list(map(goal_multipliers, shares, codes.T, weights.of_cells(codes)))
        return replace(self, goals={goal: tuple(multipliers[goal] for multipliers in chosen) for goal in GOALS})

    @property
    def network(self) -> Network:
        """The best circuit."""
        return self.networks[0]

    def single(self) -> Model:
        """Return the model that has only the best circuit."""
        return replace(self, networks=self.networks[:1], readers=self.readers[:1], apart=False, goals={})

    def voted(self) -> Model:
        """Return a model whose only circuit computes the vote, for exports; each target must have one output.

        The weights of the circuits are rounded to 1/63 of the largest, so nearly tied votes may fall the other way.

        Examples
        --------
        >>> nand, first = Network(2, [[0, 1]], [2]), Network(2, [], [0])
        >>> of_one = Model.of_bits(first)
        >>> Model((first, nand, nand), of_one.features, of_one.targets).voted().rules()
        {'z0': '!x0 | !x1'}
        """
        from gradus._tables.voted import voting_circuit

        if len(self.networks) == 1:
            return self
        network = voting_circuit(self.networks[self.apart :], self.readers[self.apart :], self.targets)
        return replace(self, networks=(network,), readers=(), apart=False, goals={})

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Columns that the model reads."""
        return tuple(column.name for column in self.features.columns if column.input_names)

    @property
    def target_names(self) -> tuple[str, ...]:
        """Targets that the model predicts."""
        return tuple(target.name for target in self.targets)

    @property
    def output_names(self) -> tuple[str, ...]:
        """What the outputs of each circuit mean."""
        return tuple(name for target in self.targets for name in target.output_names)

    def predict(self, table: Any) -> npt.NDArray[Any]:
        """Predict the label of each target by the vote of the circuits; the best one decides a tie.

        Parameters
        ----------
        table : DataFrame, dict of str to array-like, or array-like of shape (n, columns)
            Named columns are found by name, whatever else the table holds; others by position.

        Returns
        -------
        ndarray of shape (n,), or (n, targets) if there are several
        """
        codes = self.predict_codes(self.features.encode(table))
        columns = [np.array(target.classes)[numbers] for target, numbers in zip(self.targets, codes, strict=True)]
        return columns[0] if len(columns) == 1 else side_by_side(columns)

    def predict_proba(self, table: Any) -> npt.NDArray[np.float64] | list[npt.NDArray[np.float64]]:
        """Return the probability of each class: the mean over the circuits, each by how often it was right in training.

        Parameters
        ----------
        table : DataFrame, dict of str to array-like, or array-like of shape (n, columns)

        Returns
        -------
        ndarray of shape (n, classes), or a list of them, one per target, if there are several
        """
        votes = self.votes(self.features.encode(table))
        return votes[0] if len(votes) == 1 else votes

    def predict_codes(self, inputs: BoolMatrix, goal: Goal | None = None) -> list[npt.NDArray[np.int64]]:
        """Return, for each target, the number of the class of each row; if no other goal is given, for the model's own."""
        return self.decide(self.votes(inputs), inputs, goal)

    def decide(self, votes: Sequence[Floats], inputs: BoolMatrix, goal: Goal | None = None) -> list[npt.NDArray[np.int64]]:
        """Return the class that the circuits choose for each row."""
        found = []
        for k, (shares, of_best) in enumerate(zip(votes, self._vote(0, inputs), strict=True)):
            share = np.round(shares * self._multipliers(k, goal or self.goal), DIGITS)
            best = np.argmax(np.round(of_best * self._multipliers(k, goal or self.goal), DIGITS), axis=1)
            tied = share[np.arange(len(share)), best] == share.max(axis=1, initial=0)
            found.append(np.where(tied, best, np.argmax(share, axis=1)))
        return found

    def votes(self, inputs: BoolMatrix) -> list[npt.NDArray[np.float64]]:
        """Return, for each target, the probability of each class by the vote of the circuits; shape (n, classes)."""
        first = int(self.apart)
        totals = self._vote(first, inputs)
        for number in range(first + 1, len(self.networks)):
            totals = [total + vote for total, vote in zip(totals, self._vote(number, inputs), strict=True)]
        return [self._tilted(k, total / (len(self.networks) - first)) for k, total in enumerate(totals)]

    def _tilted(self, k: int, shares: Floats) -> Floats:
        """Return probabilities such that the likeliest class is right most often."""
        if "accuracy" not in self.goals:
            return shares
        tilted = shares * self.goals["accuracy"][k]
        return np.asarray(tilted / tilted.sum(axis=1, keepdims=True))

    def _multipliers(self, k: int, goal: Goal) -> Floats | float:
        return self.goals[goal][k] if goal != "accuracy" and goal in self.goals else 1.0

    def _vote(self, number: int, inputs: BoolMatrix) -> list[npt.NDArray[np.float64]]:
        """Return one circuit's answer for each target."""
        network = self.networks[number]
        if not self.readers:
            outputs = network.predict(inputs)
            return [self._decoded(k, outputs[:, part]) for k, part in enumerate(output_parts(self.targets))]
        readers = self.readers[number]
        values = NodeValues.of(network, [node for reader in readers for node in reader.nodes], inputs)
        return [reader.probabilities(values) for reader in readers]

    def _decoded(self, k: int, outputs: BoolMatrix) -> Floats:
        return np.asarray(np.eye(len(self.targets[k].classes))[self.targets[k].decode(outputs)])

    def said(self, k: int, outputs: BoolMatrix) -> Floats:
        """Return the probability of each class of one target given the best circuit's outputs for it."""
        if not self.readers:
            return self._decoded(k, outputs)
        nodes = self.network.outputs[output_parts(self.targets)[k]].tolist()
        place = {node: column for column, node in enumerate(nodes)}
        return self.readers[0][k].probabilities(NodeValues(place, outputs))

    def answer(self, k: int, outputs: BoolMatrix) -> npt.NDArray[np.int64]:
        """Return the class of one target that the outputs of the best circuit encode."""
        return np.asarray(np.argmax(np.round(self.said(k, outputs), DIGITS), axis=1))

    @cached_property
    def statements(self) -> list[Statement]:
        """The rule of each output of the best circuit, in pieces; see `rules`."""
        from gradus._tables.statements import statements  # not above: to predict and to export, rules are not needed

        names = [name for target in self.targets for name in target.statement_names]
        return statements(self.network.prune(), self.features, names)

    def rules(self, *, as_frame: bool = False, as_text: bool = False) -> Any:
        """Return the best circuit as formulas of the table's columns.

        Parameters
        ----------
        as_frame, as_text : bool
            Whether to return a pandas DataFrame (if pandas is installed), with what each rule covers, or lines of if and then.

        Returns
        -------
        dict of str to str, DataFrame, or str
            A formula for each statement: a target of 0 and 1 by its name, ``"target = class"`` for others (with two
            classes only the second). ``!`` is not, ``&`` and, ``|`` or, ``^`` exclusive or, ``0`` never, ``1`` always.
            Long formulas are written in steps; the steps come last, with names such as ``s1``. For a row for which no
            class of a target holds, or several do, the counts in `readers` decide.

        Examples
        --------
        >>> Model.of_bits(Network(2, [[0, 1]], [2], [6])).rules()
        {'z0': 'x0 ^ x1'}
        """
        from gradus._tables.readable_rules import COLUMNS, frame_rows, if_then_text  # not above, as for `statements`

        if as_text:
            return if_then_text(self.statements, self.targets, self.about)
        if not as_frame:
            return {statement.name: statement.text for statement in self.statements}
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("rules as a table need pandas; run pip install pandas.") from error
        return pandas.DataFrame(list(frame_rows(self.statements, self.about)), columns=list(COLUMNS))

    def __repr__(self) -> str:
        names = ", ".join(self.target_names[:MOST_NAMED]) + (", …" if len(self.targets) > MOST_NAMED else "")
        return f"Model({names}; {counted(len(self.networks), 'circuit')}, the best of {counted(self.network.n_gates, 'gate')})"

    def _repr_html_(self) -> str:
        from gradus._pages.html import notebook_table

        return notebook_table(repr(self), ["", "if"], list(self.rules().items())) + (self._repr_svg_() or "")

    def _repr_svg_(self) -> str | None:
        return self.network._repr_svg_(self.grouping())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON that `gradus.load`, `Network.load` and people can read; `path` is path-like."""
        self.network.save(path, about=about_model(self))

    def to_json(self) -> str:
        """Return what `save` writes."""
        return self.network.to_json(about=about_model(self))

    def as_read(self) -> Network:
        """Return the best circuit; if columns are more than a bit each, without the inputs that only other circuits read."""
        return self.network if self.features.is_plain else without_idle_inputs(self.network)

    def grouping(self) -> Grouping:
        """Return which inputs and outputs share a box in drawings."""
        from gradus._tables.conditions import model_grouping

        return model_grouping(self.features, self.targets)

    def program(self) -> RuleProgram:
        """Return the best circuit with its columns and classes, for exports as programs."""
        from gradus._tables.exported_rule import rule_program

        return rule_program(self.network, self.features, self.targets, self.said)

    def notes(self) -> list[str]:
        """Describe what the outputs of the circuit mean, for comments in exported files."""
        return [note for target in self.targets for note in target.notes]

    def save_page(
        self,
        path: str | PathLike[str],
        *,
        table: Any = None,
        labels: Any = None,
        scores: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        """Write a page that shows the best circuit: rules, scores, and a drawing that answers rows typed into it.

        Parameters
        ----------
        path : path-like
        table, labels : optional
            Rows, and a label for each row and target: the page offers rows to try, and lists those that the circuit gets
            wrong, with the rows that they contradict.
        scores : mapping of str to sequence of float, optional
            Shares of rows that are right, for each target, under the name of how they were measured.

        Examples
        --------
        >>> import os, tempfile
        >>> page = os.path.join(tempfile.mkdtemp(), "nand.html")
        >>> Model.of_bits(Network(2, [[0, 1]], [2])).save_page(page)
        """
        from gradus._tables.page.page import ModelView, model_page

        n_circuits = len(self.networks) - self.apart
        view = ModelView(self.network.prune(), self.features, self.targets, self.statements, self.said, n_circuits, self.about)
        write_text_whole(path, model_page(view, table, labels, scores or {}))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Model:
        """Read a model, as `gradus.load` does."""
        return load(path)


def load(path: str | PathLike[str]) -> Model:
    """Read a model that `Model.save`, `BooleanNetworkClassifier.save` or ``gradus learn`` wrote.

    A plain network, in any format that `gradus.read_network` reads, counts as a model whose features and targets are 0 and 1.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Model

    Raises
    ------
    FormatError
        If the file is not a model, or was written by a newer version.

    Examples
    --------
    >>> import os, tempfile, gradus
    >>> path = os.path.join(tempfile.mkdtemp(), "nand.json")
    >>> gradus.Network(2, [[0, 1]], [2]).save(path)
    >>> gradus.load(path).predict([[0, 1], [1, 1]])
    array([1, 0])
    """
    try:
        return Model(*read_model(path))
    except DataError as error:
        raise FormatError(str(error), path=path) from error
