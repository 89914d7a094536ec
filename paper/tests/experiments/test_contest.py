"""The contest as a study: rows, the page beside published figures, and solutions that another program scores the same."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from gradus._cli.main import run
from gradus_paper import contest
from gradus_paper.engines import CudaEngine
from gradus_paper.row import TIMING
from gradus_paper.store import Store

FUNCTIONS = {
    "ex23": lambda X: X[:, 0] ^ X[:, 1],
    "ex30": lambda X: (X[:, 0] & X[:, 1]) | X[:, 2],  # an even one: nothing published is known
    "ex31": lambda X: X[:, 3] ^ (X[:, 4] | ~X[:, 5]),
    "ex45": lambda X: (X @ (1 << np.arange(20)) * 2654435761 >> 17) & 1 == 1,  # nothing to learn
}


def write_pla(path, X, y):
    rows = "".join(f"{''.join(map(str, row))} {label}\n" for row, label in zip(X.astype(int), y.astype(int), strict=True))
    path.write_text(f".i {X.shape[1]}\n.o 1\n.p {len(X)}\n.type fr\n{rows}.e\n")


def write_benchmarks(folder, names):
    folder.mkdir(exist_ok=True)
    for name in names:
        rng = np.random.default_rng(int(name[2:]))
        for kind in contest.SETS:
            X = rng.random((100, 20)) < 0.5
            write_pla(folder / f"{name}.{kind}.pla", X, FUNCTIONS[name](X))
    return folder


def reproduce(data, out, *more):
    return run(["reproduce", "contest", "--data", str(data), "-o", str(out), "--n-jobs", "1", *more])


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    place = tmp_path_factory.mktemp("contest")
    data, out = write_benchmarks(place / "data", FUNCTIONS), place / "out"
    assert reproduce(data, out) == 0
    return data, out


def rows(out):
    table = Store(out).table().drop_columns(list(TIMING)).sort_by("problem").to_pylist()
    return {row["problem"][:4]: row for row in table}


def test_every_benchmark_has_a_row_with_its_circuit(ran):
    found = rows(ran[1])
    assert list(found) == list(FUNCTIONS)
    assert all(row["n_train"] == 200 and row["n_test"] == 100 for row in found.values())
    assert [found[name]["test_accuracy_mean"] for name in ("ex23", "ex30", "ex31")] == [1.0, 1.0, 1.0]
    assert found["ex23"]["and_gates"] == 3
    assert 0.3 < found["ex45"]["test_accuracy_mean"] < 0.9


def test_a_run_taken_up_gives_equal_rows(ran, tmp_path, capsys):
    data, out = ran
    part = write_benchmarks(tmp_path / "part", ["ex23", "ex45"])
    assert reproduce(part, tmp_path / "out", "--no-report") == 0
    assert reproduce(data, tmp_path / "out", "--json") == 0
    outcome = json.loads(capsys.readouterr().out.partition("\n")[2].partition("{")[2].join(["{", ""]))
    assert (outcome["done_before"], outcome["done"]) == (2, 2)
    assert rows(tmp_path / "out") == rows(out)


def test_benchmarks_are_read_for_an_engine_that_runs_them_in_this_process(tmp_path, monkeypatch):
    engine = CudaEngine()
    monkeypatch.setattr(engine, "_searched", lambda tasks, begun: iter(()))  # lessons need no GPU
    monkeypatch.setattr("gradus_paper.engines.choose_engine", lambda **_: engine)
    monkeypatch.setattr("gradus_paper.training_sets._tables", {})
    data = write_benchmarks(tmp_path / "data", ["ex23"])
    assert reproduce(data, tmp_path / "out", "--no-report") == 0
    assert rows(tmp_path / "out")["ex23"]["status"] == "done"


def test_a_folder_keeps_the_benchmarks_of_earlier_runs(ran, tmp_path):
    for names in (["ex23"], ["ex31"]):
        reproduce(write_benchmarks(tmp_path / names[0], names), tmp_path / "out")
    assert len(contest.entries(Store(tmp_path / "out").table())) == 2
    assert {"ex23.aig", "ex31.aig"} == {path.name for path in (tmp_path / "out" / "solutions").iterdir()}
    assert run(["status", str(tmp_path / "out"), "--json"]) == 0


def test_another_program_scores_the_solutions_the_same(ran):
    pytest.importorskip("aigverse")
    from aigverse.algorithms import simulate_sequential
    from aigverse.io import read_aiger_into_sequential_aig

    data, out = ran
    for name, row in rows(out).items():
        lines = [line.split() for line in (data / f"{name}.test.pla").read_text().splitlines() if line[0] in "01"]
        X = np.array([[int(cell) for cell in inputs] for inputs, _ in lines], dtype=bool)
        y = np.array([label == "1" for _, label in lines])
        circuit = read_aiger_into_sequential_aig(out / "solutions" / f"{name}.aig")
        answers = np.array(simulate_sequential(circuit, len(X), X.tolist()).outputs, dtype=bool).reshape(-1)
        assert (answers == y).mean() == row["test_accuracy_mean"]
        assert circuit.num_gates <= row["and_gates"]  # it merges gates that are equal


def test_repeated_rows_are_learned_from_once_and_scored_as_often_as_they_are_there(tmp_path):
    rng = np.random.default_rng(4)
    drawn = [rng.random((80, 20)) < 0.5 for _ in contest.SETS]
    for kind, X in zip(contest.SETS, drawn, strict=True):
        X = np.concatenate([X, X[:30]])
        write_pla(tmp_path / f"ex45.{kind}.pla", X, FUNCTIONS["ex45"](X))
    (task,) = contest.contest(tmp_path).tasks()
    assert task.n_train == 160
    X, Y = contest._problem(task.design.problem).rows(np.arange(270))
    wanted = np.concatenate([drawn[0], drawn[1], drawn[2], drawn[2][:30]])
    assert np.array_equal(X, wanted)
    assert np.array_equal(Y[:, 0], FUNCTIONS["ex45"](wanted))


def test_the_page_has_every_benchmark_beside_published_figures(ran):
    page = (ran[1] / "contest.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert all(name in page for name in FUNCTIONS)
    best = contest.published()[31]["best"]
    assert f"{100 * best:.2f}" in page
    assert "worse on 1: ex45" in page or "worse on 0" in page


def test_wins_and_losses_are_counted_as_they_are():
    def entry(number, accuracy):
        return contest.Entry(f"ex{number:02d}", number, accuracy, 10, 1.0, contest.published()[number], b"")

    best = {number: contest.published()[number]["best"] for number in (1, 3, 11)}
    said = contest.standing([entry(1, best[1]), entry(3, best[3] - 0.02), entry(11, best[11] + 0.01)])[-1]
    assert "better on 1, within 0.1 points on 1, worse on 1: ex03 (-2.0 points)" in said


def test_groups_keep_apart_what_settings_were_chosen_on():
    known = contest.published()[1]

    def entry(number):
        return contest.Entry(f"ex{number:02d}", number, 0.9, 10, 1.0, known, b"")

    lines = contest.groups([entry(number) for number in (1, 2, 3, 4, 5)])
    assert [(line.name.partition(",")[0], line.size) for line in lines] == [("all", 5), ("odd", 2), ("odd", 1), ("even", 2)]


def test_the_curve_counts_larger_solutions_as_a_guess():
    def entry(number, gates):
        return contest.Entry(f"ex{number:02d}", number, 1.0, gates, 1.0, contest.published()[number], b"")

    limits, means = contest.curve([entry(1, 10), entry(3, 20)], contest.NAME)
    assert (limits, means) == ([10, 20, contest.MOST_GATES], [0.75, 1.0, 1.0])


def test_published_figures_are_shares_of_odd_benchmarks():
    known = contest.published()
    assert sorted(known) == list(range(1, 90, 2))
    assert all(0.45 < figures["best"] <= 1.0 and not math.isnan(figures["ensemble gates"]) for figures in known.values())


def test_longest_first(ran):
    tasks = contest.ready(contest.contest(ran[0]).tasks(), Store(ran[1]))
    assert [task.design.problem[:4] for task in tasks] == ["ex30", "ex45", "ex31", "ex23"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "contest"], "--data FOLDER"),
        (["reproduce", "fig1", "--data", "."], "no other study"),
        (["reproduce", "contest", "--data", "none"], "there are no benchmarks in none"),
    ],
)
def test_what_is_missing_is_said(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_benchmark_without_rows_to_test_on_is_refused(tmp_path, capsys):
    data = write_benchmarks(tmp_path / "data", ["ex23"])
    (data / "ex23.test.pla").unlink()
    assert reproduce(data, tmp_path / "out") == 2
    assert "no ex23.test.pla" in capsys.readouterr().err


def test_a_benchmark_goes_on_from_what_a_killed_worker_had_done(ran, tmp_path, monkeypatch):
    from gradus_paper import execution

    out = ran[1]
    study = contest.contest(write_benchmarks(tmp_path / "data", ["ex45"]))
    tasks = contest.ready(study.tasks(), Store(tmp_path / "none"))
    folder = contest.folder_of_begun(tmp_path / "out")
    learn, given = execution.learn_whole, []

    class Killed(BaseException):
        pass

    def killed(*examples, **settings):
        given.append(settings["checkpoint"])
        pieces = []

        def stop(progress):
            pieces.append(progress)
            if len(pieces) > 3 and given[0].exists():
                raise Killed

        return learn(*examples, **settings, callback=stop)

    monkeypatch.setattr(execution, "learn_whole", killed)
    with pytest.raises(Killed):
        execution.run_batch(execution.TaskBatch(tuple(tasks), folder=folder))
    assert given[0].exists()
    monkeypatch.setattr(execution, "learn_whole", learn)
    (row,) = execution.run_batch(execution.TaskBatch(tuple(tasks), folder=folder))
    assert row.circuit == rows(out)["ex45"]["circuit"]
    assert not list((tmp_path / "out" / contest.BEGUN).iterdir())
