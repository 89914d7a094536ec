"""Tables in Markdown: those of the studies beyond the paper, and those that pages have between their marks."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import resources

import numpy as np
import numpy.typing as npt

from gradus.lab import wording
from gradus_paper import contest, learners
from gradus_paper import estimates as est
from gradus_paper.open_questions import GATES, NOISY, RATES, TOLERANCE
from gradus_paper.paper import (
    AUTOMATIC,
    CORE_SPEED,
    GAIN_TABLES,
    GPU_SPEED,
    KNOWN_ORDER,
    LOSSES,
    SIZES,
    TAUGHT_AS_ONE,
    by_problem,
    problem_title,
)  # fmt: skip
from gradus_paper.results import Results
from gradus_paper.tasks import BY_COLUMN, SELF_PACED

MARKED = re.compile(r"(<!-- table: [^>]*\((\w+)\) -->\n).*?(<!-- /table -->)", re.DOTALL)
# Spaces at which an interval or a count would be cut in two at the end of a line.
BROKEN = re.compile(r"(?<=,) (?=[^\[\]|]*\])| (?=[±%])|(?<=±) |(?<=\bn) (?== )|(?<=\bn =) ")
NOTHING, POINTS, PLUS_MINUS = "–", "+.1f", " ± "
TIMED = ("auto", "chain", "forest", "boosting", "mlp", "lessons")  # learners whose CPU seconds are shown in the league
Table = tuple[Sequence[str], Iterable[Sequence[str]]]  # headings and lines


def with_tables(page: str, rows: dict[str, Results]) -> str:
    """Return a page with its tables made again, those that there are rows for."""

    def made(mark: re.Match[str]) -> str:
        table, source = PAGE_TABLES[mark[2]]
        found = rows.get(source)
        if found is None or not len(found):
            return mark[0]
        return f"{mark[1]}\n{unbroken(markdown(*table(found)))}\n{mark[3]}"

    return MARKED.sub(made, page)


def unbroken(text: str) -> str:
    """Return a text whose intervals and counts stay on one line."""
    return BROKEN.sub("\N{NO-BREAK SPACE}", text)


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def plus_minus(values: npt.ArrayLike) -> str:
    """Write a mean with half of its interval."""
    estimate = est.mean_interval(values)
    return f"{estimate.value:.3f}{PLUS_MINUS}{(estimate.high - estimate.low) / 2:.3f}"


def shares_by_rule_of_ties(results: Results) -> Table:
    """Compare what the automatic order keeps of the gain with ties drawn and in column order, on the same training sets."""
    lines = []
    for problem, size in (*TAUGHT_AS_ONE.items(), ("cmux15", 80)):
        part = results.select(problem=problem, n_train=size).usable_only()
        base, lgh = part.select(loss="l1"), part.select(loss="lgh")
        rules = [lgh.select(order=words) for words in (AUTOMATIC, BY_COLUMN)]
        shared = set.intersection(*(set(rows.sample.tolist()) for rows in (base, lgh.select(order="known"), *rules)))
        rules = [rows.select(sample=shared) for rows in rules]
        shares = [est.as_share(est.share_of_gain(rows, lgh.select(order="known"), base, size)) for rows in rules]
        where = f"{problem_title(problem)}, {size} examples"
        lines.append((where, f"{len(shared):,}", *shares, *(plus_minus(rows.tau) for rows in rules)))
    return ["", "training sets", "ties drawn", "ties in column order", "τ, drawn", "τ, in column order"], lines


def agreement(results: Results) -> Table:
    """Compare accuracy and median steps with what is known of the published code."""
    lines = []
    text = (resources.files("gradus_paper") / "published_code.csv").read_text("utf-8")
    for problem, size, loss, accuracy, steps in list(csv.reader(text.splitlines()))[1:]:
        rows = results.select(problem=problem, n_train=int(size), loss=loss, order="known").usable_only()
        if not len(rows):
            continue
        ours = plus_minus(rows.accuracy), f"{np.median(rows.iterations) / 1e6:.2f}"
        where = f"{problem_title(problem)}, {size} examples", loss.capitalize()
        lines.append((*where, accuracy, ours[0], _standard_errors(accuracy, rows), steps, ours[1]))
    headings = ["", "loss", "accuracy, theirs", "ours", "apart, standard errors", "median steps, theirs (millions)", "ours"]
    return headings, lines


def _standard_errors(theirs: str, rows: Results) -> str:
    """Write how far our mean is from theirs, in standard errors of the difference, where theirs is known."""
    value, _, half = theirs.partition(PLUS_MINUS)
    if not half:
        return NOTHING
    ours = est.mean_interval(rows.accuracy)
    return f"{1.96 * (ours.value - float(value)) / math.hypot(float(half), (ours.high - ours.low) / 2):+.1f}"


def ways_of_the_tables(results: Results) -> Table:
    """Compare the gains of Lgh in tables 2 and 3 with those of networks that were taught otherwise."""
    lines = []
    for problem, targets in GAIN_TABLES.items():
        part = results.select(problem=problem, draw="leave-one-out")
        named, usual = part.named_targets, part.gates_per_target == 21
        ways = {
            "as in the table": (named & usual, "auto"),
            "in the order listed": (named & usual, "none"),
            "with 38 gates per target": (named & ~usual, "auto"),
            "all targets as one network": (~named, "auto"),
        }
        for way, (keep, order) in ways.items():
            rows = part.where(keep & ((part.loss == "l1") | (part.order == order)))
            if {"l1", "lgh"} <= set(rows.loss.tolist()):
                gains = {name: of["lgh"] for name, _, of in est.gains_by_target(rows, problem)}
                each = "; ".join(f"{target} {gains[target].scaled(100):+.1f}" for target in targets)
                lines.append((problem_title(problem), way, f"{gains['mean'].n:,}", each))
    return ["", "taught", "networks of each loss", "gain of Lgh over L1, points"], lines


def price_of_the_74181(results: Results) -> Table:
    """Return what is missing of the 74181 at 100 training sets, in trainings, steps and time, by training size."""
    lines, wanted = [], 100
    for size in SIZES["alu74181"]:
        part = results.select(problem="alu74181", method="network", n_train=size)
        rows = {loss: part.select(loss=loss) for loss in LOSSES}
        means = {loss: float(np.mean(of.iterations)) for loss, of in rows.items() if len(of)}
        missing = {loss: wanted - len(of) for loss, of in rows.items()}
        if means and any(missing.values()):
            # A loss that was never run there is taken to need the steps of the others.
            usual = float(np.mean(list(means.values())))
            steps = sum(count * means.get(loss, usual) for loss, count in missing.items())
            times = (wording.two_digits(steps / speed) for speed in (60 * GPU_SPEED, 3600 * CORE_SPEED))
            lines.append((f"{size} examples", str(sum(missing.values())), wording.two_digits(steps / 1e9), *times))
    return ["74181, 100 training sets, four losses", "trainings missing", "10⁹ steps", "GPU minutes", "core hours"], lines


def answers(results: Results) -> Table:
    """Answer the paper's open questions: a line for each, with the estimate for each problem."""
    lines: dict[str, list[tuple[str, int]]] = {}
    for problem in KNOWN_ORDER:
        for question, found, digits in _measured(results.select(problem=problem)):
            cell = (format(found, digits), found.n) if found.n >= est.FEWEST_PAIRS else (NOTHING, 0)
            lines.setdefault(question, []).append(cell)
    counts = {question: sorted({n for _, n in cells if n}) for question, cells in lines.items()}
    sets = {question: " to ".join(map(str, dict.fromkeys((ns[0], ns[-1])))) if ns else "0" for question, ns in counts.items()}
    rows = [(question, *(text for text, _ in cells), sets[question]) for question, cells in lines.items()]
    return ["", *map(problem_title, KNOWN_ORDER), "training sets"], rows


