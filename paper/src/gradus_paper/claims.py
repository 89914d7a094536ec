"""The paper's statements: each is a function of the results that returns the paper's value, ours and a verdict."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import numpy as np

from gradus.lab import wording
from gradus_paper import estimates as est
from gradus_paper.paper import (
    AUTOMATIC,
    CORE_SPEED,
    FOLDS,
    GAIN_TABLES,
    KNOWN_ORDER,
    LATER_TARGETS,
    REAL_WORLD,
    found_order,
    problem_title,
)
from gradus_paper.results import Results
from gradus_paper.statements import Claim, numbered
from gradus_paper.study import load_study
from gradus_paper.tasks import BY_COLUMN

TargetGains = tuple[str, dict[str, est.Estimate]]  # a target, or "mean", and the gain of each loss over L1
EXCEPTION = "cmux15"  # the problem on which an automatic order does not help, according to the paper
OPPOSITE = {est.HOLDS: est.DOES_NOT_HOLD, est.DOES_NOT_HOLD: est.HOLDS}  # the other verdicts are their own opposites
SHARE_KEPT = 0.7  # share of the gain that counts as nearly all of it: all, with a tolerance of 0.3
TAU_MARGIN = 0.1  # tolerance for tau and eta
FEWEST_PROBLEMS = 3  # number of problems below which a direction is not called consistent
STRICT = "Lgh ≥ Llh ≥ Lw ≥ L1"
LW_BEST = "mammalian"  # the model on which Lw gains most, according to the paper
FEWEST_SIZES = 3  # neighbouring training sizes that make a range
TINY = 1e-9  # below it a tau counts as zero
DRAWN = "auto-random"  # an order from minimum sets drawn among all
LITTLE_TIME = 0.1  # share of the time of a training that counts as little
MIRROR_TOLERANCE = 0.4  # relative difference up to which the loss in the reverse order counts as large as the gain


def check_claims(results: Results) -> list[Claim]:
    """Check every claim that there are results for."""
    return numbered(_with_settings_of_the_text(results), CLAIMS)


@functools.cache
def _settings_of_the_text() -> dict[str, tuple[int, int]]:
    """Return the gates per target and the length of the history that the paper's text gives, by problem."""
    networks = [design for design in load_study("all").designs() if design.method == "network"]
    return {design.problem: (design.settings.gates_per_target, design.settings.history) for design in networks}


def _with_settings_of_the_text(results: Results) -> Results:
    """Leave out rows with other gates or histories, for problems that have rows with those of the paper's text."""
    keep = np.ones(len(results), dtype=np.bool_)
    networks = results.method == "network"
    for problem, (gates, history) in _settings_of_the_text().items():
        part = networks & (results.problem == problem)
        as_in_text = part & (results.gates_per_target == gates) & (results.history == history)
        if as_in_text.any():
            keep &= ~part | as_in_text
    return results.where(keep)


def _with_losses(results: Results, *losses: str) -> Iterator[tuple[str, dict[str, Results]]]:
    """Yield each problem that has networks taught in the known order under all of these losses, with those networks."""
    for problem in KNOWN_ORDER:
        if rows := est.in_known_order(results, problem, *losses):
            yield problem, dict(zip(losses, rows, strict=True))


def stricter_losses_gain_more(results: Results) -> est.Statements:
    """Check that Lgh gains at least as much at its peak as Llh, Llh as Lw, Lw as L1."""
    for problem, rows in _with_losses(results, "l1", "lw", "llh", "lgh"):
        peaks = {loss: est.peak(rows[loss], rows["l1"]) for loss in est.STRICTER_LOSSES}
        said, verdict = _strictness(rows, rows["l1"])
        ours = ", ".join(f"{loss} {gain.scaled(100).value:.1f} at {size}" for loss, (size, gain) in peaks.items())
        yield f"Peak gain over L1 on {problem_title(problem)}: {STRICT}", "in this order", f"{ours} points; {said}", verdict


def _strictness(rows: dict[str, Results], base: Results) -> tuple[str, str]:
    """Compare the peak gains of the losses; return the differences in words, and whether they are in the paper's order."""
    steps = {pair: est.peak_difference(rows[pair[0]], rows[pair[1]], base) for pair in (("lgh", "llh"), ("llh", "lw"))}
    verdicts = [est.above(est.peak(rows["lw"], base)[1], 0.0, est.ONE_POINT)]
    verdicts += [est.not_below(step, est.ONE_POINT) for step in steps.values()]
    return _differences(steps), est.together(verdicts)


