"""`infer` as a whole: what goes in, what comes out, and when it ends."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from gradus.errors import DataError, FormatError, SettingsError
from gradus.genes import ECOLI_SERIES, YEAST_SERIES, Series, infer
from gradus.genes._learning import series_folds
from gradus.genes._report import as_document, graph_of, rules_page, table_csv
from gradus.genes._results import TABLES

QUICK = {"leave_out": False, "attractors": False}


@pytest.fixture(scope="module")
def yeast():
    return infer(YEAST_SERIES)


def page(found, title="t", files=None):
    return rules_page(found, graph=graph_of(found.model), hierarchy=None, files=files or {}, title=title)


def oscillators(n_series=4, length=8, seed=0):
    """a follows not b, b follows a, c keeps its value."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(n_series):
        states = [rng.random(3) < 0.5]
        for _ in range(length):
            a, b, c = states[-1]
            states.append(np.array([not b, a, c]))
        made.append(Series(["a", "b", "c"], np.array(states, float), name=f"s{k}"))
    return made


def test_every_rule_of_clean_data_fits_every_transition(yeast):
    states = YEAST_SERIES.states.astype(bool)
    assert np.array_equal(yeast.network.predict(states[:-1]), states[1:])
    assert yeast.network.input_names == yeast.network.output_names == YEAST_SERIES.genes
    assert (yeast.rules["errors"] == 0).all()


def test_the_hierarchies_of_the_paper_are_on_the_page(yeast):
    together = [{yeast.model.genes[k] for k in nest.targets} for nest in yeast.hierarchies if len(nest.targets) > 1]
    assert together == [{"SK", "Ste9", "Rum1"}, {"PP", "Cdc2/Cdc13", "Cdc2/Cdc13*"}]
    assert yeast.exact_sets
    assert "Cdc2/Cdc13*" in page(yeast).split('id="hierarchies"')[1]


def test_tables_are_data_frames(yeast):
    for name in TABLES:
        assert tuple(getattr(yeast, name).columns) == TABLES[name].columns
    edges = yeast.edges
    assert edges["probability"].between(0.01, 1.001).all()
    assert set(edges["sign"]) == {"activating", "inhibiting"}
    assert edges["self"].is_monotonic_increasing
    assert set(yeast.knockouts["held_at"]) == {0, 1}
    assert yeast.genes.set_index("gene").loc["PP", "learned"]


def test_the_same_data_give_the_same_result(yeast):
    again = infer(YEAST_SERIES)
    assert as_document(again) == as_document(yeast)
    assert again.network == yeast.network


def test_series_frames_and_files_give_the_same_rules(tmp_path):
    frame = pd.DataFrame(ECOLI_SERIES.states.astype(int), columns=ECOLI_SERIES.genes)
    frame.to_csv(tmp_path / "ecoli.csv", index=False)

    def rules(source, **settings):
        return table_csv(TABLES["rules"], infer(source, **settings, **QUICK))

    expected = rules(ECOLI_SERIES)
    for source in ([ECOLI_SERIES], frame, tmp_path / "ecoli.csv"):
        assert rules(source) == expected
    assert rules(2 * frame, binarize="kmeans") == expected
    assert rules(2 * frame, binarize=1.5) == expected


def test_measured_levels_rank_edges_and_the_report_says_so():
    rng = np.random.default_rng(1)
    levels = [
        Series(["a", "b", "c"], run.states[:, [0, 1, 1]] + rng.normal(0, 0.2, (len(run.states), 3))) for run in oscillators(6)
    ]
    found = infer(levels, binarize="kmeans", **QUICK)
    assert any("measured levels" in sentence for sentence in found.data)
    assert not any("measured levels" in sentence for sentence in infer(oscillators(6), binarize=0.5, **QUICK).data)


def test_contradictions_and_missing_values_are_evidence_and_never_an_error():
    noisy = [single.states.copy() for single in oscillators(6)]
    noisy[0][3, 0] = 1 - noisy[0][3, 0]
    noisy[1][2, 1] = np.nan
    found = infer([Series(["a", "b", "c"], states, name=f"s{k}") for k, states in enumerate(noisy)], **QUICK)
    assert found.rules["rule"].tolist() == ["!b", "a", "c"]
    assert [(row.series, row.state, row.gene) for row in found.suspects.itertuples()] == [("s0", 4, "a")]
    assert any("missing" in sentence for sentence in found.data)