def _measured(part: Results) -> Iterator[tuple[str, est.Estimate, str]]:
    """Yield what is measured on a problem, the estimate, and the digits to write; gains are in points."""
    every, chains = part.select(method="network"), part.select(method="chains")
    noisy = every.max_iterations == NOISY["max_iter"]
    tolerant = np.nan_to_num(every.tolerance.astype(float)) > 0
    usual, tolerated, plain = every.where(noisy & ~tolerant), every.where(tolerant), every.where(~noisy)
    for loss, name, rates in (("lgh", "Lgh", RATES), ("lw", "Lw", (TOLERANCE,)), ("llh", "Llh", (TOLERANCE,))):
        for rate in rates:
            found = est.gain_as_ended(usual.select(loss=loss, noise=rate), usual.select(loss="l1", noise=rate))
            yield f"gain of {name}, {100 * rate:g} % of the labels flipped", found.scaled(100), POINTS
    for rate, other, said in ((TOLERANCE, "l1", "L1"), (TOLERANCE, "lgh", "Lgh as it is"), (0.0, "lgh", "Lgh as it is")):
        found = est.gain_as_ended(tolerated.select(noise=rate), usual.select(loss=other, noise=rate))
        yield f"Lgh with errors tolerated, against {said}, {100 * rate:g} % flipped", found.scaled(100), POINTS
    for column, name in (("set_sizes", "mean size of a minimum set"), ("tau", "τ"), ("eta", "η")):
        for rate in (0.0, RATES[0], RATES[-1]):
            values = getattr(part.select(method="curriculum", noise=rate), column)
            yield f"{name}, {100 * rate:g} % flipped", est.mean_interval([np.mean(value) for value in values]), ".2f"
    for gates in sorted((*GATES, 21)):
        pairs = plain.select(loss="lgh", gates_per_target=gates).pairs(plain.select(loss="l1", gates_per_target=gates))
        last = est.mean_interval(pairs.target_gain[:, -1] if len(pairs.gain) else [])
        yield f"gain of Lgh for the last target, {gates} gates per target", last.scaled(100), POINTS
    for name, words in (("found", AUTOMATIC), ("self-paced", SELF_PACED), ("known", "known")):
        found = est.gain_as_ended(chains.select(order=words), chains.select(order="random"))
        yield f"ensembles of chains in the {name} order, against random orders", found.scaled(100), POINTS