def _differences(steps: dict[tuple[str, str], est.Estimate]) -> str:
    return "; ".join(f"{one}-{other} {est.as_points(step)}" for (one, other), step in steps.items())


def gains_of_ten_points(results: Results) -> est.Statements:
    """Check that the largest gain is about ten points."""
    peaks = [(problem, *est.peak(rows["lgh"], rows["l1"])) for problem, rows in _with_losses(results, "l1", "lgh")]
    peaks = [peak for peak in peaks if peak[2].n]
    if not peaks:
        return
    problem, size, gain = max(peaks, key=lambda peak: peak[2].value)
    verdict = est.within(gain.scaled(100), 10.0, tolerance=2.0)
    yield "Gains in test accuracy of up to 10 points", "10 points", f"{est.as_points(gain)}, on {problem} at {size}", verdict


def sixth_target_of_parity(results: Results) -> est.Statements:
    """Check that the sixth target of parity goes from 58 to 84 % where its gain is largest."""
    rows = est.in_known_order(results, "cpar7", "l1", "lgh")
    if not rows:
        return
    base, lgh = rows
    pairs = lgh.pairs(base).by_training_set()
    found = est.largest_gain_of_each_target(pairs)
    if not found:
        return
    size, gains = found[5]
    gain, there = est.mean_interval(list(gains.values())), pairs.n_train == size
    before, after = (est.mean_interval(values[there][:, 5]) for values in (pairs.second_targets, pairs.first_targets))
    ours = f"{100 * before.value:.1f} % to {100 * after.value:.1f} % at {size} examples; gain {est.as_points(gain)}"
    verdict = est.within(gain.scaled(100), 26.0, tolerance=6.0)
    yield "The sixth target of 7-bit parity at its best", "58 % to 84 %", ours, verdict


def fewer_examples_for_parity(results: Results) -> est.Statements:
    """Check that Lgh passes 90 % on parity with 16 % fewer examples."""
    rows = est.in_known_order(results, "cpar7", "l1", "lgh")
    if not rows:
        return
    base, lgh = rows
    saved = est.ratio_of_sizes(lgh, base, 0.9, replicates=2000).below(1.0)
    if not saved.n:
        return
    curves = zip(rows, est.aligned_accuracies(*rows), strict=True)
    needed = [est.crossing(curve.sizes, est.row_means(accuracy), 0.9) for curve, accuracy in curves]
    ours = f"{est.as_share(saved)}: {needed[0]:.1f} examples with L1, {needed[1]:.1f} with Lgh"
    verdict = est.within(saved.scaled(100), 16.0, tolerance=3.0)
    yield "Fewer examples to pass 90 % on 7-bit parity", "16 %", ours, verdict, f"{saved.n:,}"


def llh_and_lw_alike_on_parity(results: Results) -> est.Statements:
    """Check that Llh and Lw cannot be told apart on parity."""
    rows = est.in_known_order(results, "cpar7", "llh", "lw")
    gains = est.gain_by_size(rows[0].pairs(rows[1])) if rows else []
    if not gains:
        return
    size, widest = max(gains, key=lambda point: abs(point[1].value))
    apart = [n for n, gain in gains if gain.low > 0 or gain.high < 0]
    ours = f"largest difference {est.as_points(widest)} at {size}; intervals without 0 at {len(apart)} of {len(gains)} sizes"
    verdict = est.together([est.within(gain, 0.0, est.ONE_POINT) for _, gain in gains])
    yield "Llh and Lw are not distinguishable on 7-bit parity", "no difference", ours, verdict


def _problems_with_automatic_orders(results: Results) -> Iterator[tuple[str, Results, Results, Results]]:
    """Yield each problem with its networks of L1, and those of Lgh in the known and in automatic orders."""
    for problem, rows in _with_losses(results, "l1", "lgh"):
        auto = results.select(problem=problem, loss="lgh", order=AUTOMATIC)
        if len(auto):
            yield problem, rows["l1"], rows["lgh"], auto


