"""`learn`: learns circuits from examples in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.gate_list import GateList, constant_outputs, is_constant
from gradus._circuit.network import given_names, network_of
from gradus._core.bits import BoolMatrix, as_bits, column_names
from gradus._core.checkpoint import Checkpoint
from gradus._core.checks import Noise, check_choice, check_count, check_n_jobs, check_noise, check_seed, check_time_limit
from gradus._core.gates import NAND, ONE, ZERO
from gradus._core.plain import digest_of
from gradus._core.run import Callback, Run
from gradus._core.wording import counted
from gradus._curriculum.orders import resolve_order
from gradus._lessons.best_ensemble import learn_circuits
from gradus._lessons.circuit_learner import LearnedCircuit
from gradus._lessons.continued import not_longer
from gradus._lessons.further_inputs import expanded
from gradus._lessons.leanings import leanings, with_parities
from gradus._lessons.offers import offered
from gradus._lessons.packed_examples import pack_examples, read_targets
from gradus._lessons.queries import disputed_patterns
from gradus._lessons.row_sample import refined, sampled
from gradus._lessons.voting import WeightedVote, joined, majority
from gradus._lessons.walks import GROWTH_WORK, LessonSettings
from gradus._pages.html import notebook_table
from gradus.errors import SettingsError

__all__ = ["LearnResult", "LearnSettings", "Order", "learn", "learn_whole", "learn_with"]

Order = Literal["self-paced", "auto", "entropy", "random"] | Sequence[int] | npt.NDArray[np.integer[Any]] | None
N_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class LearnSettings:
    """What is learned and how, as the arguments of `learn` say."""

    order: Order = "self-paced"
    gates: Literal["any", "nand"] = "any"
    noise: Noise = "auto"
    n_tries: int = N_TRIES
    n_circuits: int | None = None
    start: Network | None = None
    seed: int = 0
    growth_work: int = GROWTH_WORK


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
        For each target of which labels say little, the vote of simple functions and of the circuits, weighted by how probable
        they are; None for the other targets.
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
        """Return the probability of a 1, per row and target: the share of the voting circuits, or what labels lean to."""
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
        """Return the input patterns whose targets would be most informative: those on which the circuits disagree most.

        Parameters
        ----------
        n : int
            How many; fewer if there are fewer patterns. Each tells other circuits apart than those before it, as far as that
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
        voters = self.circuits[: self.n_voting]
        return disputed_patterns(voters if len(voters) > 1 else self.circuits, check_count("n", n))

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


