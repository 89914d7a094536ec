"""Figures show what the results say: their curves are the means, recomputed here row by row."""

from __future__ import annotations

import signal
from dataclasses import replace

import numpy as np
import pytest

from experiment_helpers import changed, results_of
from gradus import problems
from gradus._lessons.circuit_learner import CircuitLearner
from gradus.errors import SettingsError
from gradus_paper.execution import run_task
from gradus_paper.figures import FIGURES, OWN_FIGURES, check_figure
from gradus_paper.figures.circuit_figures import learned_again
from gradus_paper.figures.style import LABELS
from gradus_paper.paper import GAIN_TABLES, problem_title
from gradus_paper.report import _drawn
from gradus_paper.tasks import Design, Task

PROBLEMS = {"cpar7": 7, "cmaj9": 5, "sub5": 5, "add6": 6, "cmux15": 7}
SIZES = (8, 16, 24)
TAUS = (-1.0, 0.0, 1.0)
NAMES = {
    "tree": "decision tree",
    "chain": "chain of trees",
    "forest": "random forest",
    "mlp": "small MLP",
    "boosting": "gradient boosting",
}


def rows_for(name, made_up):
    """Rows such as the figure's spec gives; those of `n_train` 24 have one sample that did not converge."""
    rng = np.random.default_rng(1)

    def accuracy(m):
        return lambda loss, size, sample: 0.7 + 0.05 * (loss == "lgh") + 0.001 * size + rng.normal(0, 0.02, m)

    if name == "headline":
        rows = made_up("cpar7", accuracy(7), m=7, losses=("l1", "lgh"), sizes=(24, 40, 56))
        ours = made_up("cpar7", accuracy(7), m=7, losses=("l1",), sizes=(24, 40, 56))
        rows += changed(ours, method="lessons", loss=None, order="self-paced")
    elif name in ("fig3", "fig4", "figA2", "accuracy"):
        rows = [row for problem, m in PROBLEMS.items() for row in made_up(problem, accuracy(m), m=m)]
    elif name == "figA1":
        rows = [row for m in (3, 4, 5, 6) for row in made_up(f"add{m}", accuracy(m), m=m)]
    elif name == "fig5":
        rows = [row for problem, m in PROBLEMS.items() for row in made_up(problem, accuracy(m), m=m, losses=("l1", "lgh"))]
        for problem, m in PROBLEMS.items():
            found = made_up(problem, accuracy(m), m=m, order="auto", losses=("lgh",))
            rows += [replace(row, tau=0.01 * row.sample, eta=0.02 * row.sample) for row in found]
    elif name == "fig6":
        rows = made_up("add5", accuracy(5), m=5, losses=("l1",))
        for tau in TAUS:
            rows += changed(made_up("add5", accuracy(5), m=5, order=f"tau:{tau}", losses=("lgh",)), tau=tau)
    elif name == "fig7":
        rows = made_up("mammalian", accuracy(9), m=9, order="none", losses=("l1",))
        rows += made_up("mammalian", accuracy(9), m=9, order="auto", losses=("lw", "llh", "lgh"))
    elif name in ("tab2", "tab3"):
        problem, targets = ("yeast", ("SK", "PP")) if name == "tab2" else ("ecoli", ("G2", "G6"))
        rows = made_up(problem, accuracy(2), m=2, sizes=(8,), draw="leave-one-out", targets=targets, order="none")
    elif name == "ties":
        rows = made_up("sub5", accuracy(5), m=5, losses=("l1", "lgh"))
        rows += [
            row for order in ("auto", "auto-column") for row in made_up("sub5", accuracy(5), m=5, order=order, losses=("lgh",))
        ]
    else:
        rows = []
    return [replace(row, converged=row.method != "network" or row.n_train != 24 or row.sample > 0) for row in rows]


def mean(rows, value=lambda row: row.test_accuracy_mean, **columns):
    """Mean of something over the rows with these columns that converged, for each size."""
    chosen = [row for row in rows if row.converged and all(getattr(row, name) == wanted for name, wanted in columns.items())]
    sizes = sorted({row.n_train for row in chosen})
    return sizes, [float(np.mean([value(row) for row in chosen if row.n_train == size])) for size in sizes]