def random_functions(results: Results) -> Table:
    """Compare the best of all orders, chosen on each half of the training sets, with L1 on the other half."""
    lines = []
    for kind, said in (("disjoint", "share no inputs"), ("nested", "have a hierarchy")):
        etas, gains, right = [], [], []
        for problem in filter(lambda name: name.startswith(kind), results.problems):
            lgh, base = (results.select(problem=problem, loss=loss) for loss in ("lgh", "l1"))
            words = sorted({order for order in lgh.order.tolist() if order.startswith("given:")})
            pairs = [lgh.select(order=order).pairs(base) for order in words]
            for half in range(2):
                best = max(pairs, key=lambda paired: float(paired.gain[paired.sample % 2 == half].mean()))
                gains.append(best.gain[best.sample % 2 != half].mean())
            right.append(pairs[0].gain.mean())  # the first of the words is 0,1,2,3
            etas.append(np.mean(np.asarray(lgh.select(order="auto").eta, dtype=np.float64)))
        chosen = est.mean_interval(np.reshape(gains, (-1, 2)).mean(axis=1)).scaled(100)
        known = format(est.mean_interval(right).scaled(100), POINTS) if kind == "nested" else NOTHING
        measured = f"{est.mean_interval(etas):.2f}", format(chosen, POINTS), known
        lines += [(f"{len(etas)} whose targets {said}", *measured)] if gains else []
    return ["random functions", "η", "the best of 24 orders (points)", "the right order"], lines