def test_held_genes_have_no_rule_where_they_are_held():
    wild = oscillators(3)
    knocked = Series(["a", "b", "c"], [[0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], name="ko", held={"a": 0})
    found = infer([*wild, knocked], **QUICK)
    assert found.rules["rule"].tolist() == ["!b", "a", "c"]
    everywhere = infer(wild, held={"c": 1}, **QUICK)
    assert everywhere.rules["target"].tolist() == ["a", "b"]
    assert "c" not in everywhere.network.output_names
    with pytest.raises(DataError, match="hold 'x'"):
        infer(wild, held={"x": 1}, **QUICK)


def test_held_genes_replicates_and_times_come_from_columns(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text(
        "series,replicate,time,held,a,b\n"
        "w,1,0,,0,0\nw,1,1,,1,0\nw,1,2,,1,1\nw,1,9,,0,1\n"
        "w,2,0,,0,0\nw,2,1,,1,0\nw,2,2,,1,1\nw,2,3,,0,1\n"
        "k,1,0,b=0,0,0\nk,1,1,b=0,1,0\nk,1,2,b=0,1,0\n"
    )
    found = infer(path, **QUICK)
    assert [dict(single.held) for single in found.series] == [{}, {}, {"b": 0}]
    assert len({single.experiment for single in found.series}) == 2
    assert any("1 step longer than usual" in sentence for sentence in found.data)
    assert any("of 2 experiments" in sentence for sentence in found.data)
    path.write_text("held,a,b\nb=2,0,0\nb=2,1,0\n")
    with pytest.raises(FormatError, match="GENE=0"):
        infer(path)
    path.write_text("held,a,b\nb=0,0,0\nb=1,1,0\n")
    with pytest.raises(FormatError, match="same in all"):
        infer(path)


def test_steady_states_are_followed_by_themselves():
    run = Series(["a", "b"], [[0, 0], [0, 1]])
    steady = pd.DataFrame({"a": [1, 0], "b": [1, 0]})
    assert infer(run, **QUICK).model.targets[0].total == 1
    found = infer(run, steady=steady, **QUICK)
    assert found.model.targets[0].total == 3
    assert "2 steady states" in " ".join(found.data)


def test_a_prior_moves_edges_and_what_is_not_allowed_is_reported():
    free = infer(ECOLI_SERIES, **QUICK).model
    believed = infer(ECOLI_SERIES, prior=[("G2", "G9", 0.99, 1)], **QUICK).model
    place = (ECOLI_SERIES.genes.index("G9"), ECOLI_SERIES.genes.index("G2"))
    assert believed.edge_probabilities[place] > free.edge_probabilities[place] + 0.2
    runs = oscillators(6)
    kept = infer(runs, forbid=[("b", "a")], allow=pd.DataFrame({"regulator": ["c"], "target": ["b"]}), **QUICK)
    assert {gene.gene for gene in kept.model.unexplained} == {"a", "b"}
    assert set(kept.edges.query("target == 'b'")["regulator"]) == {"c"}
    assert "What the allowed regulators cannot explain" in page(kept)
    with pytest.raises(DataError, match="names 'nobody', which is not one of the genes"):
        infer(runs, allow=[("nobody", "a")])


def test_whole_series_are_left_out_with_their_replicates():
    runs = oscillators(6)
    found = infer(runs, attractors=False)
    assert found.scores.whole_series
    assert found.scores.parts == 6
    assert found.scores.overall.one_step == 1.0
    assert set(found.genes["learned"]) == {True}
    series = [Series(["a", "b", "c"], runs[k].states, name=name) for k, name in enumerate(["x", "x", "y"])]
    folds, whole = series_folds(series)
    assert whole
    assert [(len(fold.left_out), len(fold.rest)) for fold in folds] == [(2, 1), (1, 2)]


def test_a_single_series_is_left_out_block_by_block(yeast):
    assert not yeast.scores.whole_series
    assert yeast.scores.parts == 9
    assert yeast.scores.overall.scored == 90
    assert "There is only one series" in page(yeast)


def test_genes_that_do_not_beat_the_trivial_guesses_are_said_to_be_not_learned():
    rng = np.random.default_rng(0)
    coin = [Series(["a", "b"], (rng.random((20, 2)) < [0.5, 0.9]).astype(float), name=f"s{k}") for k in range(4)]
    found = infer(coin, attractors=False)
    assert set(found.scores.not_learned) & {"a", "b"}
    assert "not learned" in page(found)


def test_names_cannot_break_the_page_or_the_tables():
    name = '<script>alert("x")</script>,"\n'
    found = infer(Series([name, "b"], [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]))
    shown = page(found, title=name, files={name: name})
    assert shown.count("<script") == 1
    assert "&lt;script&gt;" in shown
    assert table_csv(TABLES["rules"], found).startswith("target,rule,")


@pytest.mark.parametrize("settings_", [{"noise": "loud"}, {"noise": 0.5}, {"time_limit": True}, {"binarize": "median"}])
def test_settings_are_checked(settings_):
    with pytest.raises(SettingsError):
        infer(YEAST_SERIES, **settings_)


def test_a_series_of_one_state_is_an_error_that_says_so():
    with pytest.raises(DataError, match="at least two"):
        infer(Series(["a"], [[0]]))


def test_a_callback_that_returns_true_keeps_the_rules_so_far():
    stages = set()

    def watch(progress):
        stages.add(progress.stage)
        return "left out" in stages

    found = infer(YEAST_SERIES, callback=watch)
    assert found.stopped == "callback"
    assert len(found.rules) == 10
    assert "ended early" in page(found)


def test_a_time_limit_holds_in_every_step(yeast):
    rng = np.random.default_rng(1)
    runs = [Series([f"g{i}" for i in range(30)], rng.integers(0, 2, (40, 30)).astype(float), name=f"s{k}") for k in range(4)]
    for limit in (0.0, 0.4, 1.5):
        begin = time.monotonic()
        found = infer(runs, time_limit=limit)
        assert found.stopped == "time_limit"
        assert time.monotonic() - begin < limit + 3  # half a second on a machine with nothing else to do
        assert len(found.rules) == 30


def test_steady_series_and_measured_levels_may_be_given_as_such():
    run, steady = Series(["a", "b"], [[0, 0], [0, 1]]), Series(["a", "b"], [[1, 1], [0, 0]], steady=True)
    apart, together = infer(run, steady=steady, **QUICK), infer([run, steady], **QUICK)
    assert as_document(apart) == as_document(together)


def test_columns_of_later_series_may_be_in_another_order():
    one, *others = oscillators(3)
    turned = [Series(["c", "a", "b"], each.states[:, [2, 0, 1]], name=each.name, held={"c": 1}) for each in others]
    straight = [Series(one.genes, each.states, name=each.name, held={"c": 1}) for each in others]
    assert as_document(infer([one, *turned], **QUICK)) == as_document(infer([one, *straight], **QUICK))