def automatic_order_keeps_the_gain(results: Results) -> est.Statements:
    """Check that the automatic order keeps nearly all of the gain, and on the multiplexer some of it."""
    for problem, base, known, auto in _problems_with_automatic_orders(results):
        size, gain = est.peak(known, base)
        by_column = results.select(problem=problem, loss="lgh", order=BY_COLUMN)
        kept = est.share_of_gain(auto, known, base, size)
        other = est.share_of_gain(by_column, known, base, size) if size in by_column.sizes else est.mean_interval([])
        cause = f"; ties in column order {est.as_share(other)} (n = {other.n})" if other.n else ""
        ours = f"{est.as_share(kept)} of {est.as_points(gain)} at {size} examples{cause}"
        if problem == EXCEPTION:
            overall = est.overall_gain(auto, base)
            statement = f"The automatic order still gains on {problem_title(problem)}, over all sizes"
            yield statement, "some improvement", f"{est.as_points(overall)}; {ours}", est.above(overall, 0.0), f"{gain.n:,}"
        else:
            keeps = est.above(kept, SHARE_KEPT, 1.0 - SHARE_KEPT) if gain.low > 0 else est.UNDECIDED
            yield f"The automatic order keeps the gain on {problem_title(problem)}", "nearly all", ours, keeps, f"{gain.n:,}"


def order_and_nesting_are_found(results: Results) -> est.Statements:
    """Check that tau and eta are above one half just before and at the peak of the gain, except on the multiplexer."""
    for problem, base, known, auto in _problems_with_automatic_orders(results):
        top, _ = est.peak(known, base)
        # The size before the peak, and the peak itself: the former shows whether they passed 0.5 before it.
        sizes = [size for size in auto.sizes if size <= top][-2:]
        if not sizes:
            continue
        etas = dict(est.mean_by_size(auto, auto.eta))
        if found_order(problem) != DRAWN:  # as published, it is of sets drawn among all
            drawn = results.select(problem=problem, method="curriculum", order=DRAWN)
            etas |= dict(est.mean_by_size(drawn, drawn.eta))
        at = {size: (dict(est.mean_by_size(auto, auto.tau))[size], etas[size]) for size in sizes}
        both = est.together([est.above(estimate, 0.5, TAU_MARGIN) for pair in at.values() for estimate in pair])
        exception, fewest = problem == EXCEPTION, min(estimate.n for pair in at.values() for estimate in pair)
        yield (
            f"On {problem_title(problem)} τ and η are {'not both ' if exception else ''}above 0.5 at the size before the peak "
            "of the gain and at the peak",
            "not both" if exception else "both",
            "; ".join(f"τ = {tau}, η = {eta} at {size} examples" for size, (tau, eta) in at.items()) + f" (n = {fewest})",
            OPPOSITE.get(both, both) if exception else both,
        )  # fmt: skip


def gain_grows_with_tau(results: Results) -> est.Statements:
    """Check that on addition the gain grows with tau, is largest at 1, as negative at -1, and none at 0."""
    part, drawn = est.taught_in_orders(results)
    size = est.middle_size(part)
    if size is None:
        return
    taus, gains = est.gain_matrix(part, size, drawn)
    if taus[0] != -1.0:  # these are statements on all orders, from the known one to its reverse
        return
    slope = est.mean_interval(np.polyfit(taus, gains.T, 1)[0] if len(gains) else [])
    means = gains.mean(axis=0) if len(gains) else np.full(len(taus), np.nan)
    best, next_best = (int(np.argmax(mean)) for mean in (means, means[:-1]))
    lead = est.mean_interval(gains[:, -1] - gains[:, next_best])
    _, ends = est.gain_matrix(part, size, ends=True)
    first, last, mirror = map(est.mean_interval, (ends[:, -1], ends[:, 0], ends.sum(axis=1)))
    rise = f"{est.in_points(slope)} from τ = 0 to 1, over {len(taus)} values at {size} examples"
    more = f"{est.in_points(lead)} more than at {taus[next_best]:.1f}"
    largest = f"largest at τ = {taus[best]:.1f}; {est.in_points(first)} at τ = 1, {more}"
    both = f"{est.in_points(last)} against {est.in_points(first)}; together {est.in_points(mirror)}"
    as_large = est.within(mirror, 0.0, tolerance=MIRROR_TOLERANCE * abs(first.value))
    addition, sets = "On 5-bit addition the", f"{len(gains)} orders of each τ" if drawn else f"{len(gains):,}"
    yield f"{addition} gain grows with τ", "grows", rise, est.above(slope, 0.0), sets
    yield f"{addition} gain is largest at τ = 1", "largest", largest, est.not_below(lead, 100 * est.ONE_POINT), sets
    yield f"{addition} loss at τ = -1 is as large as the gain at τ = 1", "as negative", both, as_large
    for unrelated in np.flatnonzero(np.abs(taus) < TINY):
        none = est.mean_interval(gains[:, unrelated])
        ours = f"{est.in_points(none)} at {size} examples"
        yield f"{addition} gain is none at τ = 0", "none", ours, est.within(none, 0.0, 100 * est.ONE_POINT), sets