def tables_in_markdown(results: dict[str, Results]) -> str:
    """Write every table of a study that there are rows for."""
    known = {name: rows for name, rows in results.items() if len(rows)}
    return "\n".join(f"## {title}\n\n{table(known[name])}" for name, (title, table) in STUDY_TABLES.items() if name in known)


def examples_to_level(results: Results) -> str:
    """Return the training size at which each learner passes 99 %, and the limit by the description of the circuit."""
    rows = []
    for problem, part in by_problem(results):
        gates = learners.smallest_right_circuit(part)
        limit = NOTHING if gates is None else f"{learners.limit_in_examples(problem, gates):.0f} ({gates} gates)"
        cells = [_size(learners.rows_of_learner(part, key)) for key in learners.LEARNERS]
        rows.append([problem_title(problem), *cells, limit])
    return markdown(["", *_names(learners.LEARNERS), "bits of the circuit"], rows)


def _names(keys: Iterable[str]) -> list[str]:
    return [learners.LEARNERS[key].name for key in keys]


def _size(rows: Results) -> str:
    """Write the size at which a curve passes 99 %, or what is known of it, and the number of training sets behind it."""
    usable = rows.usable_only()
    points = est.accuracy_by_size(usable)
    if not points:
        return NOTHING
    at, fewest = est.size_at_level(usable, learners.LEVEL_WANTED), min(estimate.n for _, estimate in points)
    if math.isnan(at.value):
        return f"> {points[-1][0]} ({points[-1][1].value:.3f}; n = {points[-1][1].n})"
    if at.value <= points[0][0]:
        return f"≤ {points[0][0]} (n = {fewest})"
    interval = f" [{at.low:.0f}, {at.high:.0f}]" if math.isfinite(at.low + at.high) else ""
    return f"{at.value:.0f}{interval} (n = {fewest})"


def accuracy_with_noise(results: Results) -> str:
    """Return the mean accuracy of each learner at each share of flipped labels."""
    results = results.select(problem=results.select(method="lessons").problems)
    keys = [key for key in learners.LEARNERS if len(learners.LEARNERS[key].select(results))]
    rows = []
    for problem, part in by_problem(results):
        name = f"{problem_title(problem)}, {', '.join(map(str, part.sizes))}"
        for rate in sorted(set(part.noise.tolist())):
            found = {key: learners.rows_of_learner(part, key, rate).usable_only() for key in keys}
            means = {key: est.mean_interval(these.accuracy) for key, these in found.items() if len(these)}
            rows.append([name, f"{100 * rate:g} %", *_best_in_bold(means, keys)])
    return markdown(["problem, examples", "flipped", *_names(keys)], rows)


def _best_in_bold(means: dict[str, est.Estimate], keys: Sequence[str]) -> list[str]:
    """Write mean accuracies, the highest to three digits in bold, and the number of training sets if it differs."""
    texts = {key: f"{mean.value:.3f}" for key, mean in means.items()}
    best, most = max(texts.values(), default=""), max((mean.n for mean in means.values()), default=0)
    bold = {key: f"**{text}**" if text == best else text for key, text in texts.items()}
    said = {key: text if means[key].n == most else f"{text} (n = {means[key].n})" for key, text in bold.items()}
    return [said.get(key, NOTHING) for key in keys]