def gain(rows, problem, loss, target=None, **columns):
    """Mean gain over L1 in points, for each size, paired by training set."""

    def value(row):
        return row.test_accuracy_mean if target is None else row.test_accuracy[target]

    base = {(r.n_train, r.sample): value(r) for r in rows if r.problem == problem and r.loss == "l1" and r.converged}
    return mean(
        [row for row in rows if (row.n_train, row.sample) in base],
        lambda row: 100 * (value(row) - base[row.n_train, row.sample]),
        problem=problem,
        loss=loss,
        **columns,
    )


def curves(panel):
    """Curves of a panel by their labels."""
    return {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in panel.lines if line.get_label()[0] != "_"}


def check(panel, expected):
    """Fail unless a panel has exactly these curves."""
    drawn = curves(panel)
    assert set(drawn) == set(expected)
    for label, (x, y) in expected.items():
        assert list(drawn[label][0]) == list(x), label
        assert list(drawn[label][1]) == pytest.approx(y), label


def used(figure):
    return [panel for panel in figure.axes if panel.axison]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


STRICTER = ("lw", "llh", "lgh")


def test_figure_3_shows_accuracies_and_the_gain_of_each_target(made_up):
    rows = [row for row in rows_for("fig3", made_up) if row.problem == "cpar7"]
    figure = FIGURES["fig3"](results_of(rows))
    first, *targets = used(figure)
    check(first, {LABELS[loss]: mean(rows, loss=loss) for loss in LABELS})
    assert first.get_ylabel() == "test accuracy"
    assert [panel.get_title() for panel in targets] == [f"target {k + 1}" for k in range(7)]
    for k, panel in enumerate(targets):
        check(panel, {LABELS[loss]: gain(rows, "cpar7", loss, k) for loss in STRICTER})
        assert panel.get_xlabel() == "training examples"
    assert legend(figure) == list(LABELS.values())


@pytest.mark.parametrize(("name", "problems"), [("fig4", list(PROBLEMS)), ("fig7", ["mammalian"])])
def test_figures_4_and_7_show_the_gains_of_each_problem(name, problems, made_up):
    rows = rows_for(name, made_up)
    figure = FIGURES[name](results_of(rows))
    assert [panel.get_title() for panel in used(figure)] == [problem_title(problem) for problem in problems]
    for panel, problem in zip(used(figure), problems, strict=True):
        check(panel, {LABELS[loss]: gain(rows, problem, loss) for loss in STRICTER})
    assert legend(figure) == [LABELS[loss] for loss in STRICTER]
    assert figure.axes[0].get_ylabel() == "gain over $L_1$ (points)"


def test_figure_5_shows_given_and_automatic_orders_with_tau_and_eta(made_up):
    rows = rows_for("fig5", made_up)
    figure = FIGURES["fig5"](results_of(rows))
    above, below = figure.axes[:5], figure.axes[5:]
    for problem, upper, lower in zip(PROBLEMS, above, below, strict=True):
        orders = {"given order": "known", "automatic order": "auto"}
        check(upper, {label: gain(rows, problem, "lgh", order=order) for label, order in orders.items()})
        found = [replace(row, converged=True) for row in rows]  # an order is found whether or not the search ends
        tau = mean(found, lambda row: row.tau, problem=problem, order="auto")
        eta = mean(found, lambda row: row.eta, problem=problem, order="auto")
        check(lower, {r"$\tau$": tau, r"$\eta$": eta})


def test_figure_6_shows_a_curve_and_a_point_for_each_tau(made_up):
    rows = rows_for("fig6", made_up)
    figure = FIGURES["fig6"](results_of(rows))
    left, right = figure.axes[:2]
    expected = {tau: gain(rows, "add5", "lgh", tau=tau) for tau in TAUS}
    lines = [line for line in left.lines if len(line.get_xdata()) == len(SIZES)]
    assert [list(line.get_ydata()) for line in lines] == [pytest.approx(expected[tau][1]) for tau in TAUS]
    sizes, base = mean(rows, loss="l1")
    at = int(np.argmin(np.abs(np.array(base) - 0.75)))
    assert right.get_title() == f"{sizes[at]} training examples"
    points, *_caps = [line for line in right.lines if list(line.get_xdata()) == list(TAUS)]
    assert list(points.get_ydata()) == pytest.approx([expected[tau][1][at] for tau in TAUS])


