"""`learn`: learns circuits from examples in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.gate_list import is_constant
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix, as_bits, column_names
from gradus._core.checks import Noise, check_choice, check_count, check_n_jobs, check_noise, check_seed, check_time_limit
from gradus._core.run import Callback, Run
from gradus._core.wording import counted
from gradus._curriculum.orders import resolve_order
from gradus._lessons.best_ensemble import learn_circuits
from gradus._lessons.further_inputs import expanded
from gradus._lessons.packed_examples import pack_examples, read_targets
from gradus._lessons.row_sample import refined, sampled
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

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the share of the voting circuits that predict 1, per row and target."""
        votes = [circuit.predict(X) for circuit in self.circuits[: self.n_voting]]
        return np.asarray(np.mean(votes, axis=0), dtype=np.float64)

    def predict(self, X: Any) -> BoolMatrix:
        """Predict every target by a vote of the equally good circuits; the best one decides ties."""
        share = self.predict_proba(X)
        return np.where(share == 0.5, self.network.predict(X), share > 0.5)

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
    time_limit : float, optional
        Seconds after which the best so far is returned. Without one, the result depends on the data, the settings and the
        seed alone.
    seed : int
        Any whole number from 0.
    n_jobs : int
        Threads, -1 for one per core; the result is the same for any number.
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
    settings = LearnSettings(order=order, gates=gates, noise=noise, n_tries=n_tries, n_circuits=n_circuits, seed=seed)
    return learn_with(X, Y, settings, Run(check_time_limit(time_limit), callback, n_jobs=check_n_jobs(n_jobs)))


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
    some = examples if lessons.exact else sampled(examples, seed)
    ensemble, read = learn_circuits(some, lessons, seed, run, n_circuits)
    ranked, n_voting = ensemble.ranked()
    if some is not examples:
        ranked = run.map(lambda circuit: refined(circuit, read, examples, lessons, seed, run.part()), ranked)
    names = {"input_names": column_names(X, "X"), "output_names": column_names(Y, "Y")}
    gates = (expanded(circuit.solution.circuit, read.further, nand=lessons.nand) for circuit in ranked)
    circuits = tuple(network_of(circuit, **names) for circuit in gates)
    best = circuits[0]
    wrong = (best.predict(inputs) ^ targets) & known
    constant = np.append(np.zeros(best.n_inputs, dtype=np.bool_), is_constant(best.functions))
    return LearnResult(
        circuits=circuits,
        n_voting=n_voting,
        order=ranked[0].order,
        errors=np.count_nonzero(wrong, axis=0).astype(np.int64),
        wrong_rows=tuple(map(np.flatnonzero, wrong.T)),
        constant=constant[best.outputs],
        converged=not wrong.any(),
        stopped=run.stopped,
    )


def learn_whole(X: Any, Y: Any, **settings: Any) -> LearnResult:
    """Learn as `learn` does, but raise on Ctrl-C: incomplete results must not get into rows and figures."""
    result = learn(X, Y, **settings)
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result


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
