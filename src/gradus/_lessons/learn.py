"""`learn`: from examples to circuits in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix, as_bits, column_names, unpack
from gradus._checks import check_choice, check_count, check_seed, check_time_limit
from gradus._curriculum import resolve_order
from gradus._html import notebook_table
from gradus._lessons.board import PackedExamples
from gradus._lessons.control import Control
from gradus._lessons.gate_list import GateList, evaluate
from gradus._lessons.neighbours import neighbours
from gradus._lessons.packed_examples import read_targets, task_of
from gradus._lessons.phases import PhaseSettings
from gradus._lessons.school import School
from gradus._lessons.school_plan import SchoolPlan, Taught
from gradus._minfs import minimum_feature_set
from gradus._network import Network
from gradus._progress import Callback
from gradus._wording import counted
from gradus.errors import SettingsError

__all__ = ["LearnResult", "Order", "learn", "learn_whole"]

Order = Literal["self-paced", "auto", "entropy", "random"] | Sequence[int] | npt.NDArray[np.integer[Any]] | None
N_TRIES = 3
MAX_CIRCUITS = 5
ALL_WORK = 6_000_000_000  # word operations for all circuits together, where their number is not given
ROWS_TO_COMPARE = 4096
RESTARTS = 2
N_VOTES = 9  # where fewer circuits than this are taught, others about as small join the vote
EQUALLY_GOOD = 1.1  # circuits described by at most so many times the bits of the shortest vote: no search is perfect


@dataclass(frozen=True, eq=False)
class LearnResult:
    """What `learn` found.

    Attributes
    ----------
    circuits : tuple of Network
        Best first: the shortest description, of gates and errors together.
    n_voting : int
        How many of them, from the first, are about equally good (descriptions at most 10 % longer) and vote.
    order : tuple of int
        The target columns in the order in which the best circuit was taught.
    errors : ndarray of int
        Per target, how many training examples the best circuit gets wrong.
    wrong_rows : tuple of ndarray of int
        Per target, which ones.
    constant : ndarray of bool
        Per target, whether it got a constant because nothing explains it better.
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
        """Gates of the best circuit; a constant is not counted."""
        return int(np.sum((self.network.functions != 0) & (self.network.functions != 15)))

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Share of the voting circuits that say 1, per row and target."""
        votes = [circuit.predict(X) for circuit in self.circuits[: self.n_voting]]
        return np.asarray(np.mean(votes, axis=0), dtype=np.float64)

    def predict(self, X: Any) -> BoolMatrix:
        """Predict every target by the vote of the equally good circuits; the best one decides a tie."""
        share = self.predict_proba(X)
        return np.where(share == 0.5, self.network.predict(X), share > 0.5)

    def __repr__(self) -> str:
        parts = ((len(self.errors), "target"), (self.n_gates, "gate"), (int(self.errors.sum()), "training error"))
        return f"LearnResult({', '.join(counted(number, what) for number, what in parts)})"

    def _repr_html_(self) -> str:
        rows = []
        for k in self.order:
            gates = int(self.network.cone([k])[self.network.n_inputs :].sum())
            said = "a constant" if self.constant[k] else counted(gates, "gate")
            rows.append((self.network.output_names[k], int(self.errors[k]), said))
        table = notebook_table(repr(self), ["target, in the order taught", "training errors", "circuit"], rows)
        return table + (self.network._repr_svg_() or "")


def learn(
    X: Any,
    Y: Any,
    *,
    order: Order = "self-paced",
    gates: Literal["any", "nand"] = "any",
    noise: Literal["auto"] | float = "auto",
    n_tries: int = N_TRIES,
    n_circuits: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    callback: Callback | None = None,
) -> LearnResult:
    """Learn a small circuit that maps every row of X to the same row of Y.

    Targets are taught one at a time, each on top of the circuit that the earlier ones left, and the circuit is made as
    small as possible after each: the shortest description of the examples is the best guess about all other rows.

    Parameters
    ----------
    X : array-like of 0/1 or DataFrame, shape (n, l)
        Inputs.
    Y : array-like of 0/1 or DataFrame, shape (n, m) or (n,)
        Targets. Unknown cells (NaN, None or masked) never count.
    order : "self-paced", "auto", "entropy", "random", sequence of int, or None
        The order in which targets are taught: the one that needs fewest gates next (``"self-paced"``), by minimum feature
        sets (``"auto"``), by conditional entropies, at random, the one given, or the order of the columns (None).
    gates : {"any", "nand"}
        Any function of two nodes, or NAND gates only.
    noise : "auto" or float in [0, 0.5)
        Share of wrong labels. 0 asks for no error at all; ``"auto"`` allows errors where they are so much shorter to
        describe than the gates that would avoid them that they must be noise.
    n_tries : int
        Tries per lesson, of which the smallest circuit goes on.
    n_circuits : int, optional
        Independent circuits; the equally good ones vote. By default one to five, fewer the more work the first one took,
        plus similar circuits of about the same size, up to nine in all.
    time_limit : float, optional
        Seconds after which the best so far is returned. Without one, the result depends on the data, the settings and the
        seed alone.
    seed : int
        Any whole number from 0.
    n_jobs : int
        Threads; the result is the same for any number.
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
    inputs = as_bits(X, "X")
    targets, known = read_targets(Y)
    task = task_of(inputs, targets, known)
    seed, n_tries = check_seed(seed), check_count("n_tries", n_tries)
    wanted = None if n_circuits is None else check_count("n_circuits", n_circuits)
    limit, rate = check_time_limit(time_limit), _check_noise(noise)
    nand = check_choice("gates", gates, ("any", "nand")) == "nand"
    control = Control(limit, callback, check_count("n_jobs", n_jobs), wanted or MAX_CIRCUITS)
    plan = SchoolPlan(
        order=_fixed_order(inputs, targets, known, order, seed, limit),
        exact=None if rate is None else rate == 0,
        n_tries=n_tries,
    )
    settings = PhaseSettings(nand=nand, noise_rate=rate or None)

    def school(number: int) -> Taught | None:
        late = control.stopped is not None and number > 0
        return None if late else School(task, plan, settings, seed, number, control).run()

    found = _run_schools(school, wanted, control)
    if wanted is None:
        ranked, n_voting = _ranked(found)
        if not ranked[0].tolerant and not (n_voting > 1 and _agree(ranked[:n_voting])):
            found += neighbours(task, ranked[:n_voting], N_VOTES // n_voting - 1, settings, seed, control)
    names = {"input_names": column_names(X, "X"), "output_names": column_names(Y, "Y")}
    return _result(task, found, control, names)


def learn_whole(X: Any, Y: Any, **settings: Any) -> LearnResult:
    """Learn as `learn` does, but let Ctrl-C through: what is half learned must not get into rows and figures."""
    result = learn(X, Y, **settings)
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result


def _ranked(found: Sequence[Taught]) -> tuple[list[Taught], int]:
    """Sort circuits, the best first and equal ones in the order of their seeds, and count those about as good as the best.

    Where some circuits are exact, those that allow errors do not vote.
    """
    ranked = sorted(found, key=lambda taught: (taught.tolerant, taught.length))
    best = ranked[0]
    return ranked, sum(one.tolerant == best.tolerant and one.length <= EQUALLY_GOOD * best.length for one in ranked)


def _run_schools(school: Callable[[int], Taught | None], wanted: int | None, control: Control) -> list[Taught]:
    """Run as many schools as wanted, or as are worth their time; those not started before a stop are left out.

    Without a number, a second circuit is taught if the first took little work; if the two are the same function, no further
    one would change a vote, and otherwise there are as many as the work allows. If the first did not solve all lessons,
    there are up to two more starts.
    """
    if wanted is None:
        found = control.map(school, range(1))
        while len(found) <= RESTARTS and all(taught is not None and taught.unsolved for taught in found):
            found += control.map(school, range(len(found), len(found) + 1))
        if len(found) > 1:
            return [taught for taught in found if taught is not None]
        affordable = _affordable(found)
        if affordable > 1:
            found += control.map(school, range(1, 2))
            if not _agree([taught for taught in found if taught is not None]):
                affordable = _affordable(found)
                control.n_circuits = max(affordable, 2)
                found += control.map(school, range(2, affordable))
    else:
        found = control.map(school, range(wanted))
    return [taught for taught in found if taught is not None]


def _affordable(found: list[Taught | None]) -> int:
    work = max([taught.work for taught in found if taught is not None] or [ALL_WORK])
    return max(1, min(MAX_CIRCUITS, ALL_WORK // max(work, 1)))


def _agree(taught: list[Taught]) -> bool:
    """Whether all circuits are equally long and predict the same on many random rows (always true after a stop)."""
    rows = np.random.default_rng(0).random((ROWS_TO_COMPARE, taught[0].circuit.n_inputs)) < 0.5
    first = evaluate(taught[0].circuit, rows)
    return all(one.length == taught[0].length and (evaluate(one.circuit, rows) == first).all() for one in taught[1:])


def _result(task: PackedExamples, found: list[Taught], control: Control, names: dict[str, Any]) -> LearnResult:
    ranked, n_voting = _ranked(found)
    best = ranked[0]
    wrong = wrong_rows(task, best.circuit)
    n_inputs, functions = best.circuit.n_inputs, best.circuit.functions
    constant = [node >= n_inputs and functions[node - n_inputs] in (0, 15) for node in best.circuit.outputs.tolist()]
    return LearnResult(
        circuits=tuple(_network_of(taught.circuit, names) for taught in ranked),
        n_voting=n_voting,
        order=best.order,
        errors=np.array([len(rows) for rows in wrong], dtype=np.int64),
        wrong_rows=wrong,
        constant=np.array(constant, dtype=np.bool_),
        converged=not any(len(rows) for rows in wrong),
        stopped=control.stopped,
    )


def _network_of(circuit: GateList, names: dict[str, Any]) -> Network:
    return Network(circuit.n_inputs, circuit.sources, circuit.outputs, circuit.functions, **names)


def wrong_rows(task: PackedExamples, circuit: GateList) -> tuple[npt.NDArray[np.int64], ...]:
    """Which known examples a circuit gets wrong, per target."""
    n = task.n_examples
    wrong = (evaluate(circuit, unpack(task.inputs, n)) ^ unpack(task.targets, n)) & unpack(task.known, n)
    return tuple(np.flatnonzero(column) for column in wrong.T)


def _fixed_order(
    inputs: BoolMatrix, targets: BoolMatrix, known: BoolMatrix, order: Any, seed: int, time_limit: float | None
) -> tuple[int, ...] | None:
    """Turn the order into a tuple; None stands for self-paced."""
    if isinstance(order, str) and order == "self-paced":
        return None
    if isinstance(order, str) and order not in ("auto", "entropy", "random"):
        raise SettingsError(
            f"order is {order!r}; use 'self-paced', 'auto', 'entropy', 'random', None or a sequence of target columns."
        )
    wanted = order.tolist() if isinstance(order, np.ndarray) else order
    if wanted == "auto" and not known.all():
        return _auto_order(inputs, targets, known)
    columns, _ = resolve_order(inputs, targets, wanted, seed=seed, time_limit=time_limit, on_conflict="ignore")
    return tuple(int(column) for column in columns)


def _auto_order(inputs: BoolMatrix, targets: BoolMatrix, known: BoolMatrix) -> tuple[int, ...]:
    """Order by minimum feature sets on the known cells of each target."""
    sizes = []
    for column in range(targets.shape[1]):
        rows = known[:, column]
        sizes.append(minimum_feature_set(inputs[rows], targets[rows, column], on_conflict="ignore").size if rows.any() else 0)
    return tuple(int(column) for column in np.argsort(sizes, kind="stable"))


def _check_noise(noise: Any) -> float | None:
    if isinstance(noise, str) and noise == "auto":
        return None
    number = isinstance(noise, int | float | np.integer | np.floating) and not isinstance(noise, bool)
    if not number or not 0 <= noise < 0.5:
        raise SettingsError(f"noise is {noise!r}; use 'auto' or the share of wrong labels, from 0 to below 0.5.")
    return float(noise)