def test_figure_a1_shows_the_gain_of_each_target(made_up):
    rows = rows_for("figA1", made_up)
    shown = [(loss, m) for loss in ("lw", "llh", "lgh") for m in (3, 4, 5, 6)]
    for panel, (loss, m) in zip(used(FIGURES["figA1"](results_of(rows))), shown, strict=True):
        check(panel, {f"target {k + 1}": gain(rows, f"add{m}", loss, k) for k in range(m)})


def test_the_figure_of_ties_shows_both_rules_beside_the_given_order(made_up):
    rows = rows_for("ties", made_up)
    above, below = used(FIGURES["ties"](results_of(rows)))
    orders = {"given order": "known", "found order, ties drawn": "auto", "found order, ties in column order": "auto-column"}
    check(above, {label: gain(rows, "sub5", "lgh", order=order) for label, order in orders.items()})
    assert set(curves(below)) == set(orders) - {"given order"}


def test_figure_a2_shows_steps_in_millions(made_up):
    rows = rows_for("figA2", made_up)
    for panel, problem in zip(used(FIGURES["figA2"](results_of(rows))), PROBLEMS, strict=True):
        steps = {LABELS[k]: mean(rows, lambda row: row.iterations / 1e6, problem=problem, loss=k) for k in LABELS}
        check(panel, steps)


def test_the_headline_shows_both_losses_and_lessons_and_marks_the_gain(made_up):
    rows = rows_for("headline", made_up)
    figure = FIGURES["headline"](results_of(rows))
    (panel,) = used(figure)
    curve = {"$L_1$": {"loss": "l1"}, "$L_{gh}$": {"loss": "lgh"}, "lessons": {"method": "lessons"}}
    drawn = {label.partition(":")[0]: points for label, points in curves(panel).items()}
    for label, columns in curve.items():
        x, y = mean(rows, **{"method": "network", **columns})
        assert list(drawn[label][0]) == x
        assert list(drawn[label][1]) == pytest.approx(y)
    sizes, gains = gain(rows, "cpar7", "lgh")
    (said,) = [text.get_text() for text in panel.texts if "points" in text.get_text()]
    assert said.startswith(f"{gains[sizes.index(40)]:+.1f} points")
    without = [row for row in rows if row.n_train != 40 and row.method == "network"]
    assert FIGURES["headline"](results_of(without)).axes


def test_every_panel_says_what_its_horizontal_axis_is(made_up):
    for name in sorted(set(FIGURES) - {*OWN_FIGURES, "fig1", "fig2", "adder"}):
        figure = FIGURES[name](
            results_of([row for row in rows_for(name, made_up) if name != "fig3" or row.problem == "cpar7"])
        )
        unnamed = [panel for panel in used(figure) if not panel.get_xlabel()]
        assert not unnamed, name


def test_points_with_few_training_sets_are_marked(made_up):
    rows = [row for row in rows_for("fig7", made_up) if row.n_train != 16 or row.sample < 12]
    (panel,) = used(FIGURES["fig7"](results_of(rows)))
    hollow = [line for line in panel.lines if line.get_markerfacecolor() == "white" and len(line.get_xdata())]
    assert [list(line.get_xdata()) for line in hollow] == [[16]] * 3
    expected = [gain(rows, "mammalian", loss)[1][1] for loss in STRICTER]
    assert [line.get_ydata()[0] for line in hollow] == pytest.approx(expected)
    assert "fewer than 20 training sets" in legend(panel.figure)
    few = FIGURES["fig7"](results_of([row for row in rows_for("fig7", made_up) if row.sample < 5]))
    assert legend(few)[-1].startswith("few")
    assert "fewer than 20 training sets" not in legend(FIGURES["fig7"](results_of(rows_for("fig7", made_up))))


def test_users_own_figure_shows_whatever_was_varied(made_up):
    rows = [row for row in rows_for("accuracy", made_up) if row.problem == "cpar7" and row.loss in ("l1", "lgh")]
    rows += [replace(row, gates_per_target=41, test_accuracy_mean=0.5) for row in rows]
    (panel,) = used(FIGURES["accuracy"](results_of(rows)))
    expected = {
        f"{loss}, gates per target {gates}": mean(rows, loss=loss, gates_per_target=gates)
        for loss in ("l1", "lgh")
        for gates in (21, 41)
    }
    check(panel, expected)


