"""`LearnResult`: the circuits that `learn` found, and how they vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.gate_list import is_constant
from gradus._circuit.network import given_names, network_of
from gradus._core.bits import BoolMatrix, as_bits
from gradus._core.checks import check_count
from gradus._core.wording import counted
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.queries import disputed_patterns, with_rivals
from gradus._lessons.voting import WeightedVote, joined, majority
from gradus._lessons.walks import LessonSettings
from gradus._pages.html import notebook_table

__all__ = ["LearnResult"]


@dataclass(frozen=True, eq=False)
class LearnResult:
    """Result of `learn`.

    Attributes
    ----------
    circuits : tuple of Network
        Best first: the shortest description, of gates and errors together.
    n_voting : int
        How many of them, from the first, are about equally good (descriptions at most 10 % longer) and vote.
    leanings : tuple of WeightedVote or None
        For each target whose labels carry little information, the vote of simple functions and circuits, weighted by their
        probability; None for the other targets.
    order : tuple of int
        The target columns in the order in which the best circuit learned them.
    errors : ndarray of int
        Per target, how many training examples the best circuit gets wrong.
    wrong_rows : tuple of ndarray of int
        Per target, which examples these are.
    constant : ndarray of bool
        Per target, whether it is a constant because no circuit explains it better.
    converged : bool
        Whether every known target value of the training examples is right.
    stopped : str or None
        What ended the work early: "time_limit", "callback" or "interrupted"; None if nothing did.
    """

    circuits: tuple[Network, ...]
    n_voting: int
    leanings: tuple[WeightedVote | None, ...]
    order: tuple[int, ...]
    errors: npt.NDArray[np.int64]
    wrong_rows: tuple[npt.NDArray[np.int64], ...]
    constant: npt.NDArray[np.bool_]
    converged: bool
    stopped: str | None
    _lesson: tuple[PackedExamples, LessonSettings, int] | None = None
    """The examples, settings and seed, for `next_examples`."""

    @property
    def network(self) -> Network:
        """The best circuit."""
        return self.circuits[0]

    @property
    def n_gates(self) -> int:
        """Number of gates of the best circuit, without constants."""
        return int(np.count_nonzero(~is_constant(self.network.functions)))

    @property
    def votes(self) -> list[WeightedVote]:
        """How each target is voted on."""
        return [majority(self.n_voting) if leaning is None else leaning for leaning in self.leanings]

    @property
    def voters(self) -> tuple[Network, ...]:
        """Circuits that can vote as equals: those that do, or the best one and the vote, if their weights differ."""
        if any(vote is not None for vote in self.leanings):
            return self.network, self.voting_network()
        return self.circuits[: self.n_voting]

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of a 1, per row and target: the share of the voting circuits, or the vote in `leanings`."""
        rows = as_bits(X, "X")
        said = self._outputs(rows)
        shares = np.asarray(said.mean(axis=2), dtype=np.float64)
        for k, vote in enumerate(self.leanings):
            if vote is not None:
                shares[:, k] = np.clip(0.5 + vote.unit * vote.sums(rows, said[:, k]), 0.0, 1.0)
        return shares

    def predict(self, X: Any) -> BoolMatrix:
        """Predict every target by a vote of the equally good circuits; the best one decides ties."""
        rows = as_bits(X, "X")
        said = self._outputs(rows)
        return np.stack([vote.sums(rows, said[:, k]) > 0 for k, vote in enumerate(self.votes)], axis=1)

    def _outputs(self, X: BoolMatrix) -> BoolMatrix:
        """Return what each voting circuit predicts, shape (rows, targets, circuits)."""
        return np.stack([circuit.predict(X) for circuit in self.circuits[: self.n_voting]], axis=2)

    def voting_network(self) -> Network:
        """Return the vote as one circuit, which predicts exactly what `predict` does, for every export.

        Gates that circuits share are made once, and the votes are counted by adders. Its gates are any functions of two nodes;
        `Network.to_nand` rewrites them.

        Examples
        --------
        >>> import gradus
        >>> table = gradus.problems.load("cmaj9")
        >>> result = gradus.learn(table.X[::8], table.Y[::8])
        >>> voting = result.voting_network()
        >>> bool((voting.predict(table.X) == result.predict(table.X)).all())
        True
        """
        circuit = joined(self.circuits[: self.n_voting], self.votes)
        return network_of(circuit, **given_names(self.network.input_names, self.network.output_names))

    def next_examples(self, n: int) -> BoolMatrix:
        """Return the input patterns whose targets would be most informative: those on which circuits disagree most.

        The circuits that vote are compared, and others with up to four gates more that are right on all rows. Disagreements on
        the targets learned first count most.

        Parameters
        ----------
        n : int
            How many; fewer if there are fewer patterns. Each separates other circuits than those before it, as far as that
            is possible; where the circuits agree everywhere, patterns are random.

        Returns
        -------
        ndarray of bool, shape (n, inputs)

        Examples
        --------
        >>> import gradus
        >>> X = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
        >>> result = gradus.learn(X, [0, 1, 1, 0], n_circuits=5, noise=0)
        >>> result.next_examples(2).shape
        (2, 3)
        """
        n, voters = check_count("n", n), self.circuits[: self.n_voting]
        circuits = list(voters if len(voters) > 1 else self.circuits)
        return disputed_patterns(circuits if self._lesson is None else with_rivals(circuits, *self._lesson), n, self.order)

    def __repr__(self) -> str:
        parts = ((len(self.errors), "target"), (self.n_gates, "gate"), (int(self.errors.sum()), "training error"))
        return f"LearnResult({', '.join(counted(number, what) for number, what in parts)})"

    def _repr_html_(self) -> str:
        rows = []
        for k in self.order:
            gates = int(self.network.cone([k])[self.network.n_inputs :].sum())
            size = "a constant" if self.constant[k] else counted(gates, "gate")
            rows.append((self.network.output_names[k], int(self.errors[k]), size))
        table = notebook_table(repr(self), ["target, in the order learned", "training errors", "circuit"], rows)
        return table + (self.network._repr_svg_() or "")