def gains_on_real_models(results: Results) -> est.Statements:
    """Check that Lgh with the automatic order gains on the real-world models."""
    for problem in REAL_WORLD:
        part = results.select(problem=problem, method="network")
        base, lgh = part.select(loss="l1"), part.select(loss="lgh", order=AUTOMATIC)
        if len(base) and len(lgh):
            size, gain = est.peak(lgh, base)
            ours = f"{est.as_points(gain)} at {size} examples{_other_settings(lgh)}"
            yield f"Lgh gains on the {problem_title(problem)}", "positive", ours, est.above(gain, 0.0)


def _other_settings(rows: Results) -> str:
    """Name the settings of the networks, if they are not those of the text."""
    had = set(zip(rows.gates_per_target.tolist(), rows.history.tolist(), strict=True))
    had -= {_settings_of_the_text().get(problem, ()) for problem in rows.problems}
    return "".join(f", with {gates} gates per target and history {history}" for gates, history in sorted(had))


def gain_rises_until_the_last_target(results: Results) -> est.Statements:
    """Check that the largest gain of each target rises from one target to the next, and drops at the last alone."""
    for problem, rows in _with_losses(results, "l1", "lgh"):
        found = est.largest_gain_of_each_target(rows["lgh"].pairs(rows["l1"]))
        if not found:
            continue
        sizes, largest = zip(*found, strict=True)
        steps = [est.mean_difference(after, before) for before, after in itertools.pairwise(largest)]
        drop = steps.pop().below(0.0)
        verdicts = [*(est.not_below(step, est.ONE_POINT) for step in steps), est.above(drop, 0.0)]
        verdict = est.together(verdicts)
        each = ", ".join(f"{100 * float(np.mean(list(of.values()))):.1f}" for of in largest)
        falls = [k + 2 for k, step in enumerate(steps) if step.high < 0]
        early = f"; falls before, at target {', '.join(map(str, falls))}" if falls else ""
        ours = f"{each} points; the last {est.as_points(drop)} less than the one before{early}"
        needed = [est.networks_to_decide(step, est.ONE_POINT) for step in steps] + [est.networks_to_decide(drop)]
        prices = [
            _decided_by(step.n, needed[k], est.steps_of_a_set(list(rows.values()), sizes[k : k + 2]))
            for k, step in enumerate([*steps, drop])
            if verdicts[k] == verdict == est.UNDECIDED
        ]
        statement = f"The gain rises with every target and drops at the last alone on {problem_title(problem)}"
        yield statement, "rises, then drops", ours, verdict, "".join([f"{drop.n:,}", *prices])


def _decided_by(n: int, needed: int, steps: float) -> str:
    """Write about how many training sets or networks would decide something, and the steps of training the missing ones."""
    more = wording.two_digits((needed - n) * steps / 1e9)
    return f"; decided by about {needed:,}: {more} · 10⁹ steps more" if needed > n else ""


def no_consistent_effect_on_steps(results: Results) -> est.Statements:
    """Check that Lgh does not change the steps that training takes in the same direction on every problem."""
    changes = {problem: est.changes_in_steps(rows["lgh"], rows["l1"]) for problem, rows in _with_losses(results, "l1", "lgh")}
    tested = [values for by_size in changes.values() for values in by_size]
    if sum(map(bool, changes.values())) < FEWEST_PROBLEMS:
        return
    # With so many sizes some would differ by chance alone, and in either direction.
    level = 1 - 0.05 / len(tested)
    counts = []
    for problem, by_size in changes.items():
        intervals = [est.mean_interval(values, level) for values in by_size]
        more, fewer = sum(interval.low > 0 for interval in intervals), sum(interval.high < 0 for interval in intervals)
        counts.append((problem, more, fewer, len(by_size)))
    ours = "; ".join(f"{problem}: more at {more} and fewer at {fewer} of {n} sizes" for problem, more, fewer, n in counts if n)
    directions = any(more for _, more, _, _ in counts) + any(fewer for _, _, fewer, _ in counts)
    decided = est.DOES_NOT_HOLD if directions == 1 else est.HOLDS
    verdict = decided if min(map(len, tested)) >= est.FEWEST_PAIRS else est.UNDECIDED
    statement = "Lgh changes the number of training steps in no consistent direction over the problems"
    yield statement, "none", f"significantly {ours}", verdict, f"{min(map(len, tested)):,}"