def learn(
    X: Any,
    Y: Any,
    *,
    order: Order = "self-paced",
    gates: Literal["any", "nand"] = "any",
    noise: Noise = "auto",
    n_tries: int = N_TRIES,
    n_circuits: int | None = None,
    start: Network | None = None,
    checkpoint: str | PathLike[str] | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    callback: Callback | None = None,
) -> LearnResult:
    """Learn a small circuit that maps every row of X to the same row of Y.

    Targets are learned one at a time, each on top of the circuit that the earlier ones left, and the circuit is made as
    small as possible after each: the shortest description of the examples is the best guess about all other rows.

    Parameters
    ----------
    X : array-like of 0/1 or DataFrame, shape (n, l)
        Inputs.
    Y : array-like of 0/1 or DataFrame, shape (n, m) or (n,)
        Targets. Unknown cells (NaN, None or masked) do not count.
    order : "self-paced", "auto", "entropy", "random", sequence of int, or None
        The order in which targets are learned: always the one that needs the fewest gates next (``"self-paced"``), by minimum
        feature sets (``"auto"``), by conditional entropies, at random, the one given, or the order of the columns (None).
    gates : {"any", "nand"}
        Any function of two nodes, or NAND gates only.
    noise : str or float in [0, 0.5)
        Share of wrong labels, or a word (docs/lessons.md has all). 0 allows no errors; ``"auto"`` allows errors if they are so
        much shorter to describe than the gates that would avoid them that they must be noise.
    n_tries : int
        Tries per lesson, of which the smallest circuit is kept.
    n_circuits : int, optional
        Number of independent circuits; the equally good ones vote. By default one to five, fewer if the first one took much
        work, plus similar circuits of about the same size, up to nine in all.
    start : Network, optional
        A circuit learned from earlier rows, with an output for each column of Y: the first circuit goes on from it.
    checkpoint : path-like, optional
        A file in which progress is saved, and from which the same call continues after it was stopped or
        killed, to the same result. It is removed at the end; one of other data or settings is refused.
    time_limit : float, optional
        Seconds after which the best so far is returned, those before the work was taken up again included. Without one, the
        result depends on the data, the settings and the seed alone.
    seed : int
        Any whole number from 0.
    n_jobs : int
        Threads, -1 for one per core, or inside ``joblib.parallel_config`` workers elsewhere; the result is the same for any
        number.
    callback : callable, optional
        Called with a `gradus.Progress` several times a second; if it returns True, the best so far is returned.

    Returns
    -------
    LearnResult

    Raises
    ------
    DataError
        If the examples cannot be used.
    SettingsError
        If a setting is out of its range.

    Examples
    --------
    >>> import gradus
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> Y = [[0, 0], [0, 1], [0, 1], [1, 0]]  # a half adder: carry, sum
    >>> result = gradus.learn(X, Y, noise=0)
    >>> result.converged, result.n_gates
    (True, 2)
    >>> result.predict(X).astype(int).tolist()
    [[0, 0], [0, 1], [0, 1], [1, 0]]
    """
    settings = LearnSettings(
        order=order, gates=gates, noise=noise, n_tries=n_tries, n_circuits=n_circuits, start=start, seed=seed
    )
    limits: dict[str, Any] = {"callback": callback, "n_jobs": check_n_jobs(n_jobs)}
    limit = check_time_limit(time_limit)
    if checkpoint is None:
        return learn_with(X, Y, settings, Run(limit, **limits))
    with Checkpoint(checkpoint, lambda: (digest_of(as_bits(X, "X"), *read_targets(Y)), _settings_digest(settings)), 0) as file:
        result = learn_with(X, Y, settings, Run(limit, **limits, checkpoint=file))
        if result.stopped in (None, "time_limit"):
            file.remove()
    return result


def _settings_digest(settings: LearnSettings) -> str:
    """Return a digest of the settings, the start's gates included."""
    start = settings.start
    wiring = None if start is None else (start.functions, start.sources, start.outputs)
    return digest_of(replace(settings, start=None), wiring)


def learn_with(X: Any, Y: Any, settings: LearnSettings, run: Run) -> LearnResult:
    """Learn as `learn` does, as a run or a part of one."""
    inputs = as_bits(X, "X")
    targets, known = read_targets(Y)
    examples = pack_examples(inputs, targets, known)
    seed, n_tries = check_seed(settings.seed), check_count("n_tries", settings.n_tries)
    n_circuits = None if settings.n_circuits is None else check_count("n_circuits", settings.n_circuits)
    noise = check_noise(settings.noise)
    lessons = LessonSettings(
        nand=check_choice("gates", settings.gates, ("any", "nand")) == "nand",
        order=_fixed_order(inputs, targets, known, settings.order, seed, run),
        exact=None if noise == "auto" else noise == 0,
        noise=noise,
        n_tries=n_tries,
        growth_work=settings.growth_work,
    )
    start = _start(settings.start, inputs.shape[1], targets.shape[1], nand=lessons.nand)
    some = examples if lessons.exact else sampled(examples, seed)
    ensemble, read = learn_circuits(some, lessons, seed, run, n_circuits, start)
    ranked, n_voting = ensemble.ranked()
    if some is not examples:

        def judged_by_all(circuit: LearnedCircuit) -> LearnedCircuit:
            return refined(circuit, read, examples, lessons, seed, run.part())

        # After a stop, workers elsewhere may not have handed in theirs.
        found: list[LearnedCircuit | None] = run.map(judged_by_all, ranked)
        ranked = [better or judged_by_all(circuit) for circuit, better in zip(ranked, found, strict=True)]
    everything = offered(examples, read.further) if read.further else examples
    if start is not None:
        ranked[0] = not_longer(ranked[0], start, everything, lessons)
    ranked[0] = with_parities(ranked[0], everything, lessons)
    leaning = leanings(ranked[:n_voting], everything, lessons) if n_circuits != 1 else (None,) * targets.shape[1]
    names = {"input_names": column_names(X, "X"), "output_names": column_names(Y, "Y")}
    gates = (expanded(circuit.solution.circuit, read.further, nand=lessons.nand) for circuit in ranked)
    circuits = tuple(network_of(circuit, **names) for circuit in gates)
    best = circuits[0]
    wrong = (best.predict(inputs) ^ targets) & known
    constant = np.isin(np.arange(targets.shape[1]), constant_outputs(_gate_list(best)))
    return LearnResult(
        circuits=circuits,
        n_voting=n_voting,
        leanings=leaning,
        order=ranked[0].order,
        errors=np.count_nonzero(wrong, axis=0).astype(np.int64),
        wrong_rows=tuple(map(np.flatnonzero, wrong.T)),
        constant=constant,
        converged=not wrong.any(),
        stopped=run.stopped,
    )


