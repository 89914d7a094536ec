"""`learn`: learns circuits from examples in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.gate_list import constant_outputs
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix, as_bits, column_names
from gradus._core.checkpoint import Checkpoint
from gradus._core.checks import Noise, check_choice, check_count, check_n_jobs, check_noise, check_seed, check_time_limit
from gradus._core.plain import digest_of
from gradus._core.run import Callback, Run
from gradus._curriculum.orders import resolve_order
from gradus._lessons.best_ensemble import learn_circuits
from gradus._lessons.continued import checked_start, gate_list_of, not_longer
from gradus._lessons.description import LearnedCircuit
from gradus._lessons.further_inputs import expanded
from gradus._lessons.leanings import leanings, with_parities
from gradus._lessons.offers import offered
from gradus._lessons.packed_examples import pack_examples, read_targets
from gradus._lessons.result import LearnResult
from gradus._lessons.row_sample import refined, sampled
from gradus._lessons.walks import GROWTH_WORK, LessonSettings
from gradus.errors import SettingsError

__all__ = ["LearnSettings", "Order", "learn", "learn_whole", "learn_with"]

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

    Targets are learned one at a time, each on top of the circuit so far, which is then made as small as possible: the
    shortest description of the examples is the best guess about all other rows.

    Parameters
    ----------
    X : array-like of 0/1 or DataFrame, shape (n, l)
        Inputs.
    Y : array-like of 0/1 or DataFrame, shape (n, m) or (n,)
        Targets. Unknown cells (NaN, None or masked) do not count.
    order : "self-paced", "auto", "entropy", "random", sequence of int, or None
        Always the target that needs the fewest gates next (``"self-paced"``), by minimum feature sets (``"auto"``), by
        conditional entropies, at random, as given, or as the columns are (None).
    gates : {"any", "nand"}
        Any function of two nodes, or NAND gates only.
    noise : str or float in [0, 0.5)
        Share of wrong labels. 0 allows no errors; ``"auto"`` allows them where that makes the description much shorter.
    n_tries : int
        Tries per lesson, of which the smallest circuit is kept.
    n_circuits : int, optional
        Number of independent circuits; the equally good ones vote. By default as many as their work allows, at most five.
    start : Network, optional
        A circuit learned from earlier rows, with an output for each target: the first circuit continues from it.
    checkpoint : path-like, optional
        A file with which the same call continues, to the same result, after it was stopped or killed; removed at the end.
    time_limit : float, optional
        Seconds after which the best so far is returned. Only with a limit does the result depend on a clock.
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
    >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0], [0, 1], [0, 1], [1, 0]]  # a half adder: carry, sum
    >>> result = gradus.learn(X, Y, noise=0)
    >>> result.converged, result.n_gates
    (True, 2)
    >>> result.predict(X).astype(int).tolist()
    [[0, 0], [0, 1], [0, 1], [1, 0]]
    """
    settings = LearnSettings(
        order=order, gates=gates, noise=noise, n_tries=n_tries, n_circuits=n_circuits, start=start, seed=seed
    )
    run = partial(Run, check_time_limit(time_limit), callback=callback, n_jobs=check_n_jobs(n_jobs))
    return learn_with(X, Y, settings, run()) if checkpoint is None else _kept(X, Y, settings, run, checkpoint)


def _kept(X: Any, Y: Any, settings: LearnSettings, run: Callable[..., Run], path: str | PathLike[str]) -> LearnResult:
    """Learn, and keep what is done in a file until all is."""
    with Checkpoint(path, lambda: (digest_of(as_bits(X, "X"), *read_targets(Y)), _settings_digest(settings)), 0) as file:
        result = learn_with(X, Y, settings, run(checkpoint=file))
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
    start = checked_start(settings.start, inputs.shape[1], targets.shape[1], nand=lessons.nand)
    learned_from = examples if lessons.exact else sampled(examples, seed)
    ensemble, read = learn_circuits(learned_from, lessons, seed, run, n_circuits, start)
    everything = offered(examples, read.further) if read.further else examples

    def judged_by_all(circuit: LearnedCircuit) -> LearnedCircuit:
        return refined(circuit, everything, lessons, seed, run.part())

    def finished() -> LearnResult:
        if learned_from is not examples:
            # After a stop, results of workers elsewhere may be missing.
            found: list[LearnedCircuit | None] = run.map(judged_by_all, ensemble.circuits)
            both = zip(ensemble.circuits, found, strict=True)
            ensemble.circuits = [better or judged_by_all(circuit) for circuit, better in both]
        ranked, n_voting = ensemble.ranked()
        if start is not None:
            ranked[0] = not_longer(ranked[0], start, everything, lessons)
        ranked[0] = with_parities(ranked[0], everything, lessons)
        return result(ranked, n_voting, None if n_circuits == 1 else leanings(ranked[:n_voting], everything, lessons))

    def result(ranked: list[LearnedCircuit], n_voting: int, leaning: Any) -> LearnResult:
        names = {"input_names": column_names(X, "X"), "output_names": column_names(Y, "Y")}
        gates = (expanded(circuit.solution.circuit, read.further, nand=lessons.nand) for circuit in ranked)
        circuits = tuple(network_of(circuit, **names) for circuit in gates)
        wrong = (circuits[0].predict(inputs) ^ targets) & known
        return LearnResult(
            circuits=circuits,
            n_voting=n_voting,
            leanings=leaning or (None,) * targets.shape[1],
            order=ranked[0].order,
            errors=np.count_nonzero(wrong, axis=0).astype(np.int64),
            wrong_rows=tuple(map(np.flatnonzero, wrong.T)),
            constant=np.isin(np.arange(targets.shape[1]), constant_outputs(gate_list_of(circuits[0]))),
            converged=not wrong.any(),
            stopped=run.stopped,
            _lesson=(learned_from, lessons, seed),
        )

    try:
        return finished()
    except KeyboardInterrupt:
        run.interrupt()
        return result(*ensemble.ranked(), None)


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
