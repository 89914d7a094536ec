"""`gradus infer`: from a series to a folder of results, and its page in a browser."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import time

import numpy as np
import pytest
from cli_files import write_csv, write_series

from browser import needs_browser, opened
from gradus import Network, read_network
from gradus._cli.main import run
from gradus.genes import ECOLI_SERIES, YEAST_SERIES
from gradus.genes._report import FILES

ENOUGH_SECONDS = 60


def column(path, name):
    with path.open(newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def yeast_rules(tmp_path_factory):
    """The folder in which rules.bnet of the yeast series was asked for, what was printed, and the CPU time it took."""
    folder = tmp_path_factory.mktemp("yeast")
    write_series(folder / "yeast.csv", YEAST_SERIES)
    begin, out = time.process_time(), io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(["infer", str(folder / "yeast.csv"), "-o", str(folder / "rules.bnet")]) == 0
    return folder, out.getvalue(), time.process_time() - begin


def test_the_yeast_series_gives_every_file_in_time(yeast_rules):
    made_in, printed, cpu_seconds = yeast_rules
    assert cpu_seconds < ENOUGH_SECONDS
    folder = made_in / "rules"
    assert {path.name for path in folder.iterdir() if path.is_file()} == set(FILES) - {"experiments.csv"}
    assert (made_in / "rules.bnet").read_text() == (folder / "rules.bnet").read_text()
    for heading in ("one step", "usual value", "stays as it is", "free run", "not learned"):
        assert heading in printed
    assert re.search(
        "\nSK.*: start\n", printed
    )  # rules have lines of their own: in a table they would be a few characters wide
    summary = json.loads((folder / "summary.json").read_text())
    together = [set(nest["targets"]) for nest in summary["hierarchies"] if len(nest["targets"]) > 1]
    assert together == [{"SK", "Ste9", "Rum1"}, {"PP", "Cdc2/Cdc13", "Cdc2/Cdc13*"}]
    assert summary["overall"]["scored"] == 90
    rules = dict(zip(column(folder / "rules.csv", "target"), column(folder / "rules.csv", "rule"), strict=True))
    assert rules["SK"] == "start"
    assert set(column(folder / "edges.csv", "sign")) == {"activating", "inhibiting"}
    assert column(folder / "sets.csv", "regulators").count("Slp1") >= 1
    assert len(column(folder / "knockouts.csv", "gene")) == 20


def test_the_written_models_compute_the_rules(here, ecoli, capsys):
    import biodivine_aeon

    assert run(["infer", "ecoli.csv", "-o", "out"]) == 0
    network = Network.load(here / "out" / "model.json")
    states = ECOLI_SERIES.states.astype(bool)
    assert np.array_equal(network.predict(states[:-1]), states[1:])
    for name in ("rules.bnet", "rules.sbml"):
        model = biodivine_aeon.BooleanNetwork.from_file(str(here / "out" / name))
        assert sorted(model.variable_names()) == sorted(network.input_names)
        context = biodivine_aeon.BddVariableSet(list(network.input_names))
        for k, gene in enumerate(network.output_names):
            rule = context.eval_expression(model.get_update_function(gene).as_expression())
            assert [rule(state) for state in states.tolist()] == network.predict(states)[:, k].tolist()


def test_json_is_the_summary_and_names_the_files(here, yeast, capsys):
    assert run(["infer", "yeast.csv", "-o", "out", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["clean"] is True
    assert document["overall"]["scored"] == 90
    assert [path.split("/")[-1] for path in document["files"]] == [name for name in FILES if name != "experiments.csv"]


def test_prior_knowledge_is_kept_and_what_it_cannot_explain_is_reported(here, yeast, capsys):
    write_csv(here / "allow.csv", ["regulator", "target"], [["PP", "SK"]])
    write_csv(here / "forbid.csv", ["regulator", "target"], [["Wee1/Mik1", "Cdc2/Cdc13*"]])
    words = ["infer", "yeast.csv", "-o", "out"]
    assert run([*words, "--allow", "allow.csv", "--forbid", "forbid.csv"]) == 0
    with (here / "out" / "edges.csv").open(newline="") as file:
        edges = {(row["regulator"], row["target"]) for row in csv.DictReader(file)}
    assert ("Wee1/Mik1", "Cdc2/Cdc13*") not in edges
    assert {regulator for regulator, target in edges if target == "SK"} == {"PP"}
    assert "SK: the allowed regulators explain it worse than start" in capsys.readouterr().out
    assert run([*words, "--prior", "out/edges.csv"]) == 0
    assert run([*words, "--prior", "out/rules.sbml"]) == 0


def test_experiments_are_advised_on_every_door(here, yeast, capsys):
    words = ["infer", "yeast.csv", "-o", "out", "--advise", "3", "--advise-hold", "SK,PP"]
    assert run([*words, "--json"]) == 0
    experiments = json.loads(capsys.readouterr().out)["experiments"]
    assert len(experiments) == 3
    assert {gene for chosen in experiments for gene in chosen["held"]} <= {"SK", "PP"}
    found = column(here / "out" / "experiments.csv", "on")
    assert [set(text.split()) for text in found] == [{g for g, v in e["state"].items() if v} for e in experiments]
    assert "What to measure next" in (here / "out" / "report.html").read_text()
    rows = [dict(zip(YEAST_SERIES.genes, row, strict=True)) for row in YEAST_SERIES.states[:2].astype(int).tolist()]
    write_csv(here / "states.csv", YEAST_SERIES.genes, [list(row.values()) for row in rows])
    assert run([*words[:-1], "none", "--advise-states", "states.csv"]) == 0
    assert "experiment 2 (" in capsys.readouterr().out
    summary = json.loads((here / "out" / "summary.json").read_text())
    assert all(chosen["state"] in rows and not chosen["held"] for chosen in summary["experiments"])


def test_the_signs_of_rules_are_comments_of_the_model(here, yeast, capsys):
    assert run(["infer", "yeast.csv", "-o", "rules.bnet"]) == 0
    text = (here / "rules.bnet").read_text()
    assert "\n# start -> SK\n" in text
    assert "\n# Cdc2_Cdc13 -| Wee1_Mik1\n" in text
    assert set(read_network(here / "rules.bnet").output_names) == set(YEAST_SERIES.genes)


def test_series_come_in_every_layout(here, capsys):
    states = [[0.1, 5.0], [0.9, 5.1], [0.8, 9.0], [0.2, 9.5], [0.1, 5.0]]
    write_csv(here / "numbers.csv", ["a", "b"], states)
    write_csv(here / "genes.csv", ["gene", "t0", "t1", "t2", "t3", "t4"], [["a", 0, 1, 1, 0, 0], ["b", 0, 0, 1, 1, 0]])
    rows = [[s, t, a, b] for s in ("one", "two") for t, (a, b) in enumerate([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)])]
    write_csv(here / "several.csv", ["series", "time", "a", "b"], rows)
    texts = []
    for words in (["numbers.csv", "--binarize", "kmeans"], ["genes.csv"], ["several.csv"]):
        assert run(["infer", *words, "-o", "out"]) == 0
        texts.append(re.sub("#.*\n", "", (here / "out" / "rules.bnet").read_text()))
    assert texts == ["targets, factors\na, !b\nb, a\n"] * 3
    assert "split in two clusters" in capsys.readouterr().out


def test_genes_are_held_in_one_file_or_in_all(here, capsys):
    write_csv(here / "wild.csv", ["a", "b"], [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [1, 0]])
    write_csv(here / "ko.csv", ["a", "b"], [[1, 0], [1, 0], [1, 0]])
    write_csv(here / "steady.csv", ["a", "b"], [[1, 0]])
    words = ["infer", "wild.csv", "ko.csv", "-o", "out"]
    assert run([*words, "--held", "ko.csv:b=0"]) == 0
    assert "Genes that were held in some series, and have no rule there: b." in capsys.readouterr().out
    assert column(here / "out" / "rules.csv", "rule") == ["!b", "a"]
    assert run([*words, "--held", "b=0", "--steady", "steady.csv"]) == 0
    assert column(here / "out" / "rules.csv", "target") == ["a"]
    assert "1 steady state" in capsys.readouterr().out


def test_bad_series_and_settings_are_refused(refused, here, yeast):
    write_csv(here / "numbers.csv", ["a", "b"], [[0, 0.5], [1, 1]])
    write_csv(here / "empty.csv", ["a", "b"], [])
    write_csv(here / "edges.csv", ["regulator", "target"], [["nobody", "SK"]])
    (here / "file").write_text("")
    good = ("infer", "yeast.csv", "-o", "out")
    assert "missing.csv" in refused("infer", "missing.csv", "-o", "out")
    assert "Missing option '--output'" in refused("infer", "yeast.csv")
    assert "'Cdc99' cannot be held" in refused(*good, "--advise", "1", "--advise-hold", "Cdc99")
    assert "other genes" in refused(*good, "--advise", "1", "--advise-states", "numbers.csv")
    assert "--binarize kmeans" in refused("infer", "numbers.csv", "-o", "out")
    assert "empty.csv holds no state" in refused("infer", "empty.csv", "-o", "out")
    assert "nobody" in refused(*good, "--allow", "edges.csv")
    assert "nobody" in refused(*good, "--prior", "edges.csv")
    assert "missing.csv" in refused(*good, "--forbid", "missing.csv")
    assert "cannot be written" in refused("infer", "yeast.csv", "-o", "file/out")
    assert "--binarize is 'half'" in refused(*good, "--binarize", "half")
    assert "--noise is 'much'" in refused(*good, "--noise", "much")
    assert "noise is 0.7" in refused(*good, "--noise", "0.7")
    assert "GENE=0" in refused(*good, "--held", "SK")
    assert "not one of the files" in refused(*good, "--held", "other.csv:SK=0")


@needs_browser
def test_the_report_opens_in_a_browser_without_an_error(yeast_rules):
    page = yeast_rules[0] / "rules" / "report.html"
    document, said = opened(page, "--enable-logging=stderr", "--v=0")
    assert "CONSOLE" not in said
    text = re.sub("<[^>]*>", " ", document)
    for gene in YEAST_SERIES.genes:
        assert gene in text
    assert "How well are left-out data predicted?" in text
    assert document.count("<svg") == 2
    # Links lead to headings of the page and to files beside it; nothing is loaded.
    linked = re.findall(r'href="([^"]+)"', page.read_text())
    files = {path.name for path in page.parent.iterdir()}
    headings = {f"#{name}" for name in re.findall(r'id="([^"]+)"', page.read_text())}
    assert [address for address in linked if address not in files | headings and not address.startswith("data:")] == []
    loaded = re.findall(r'(?:src=|url\()\s*["\']?([^"\')> ]+)', page.read_text())
    assert [address for address in loaded if not address.startswith(("data:", "#"))] == []