def agreement_of_orders(results: Results) -> str:
    """Return tau at each size for orders found in different ways, and the share of the gain of Lgh that they keep."""
    rows, kept_rows = [], []
    for problem, part in by_problem(results):
        found = learners.orders_found(part)
        taus = {name: dict(est.mean_by_size(these, these.tau)) for name, these in found.items()}
        for size in sorted(taus.get("self-paced", {})):
            said = {name: _tau(of[size]) for name, of in taus.items() if size in of}
            rows.append([problem_title(problem), str(size), *(said.get(name, NOTHING) for name in learners.ORDERS)])
        size, kept = learners.gain_kept(part)
        if size:
            said = {name: f"{est.as_share(share)} (n = {share.n})" for name, share in kept.items()}
            kept_rows.append([problem_title(problem), str(size), *(said.get(name, NOTHING) for name in learners.ORDERS)])
    headings = ["", "examples", *learners.ORDERS]
    shares = f"\nShare of the gain of Lgh over L1 that is kept:\n\n{markdown(headings, kept_rows)}" if kept_rows else ""
    return markdown(headings, rows) + shares


def _tau(estimate: est.Estimate) -> str:
    return f"{estimate.value:.2f} ± {estimate.high - estimate.value:.2f} (n = {estimate.n})"


def the_league(results: Results) -> str:
    """Return the mean accuracy of all learners on all functions, the lead of lessons, and CPU seconds."""
    compared = learners.league_rows(results)
    keys = learners.learners_of(compared)
    rows, times = [], []
    for row in compared:
        name, lead = f"{row.problem}/{row.size}", row.lead.scaled(100)
        best = learners.LEARNERS[row.best_other].name
        said = f"{lead:+.1f} ({best}, n = {lead.n})"
        rows.append([name, *_best_in_bold(row.accuracy, keys), said])
        seconds = {key: wording.two_digits(value) for key, value in row.seconds.items() if not math.isnan(value)}
        times.append([name, *(seconds.get(key, NOTHING) for key in TIMED)])
    headings = ["function/examples", *_names(keys), "lead of the vote over the best other (points)"]
    clock = markdown(["function/examples", *_names(TIMED)], times)
    return f"{markdown(headings, rows)}\nMedian CPU seconds of a fit and its scoring:\n\n{clock}"


def the_contest(results: Results) -> str:
    """Return how the solutions of benchmarks compare with published ones, for groups of them and for each."""
    found = contest.entries(results.table)
    headings = ["", "benchmarks", "ours", "AND gates", "CPU s", *contest.OTHERS]
    lines = [
        [line.name, str(line.size), _percent(line.accuracy), f"{line.gates:.0f}", f"{line.seconds:.1f}"]
        + [_percent(line.others[name]) for name in contest.OTHERS]
        for line in (*contest.groups(found), *contest.categories(found))
    ]
    each = [
        [entry.name, entry.category, entry.run, _percent(entry.accuracy), str(entry.gates), f"{entry.seconds:.1f}"]
        + [_percent(entry.others[name]) for name in contest.OTHERS]
        for entry in found
    ]
    said = "\n".join(f"- {sentence}" for sentence in contest.standing(found))
    about = f"{contest.ABOUT} {contest.OF_OTHERS}"
    return f"{about}\n\n{said}\n\n{markdown(headings, lines)}\n{markdown(['', 'kind', 'run', *headings[2:]], each)}"


def _percent(share: float) -> str:
    return NOTHING if math.isnan(share) else f"{100 * share:.2f}"


STUDY_TABLES = {
    "sample_complexity": ("Examples to 99 % of the unseen bits", examples_to_level),
    "noise": ("Accuracy with flipped labels", accuracy_with_noise),
    "orders": ("Orders: τ with the known one", agreement_of_orders),
    "league": ("The league", the_league),
    contest.NAME: ("Benchmarks", the_contest),
}
PAGE_TABLES: dict[str, tuple[Callable[[Results], Table], str]] = {
    "ways": (ways_of_the_tables, "all"),
    "ties": (shares_by_rule_of_ties, "ties"),
    "agreement": (agreement, "fig4"),
    "prices": (price_of_the_74181, "fig7"),
    "answers": (answers, "wrong_labels"),
    "random_functions": (random_functions, "wrong_labels"),
}
"""Every table by its name in the marks of a page, and the figure whose rows it shows, or all of them."""