def _time_series(results: Results) -> Iterator[tuple[int, str, list[TargetGains], dict[str, est.Estimate], float]]:
    """Yield the number of each table, its problem, the gains of its targets, those of their mean, and the steps of a pair."""
    for number, problem in enumerate(GAIN_TABLES, start=2):
        part = est.in_estimated_order(results, problem)
        if not {"l1", "lgh"} <= set(part.loss.tolist()):
            continue
        *targets, (_, _, overall) = est.gains_by_target(part, problem)
        if overall["lgh"].n:
            steps = est.steps_of_a_set([part.select(loss=loss) for loss in ("l1", "lgh")], part.sizes)
            yield number, problem, [(name, gains) for name, _, gains in targets], overall, steps


def lgh_improves_on_time_series(results: Results) -> est.Statements:
    """Check that on the two time series Lgh does better than L1 in leave-one-out, on the mean of the targets."""
    for number, problem, targets, overall, steps in _time_series(results):
        each = ", ".join(f"{target} {100 * gains['lgh'].value:+.1f}" for target, gains in targets)
        statement = f"Table {number}: Lgh improves on L1 for {problem_title(problem)}, leave-one-out"
        ours = f"{est.as_points(overall['lgh'])}; {each}"
        yield statement, "an improvement", ours, *_improves(overall["lgh"], problem, steps)


def _improves(gain: est.Estimate, problem: str, steps: float) -> tuple[str, str]:
    """Judge whether a gain on a time series is above zero, and write how many networks are behind it, or would decide it."""
    verdict, needed = est.above(gain, 0.0), est.networks_to_decide(gain) if gain.n >= est.FEWEST_PAIRS else 0
    return verdict, _folds(gain, problem) + (_decided_by(gain.n, needed, steps) if verdict == est.UNDECIDED else "")


def _folds(gain: est.Estimate, problem: str) -> str:
    """Write the training sets of a table: one per pattern left out, and the networks of each loss in all."""
    return f"{len(FOLDS[problem])} folds, {gain.n:,} networks a loss"


def gains_in_the_tables(results: Results) -> est.Statements:
    """Check the gain of every loss on every target against the table, up to one point."""
    for number, problem, targets, _, _ in _time_series(results):
        for target, gains in targets:
            paper = GAIN_TABLES[problem].get(target, {})
            judged = {loss: gain.scaled(100) for loss, gain in gains.items() if loss in paper}
            if judged:
                yield (
                    f"Table {number}, {target}: gains over L1",
                    ", ".join(f"{loss} {paper[loss]:+.1f}" for loss in judged) + " points",
                    ", ".join(f"{loss} {gain:+.1f}" for loss, gain in judged.items())
                    + f" points (n = {min(gain.n for gain in judged.values())})",
                    est.together([est.within(gain, paper[loss], 100 * est.ONE_POINT) for loss, gain in judged.items()]),
                    _folds(next(iter(judged.values())), problem),
                )  # fmt: skip


def later_targets_improve(results: Results) -> est.Statements:
    """Check that Lgh does better than L1 on the targets that come later in a hierarchy, as the paper's text says."""
    for _, problem, targets, _, steps in _time_series(results):
        for target, gains in targets:
            if target in LATER_TARGETS:
                statement = f"Lgh improves the later target {target} of {problem_title(problem)}"
                yield statement, "an improvement", est.as_points(gains["lgh"]), *_improves(gains["lgh"], problem, steps)


def stricter_losses_gain_more_in_found_orders(results: Results) -> est.Statements:
    """Check the order of the losses on the 74181 and the FA/BRCA pathway, and that Lw is best on the cell cycle."""
    for problem in REAL_WORLD:
        part = results.select(problem=problem, method="network")
        rows = {loss: part.select(loss=loss, order=AUTOMATIC) for loss in est.STRICTER_LOSSES}
        base = part.select(loss="l1")
        if not (len(base) and all(map(len, rows.values()))):
            continue
        said, (ours, verdict) = STRICT, _strictness(rows, base)
        if problem == LW_BEST:
            leads = {("lw", other): est.peak_difference(rows["lw"], rows[other], base) for other in ("llh", "lgh")}
            verdict = est.together([est.above(lead, tolerance=est.ONE_POINT) for lead in leads.values()])
            said, ours = "Lw gains most", _differences(leads)
        yield f"Peak gain over L1 on the {problem_title(problem)}: {said}", "in this order", ours, verdict