def learn_whole(X: Any, Y: Any, **settings: Any) -> LearnResult:
    """Learn as `learn` does, but raise on Ctrl-C: incomplete results must not get into rows and figures."""
    result = learn(X, Y, **settings)
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result


def _start(network: Network | None, n_inputs: int, n_targets: int, *, nand: bool) -> GateList | None:
    """Check a circuit to go on from."""
    if network is None:
        return None
    if not isinstance(network, Network):
        raise SettingsError(f"start is a {type(network).__name__}; give a Network, such as the network of an earlier result.")
    if network.n_inputs != n_inputs:
        raise SettingsError(f"start reads {counted(network.n_inputs, 'input')}, but X has {counted(n_inputs, 'column')}.")
    if network.n_outputs != n_targets:
        raise SettingsError(
            f"start has {counted(network.n_outputs, 'output')}, but Y has {counted(n_targets, 'column')}; give a circuit that "
            "has one for each, in their order."
        )
    if nand and not np.isin(network.functions, (NAND, ZERO, ONE)).all():
        raise SettingsError("start has gates that are not NAND; give start.to_nand(), or let gates be 'any'.")
    return _gate_list(network)


def _gate_list(network: Network) -> GateList:
    return GateList(network.n_inputs, network.functions, network.sources, network.outputs)


def _fixed_order(
    inputs: BoolMatrix, targets: BoolMatrix, known: BoolMatrix, order: Any, seed: int, run: Run
) -> tuple[int, ...] | None:
    """Turn the argument `order` into a tuple of columns; None stands for self-paced."""
    if isinstance(order, str):
        if order == "self-paced":
            return None
        if order not in ("auto", "entropy", "random"):
            raise SettingsError(
                f"order is {order!r}; use 'self-paced', 'auto', 'entropy', 'random', None or a sequence of target columns."
            )
        if order == "auto" and not known.all():
            return _auto_order(inputs, targets, known, run)
    return resolve_order(inputs, targets, order, seed=seed, on_conflict="ignore", run=run)[0]


def _auto_order(inputs: BoolMatrix, targets: BoolMatrix, known: BoolMatrix, run: Run) -> tuple[int, ...]:
    """Order targets by minimum feature sets on the known cells of each."""
    # Not above: other orders need no feature sets.
    from gradus._curriculum.coded_examples import code_examples, code_inputs
    from gradus._curriculum.feature_sets import find_feature_set

    def size(column: int) -> int:
        rows = known[:, column]
        if not rows.any():
            return 0
        examples = code_examples(code_inputs(inputs[rows]), targets[rows, column], on_conflict="ignore")
        return find_feature_set(examples, run.part()).size

    return tuple(sorted(range(targets.shape[1]), key=size))
