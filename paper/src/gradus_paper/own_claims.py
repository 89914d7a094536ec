"""Statements of our own, beyond the paper, each judged by an interval as the paper's are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradus.lab import wording
from gradus_paper import estimates as est
from gradus_paper import learners
from gradus_paper.beyond import LEAGUE_SIZES
from gradus_paper.paper import KNOWN_ORDER, PROBLEMS, REAL_WORLD, problem_title
from gradus_paper.results import Results
from gradus_paper.statements import Claim, numbered

HALF = 0.5
TIMES_THE_LIMIT = 2.0
NOISE = 0.05
FASTER = 0.1


def check_own_claims(results: Results) -> list[Claim]:
    """Check every statement of our own that there are results for; all were written down before the rows were made."""
    return numbered(results, OWN_CLAIMS, prefix="B")


def lessons_are_right_more_often(results: Results) -> est.Statements:
    """Check that lessons, given no order, are right more often than Lgh with the best order that the paper has."""
    for learner, order, problems in (("lgh", "given", KNOWN_ORDER), ("auto", "found", REAL_WORLD)):
        for where, gain in _leads_over(learner, results, problems):
            statement = f"Lessons beat Lgh with the {order} order on {where}"
            yield statement, "above 0", est.as_points(gain), est.above(gain, 0.0)


def _leads_over(learner: str, results: Results, problems: Sequence[str]) -> Iterator[tuple[str, est.Estimate]]:
    """Yield each problem with its size in the league, and how much more accurate lessons are there than another learner."""
    for problem in problems:
        part, size = results.select(problem=problem), LEAGUE_SIZES[problem]
        gain = learners.difference(learners.rows_of_learner(part, "lessons"), learners.rows_of_learner(part, learner), size)
        if gain.n:
            yield f"{problem_title(problem)} at {size} examples", gain


def lessons_need_half_the_examples(results: Results) -> est.Statements:
    """Check that lessons pass 99 % with at most half the examples that Lgh in the given order needs."""
    for problem in KNOWN_ORDER:
        part = results.select(problem=problem)
        ours, theirs = learners.rows_of_learner(part, "lessons"), learners.rows_of_learner(part, "lgh")
        if len(ours) and len(theirs):
            share = est.ratio_of_sizes(ours, theirs, learners.LEVEL_WANTED)
            half = "with at most half the examples of Lgh in the given order"
            statement = f"Lessons pass 99 % on {problem_title(problem)} {half}"
            yield statement, "at most 50 %", f"{est.as_share(share)} (n = {share.n})", est.above(share.below(HALF), 0.0)


def near_the_limit(results: Results) -> est.Statements:
    """Check that lessons pass 99 % with at most twice the examples whose bits describe the circuit."""
    for problem in PROBLEMS:
        part = results.select(problem=problem)
        gates = learners.smallest_right_circuit(part)
        if gates is None:
            continue
        limit = learners.limit_in_examples(problem, gates)
        needed = est.size_at_level(learners.rows_of_learner(part, "lessons"), learners.LEVEL_WANTED)
        statement = f"Lessons pass 99 % on {problem_title(problem)} with at most twice the examples that describe its circuit"
        ours = f"{needed:.1f} examples against {limit:.1f} ({gates} gates; n = {needed.n})"
        verdict = est.above(needed.below(TIMES_THE_LIMIT * limit), 0.0)
        yield statement, f"at most {TIMES_THE_LIMIT * limit:.0f}", ours, verdict


def voting_is_no_worse(results: Results) -> est.Statements:
    """Check that the vote is no worse than the best circuit alone."""
    for where, gain in _leads_over("circuit", results, PROBLEMS):
        statement = f"The vote is no worse than the best circuit alone on {where}"
        yield statement, "0 or more", est.as_points(gain), est.not_below(gain, est.ONE_POINT)


def wrong_labels_cost_little(results: Results) -> est.Statements:
    """Check that lessons lose less than a point of accuracy with 5 % flipped labels."""
    for problem in KNOWN_ORDER:
        part = results.select(problem=problem, method="lessons")
        noisy = part.select(noise=NOISE)
        for size in noisy.sizes:
            loss = learners.difference(noisy, part.select(noise=0.0), size)
            if loss.n:
                where = f"{problem_title(problem)} at {size} examples"
                statement = f"With 5 % flipped labels lessons lose less than a point on {where}"
                yield statement, "less than 1 point", est.as_points(loss), est.above(loss, -est.ONE_POINT)


def lessons_lose_less_to_noise(results: Results) -> est.Statements:
    """Check that lessons are right more often than the best plain classifier with 5 % flipped labels."""
    for problem in KNOWN_ORDER:
        part = results.select(problem=problem, noise=NOISE)
        for size in part.sizes:
            others = {key: learners.rows_of_learner(part, key, NOISE) for key in ("chain", "forest", "boosting", "mlp")}
            others = {key: rows for key, rows in others.items() if len(rows)}
            if not others or "lessons" not in part.method.tolist():
                continue
            best = max(others, key=lambda key: float(np.mean(others[key].accuracy)))
            gain = learners.difference(part.select(method="lessons"), others[best], size)
            statement = f"With 5 % flipped labels lessons beat every classifier on {problem_title(problem)} at {size} examples"
            yield statement, "above 0", f"{est.as_points(gain)} over {learners.LEARNERS[best].name}", est.above(gain, 0.0)


def self_paced_orders_agree_more(results: Results) -> est.Statements:
    """Check that self-paced orders agree more with the known one than orders by minimum feature sets."""
    for problem in KNOWN_ORDER:
        rows, size = learners.orders_found(results.select(problem=problem)), LEAGUE_SIZES[problem]
        if not {"self-paced", "minimum sets"} <= set(rows):
            continue
        at = [rows[name].select(n_train=size) for name in ("self-paced", "minimum sets")]
        gain = est.mean_difference(*(est.by_sample(rows, rows.tau) for rows in at))
        if gain.n:
            where = f"{problem_title(problem)} at {size} examples"
            statement = f"Self-paced orders agree more with the known one than minimum sets on {where}"
            yield statement, "above 0", f"{gain} (n = {gain.n})", est.above(gain, 0.0)


def no_other_learner_is_better(results: Results) -> est.Statements:
    """Check that on no function of the league another learner is noticeably better than lessons."""
    rows = learners.league_rows(results)
    if not rows:
        return
    wins, losses = [row for row in rows if row.lead.low > 0], [row for row in rows if row.lead.high < 0]
    enough = all(row.lead.n >= est.FEWEST_PAIRS for row in rows)
    lost = ", ".join(f"{row.problem} {100 * row.lead.value:+.1f} ({learners.LEARNERS[row.best_other].name})" for row in losses)
    ours = f"{len(wins)} won, {len(losses)} lost of {len(rows)}" + (f": {lost} points" if lost else "")
    verdict = est.DOES_NOT_HOLD if losses else est.HOLDS if enough else est.UNDECIDED
    yield "On no function of the league is another learner better than lessons", "none", ours, verdict


def ten_times_less_time(results: Results) -> est.Statements:
    """Check that lessons take less than a tenth of the CPU seconds that the published code takes to 99 %."""
    for problem, speed in learners.PUBLISHED_SPEED.items():
        part = results.select(problem=problem)
        ours = learners.effort(learners.rows_of_learner(part, "lessons"))
        theirs = learners.effort(learners.rows_of_learner(part, "lgh"), speed)
        if ours is None or theirs is None:
            continue
        mean, other = ours.seconds, theirs.seconds
        # The quotient of two means: the widest that their intervals allow.
        share = est.Estimate(mean.value / other.value, mean.low / other.high, mean.high / other.low, min(mean.n, other.n))
        statement = f"Lessons take less than a tenth of the published code's CPU time to 99 % on {problem_title(problem)}"
        times = [wording.two_digits(estimate.value) for estimate in (mean, other)]
        said = f"{times[0]} s at {ours.size} examples against {times[1]} s at {theirs.size}"
        yield statement, "below 10 %", f"{est.as_share(share)}: {said} (n = {share.n})", est.above(share.below(FASTER), 0.0)


OWN_CLAIMS = (
    lessons_are_right_more_often, lessons_need_half_the_examples, near_the_limit, voting_is_no_worse,
    wrong_labels_cost_little, lessons_lose_less_to_noise, self_paced_orders_agree_more, no_other_learner_is_better,
    ten_times_less_time,
)  # fmt: skip