def gains_over_a_range_of_sizes(results: Results) -> est.Statements:
    """Check that Lgh in the known order gains significantly at several neighbouring sizes, and loses at none."""
    for problem, rows in _with_losses(results, "l1", "lgh"):
        pairs = rows["lgh"].pairs(rows["l1"]).by_training_set()
        if not pairs.sizes:
            continue
        level = 1 - 0.05 / len(pairs.sizes)  # with so many sizes some would differ by chance
        gains = [est.mean_interval(pairs.gain[pairs.n_train == size], level) for size in pairs.sizes]
        signs = ["+" if gain.low > 0 else "-" if gain.high < 0 else "." for gain in gains]
        enough = min(gain.n for gain in gains) >= est.FEWEST_PAIRS
        found = "+" * FEWEST_SIZES in "".join(signs) and "-" not in signs
        verdict = (est.HOLDS if found else est.DOES_NOT_HOLD) if enough else est.UNDECIDED
        ours = f"above 0 at {signs.count('+')} and below at {signs.count('-')} of {len(signs)} sizes"
        statement = f"Lgh gains significantly over a range of sizes on {problem_title(problem)}"
        yield statement, "a range", f"{ours} (n = {min(gain.n for gain in gains)})", verdict


def first_targets_of_parity(results: Results) -> est.Statements:
    """Check that the first two targets of parity gain little: less than a tenth of what the best target gains."""
    rows = est.in_known_order(results, "cpar7", "l1", "lgh")
    found = est.largest_gain_of_each_target(rows[1].pairs(rows[0])) if rows else []
    if not found:
        return
    means = [est.mean_interval(list(of.values())) for _, of in found]
    most = max(mean.value for mean in means) / 10
    ours = ", ".join(est.as_points(mean) for mean in means[:2])
    verdict = est.together([est.above(mean.below(most), 0.0, est.ONE_POINT) for mean in means[:2]])
    needed = max(est.networks_to_decide(mean, est.ONE_POINT) for mean in means[:2])
    fewest = min(mean.n for mean in means[:2])
    price = _decided_by(fewest, needed, est.steps_of_a_set(rows, [size for size, _ in found[:2]]))
    sets = f"{fewest:,}" + (price if verdict == est.UNDECIDED else "")
    yield "The first two targets of 7-bit parity gain little", f"below {100 * most:.1f} points", ours, verdict, sets


def orders_cost_little(results: Results) -> est.Statements:
    """Check that finding an order takes less than a tenth of the time of the training that follows."""
    shares = {}
    for problem, rows in _with_losses(results, "lgh"):
        found = results.select(problem=problem, method="curriculum", order=found_order(problem))
        for size in set(found.sizes) & set(rows["lgh"].sizes):
            training = float(np.mean(rows["lgh"].select(n_train=size).iterations)) / CORE_SPEED
            seconds = found.select(n_train=size).cpu_seconds
            shares[problem] = est.mean_interval(seconds).scaled(1 / training)
    if len(shares) < FEWEST_PROBLEMS:
        return
    ours = ", ".join(f"{problem} {est.as_share(share)}" for problem, share in shares.items())
    said = f"{ours} of the CPU time of one training with Lgh (n = {min(share.n for share in shares.values())})"
    verdict = est.together([est.above(share.below(LITTLE_TIME), 0.0) for share in shares.values()])
    yield "Finding an order takes little time beside training", "almost none: below 10 %", said, verdict


CLAIMS = (
    stricter_losses_gain_more, gains_of_ten_points, sixth_target_of_parity, fewer_examples_for_parity,
    llh_and_lw_alike_on_parity, automatic_order_keeps_the_gain, order_and_nesting_are_found, gain_grows_with_tau,
    gains_on_real_models, lgh_improves_on_time_series, gain_rises_until_the_last_target, no_consistent_effect_on_steps,
    gains_in_the_tables, later_targets_improve, stricter_losses_gain_more_in_found_orders, gains_over_a_range_of_sizes,
    first_targets_of_parity, orders_cost_little,
)  # fmt: skip