@pytest.mark.parametrize(("name", "targets"), [("tab2", ["SK", "PP"]), ("tab3", ["G2", "G6"])])
def test_tables_show_the_gain_of_each_target_and_their_mean(name, targets, made_up):
    rows = rows_for(name, made_up)
    (panel,) = FIGURES[name](results_of(rows)).axes
    problem = rows[0].problem
    labels = [text.get_text().split("  ")[0] for text in panel.get_yticklabels()]
    assert labels == [*targets, "mean"]
    drawn = [line.get_xdata() for line in panel.lines if len(line.get_xdata()) == len(labels)]
    points = [list(x) for x in drawn][::3]  # each with the two caps of its error bars
    papers = [list(line.get_xdata()) for line in panel.lines if line.get_marker() == "D" and len(line.get_xdata())]
    assert papers == [[GAIN_TABLES[problem][target][loss] for target in targets] for loss in STRICTER]
    for loss, x in zip(STRICTER, points, strict=True):
        expected = [gain(rows, problem, loss, k)[1][0] for k in (0, 1, None)]
        assert x == pytest.approx(expected)


def test_figure_2_names_every_target_with_the_inputs_it_needs():
    left, right = FIGURES["fig2"](results_of([])).axes
    texts = [text.get_text() for text in left.texts if text.get_text()]
    assert len(texts) == problems.load("yeast").n_targets
    assert any(text.startswith("Ste9\n{") for text in texts)
    assert any(text.startswith("G6\n{") for text in [text.get_text() for text in right.texts])


@pytest.mark.parametrize(
    ("figure", "design", "n_train"),
    [("fig1", Design("add3", order="auto"), 40), ("adder", Design("add3", method="lessons"), 40)],
)
def test_a_learned_circuit_is_drawn_with_every_pin_and_name(figure, design, n_train):
    row = run_task(Task(design, n_train, 0))
    network = learned_again(row)
    assert network.n_gates == row.live_gates
    drawing = FIGURES[figure](results_of([row]))
    assert (drawing.network, list(drawing.order)) == (network, list(row.learned_order))
    svg = _drawn(drawing)["svg"].decode()
    assert all(f">{name}<" in svg for name in (*network.input_names, *network.output_names))
    assert drawing.caption.startswith(f"3-bit addition, learned from 40 examples: {row.live_gates} ")
    wrong = (network.predict(problems.load("add3").X) != problems.load("add3").Y).any(axis=1).sum()
    assert ("right on all 24 others" if not wrong else f"right on {24 - wrong} of the 24 others") in drawing.caption


def test_an_interrupted_fit_is_never_drawn_or_recorded(monkeypatch):
    lessons = Task(Design("mammalian", method="lessons"), 24, 0)
    ordered = Task(Design("mammalian", order="self-paced"), 24, 1)
    row = run_task(lessons)
    monkeypatch.setattr(CircuitLearner, "_finish", lambda self: signal.raise_signal(signal.SIGINT))
    for learn in (lambda: learned_again(row), lambda: run_task(lessons), lambda: run_task(ordered)):
        with pytest.raises(KeyboardInterrupt):
            learn()


def test_dollar_signs_in_names_are_not_formulas(made_up):
    import io

    odd = "a$_{b$c \\$ $"
    rows = [replace(row, problem=f"{odd}#0123456789abcdef") for row in made_up("cpar7", lambda *_: 0.5, m=7)]
    figure = FIGURES["accuracy"](results_of(rows))
    figure.savefig(io.BytesIO(), format="svg")
    table = changed(rows_for("tab2", made_up), targets=("$S_{$", "P$"))
    FIGURES["tab2"](results_of(table)).savefig(io.BytesIO(), format="svg")


def test_every_figure_says_which_runs_it_shows(made_up):
    for name in sorted(set(FIGURES) - {*OWN_FIGURES, "fig1", "fig2", "adder"}):
        rows = rows_for(name, made_up)
        rows = [row for row in rows if name != "fig3" or row.problem == "cpar7"]
        text = FIGURES[name](results_of(rows)).get_supxlabel()
        left_out = sum(not row.converged for row in rows)
        said = f"{left_out:,} of {len(rows):,} searches ended with training errors" if left_out else f"all {len(rows):,} runs"
        assert said in text, name


def test_an_unknown_figure_is_refused_with_a_list_of_those_there_are():
    with pytest.raises(SettingsError, match="there is no figure 'fig9'; there are headline, adder, fig1,"):
        check_figure("fig9")
