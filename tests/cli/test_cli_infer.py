"""`gradus infer`: from a series to a folder of results, and its page in a browser."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import time

import numpy as np
import pytest
from cli_files import write_csv

from gradus import Network
from gradus._cli.main import run
from gradus._inference.result_files import FILES
from gradus.problems import ECOLI_SERIES, YEAST_SERIES

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
ENOUGH_SECONDS = 60


def column(path, name):
    with path.open(newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


def test_the_yeast_series_gives_every_file_in_time(gradus, yeast, tmp_path):
    begin = time.monotonic()
    done = gradus("infer", "yeast.csv", "-o", "rules.bnet")
    assert time.monotonic() - begin < ENOUGH_SECONDS
    folder = tmp_path / "rules"
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert (tmp_path / "rules.bnet").read_text() == (folder / "rules.bnet").read_text()
    assert "stays as it is" in done.stdout
    assert "usual value" in done.stdout
    summary = json.loads((folder / "summary.json").read_text())
    together = [set(one["targets"]) for one in summary["hierarchies"] if len(one["targets"]) > 1]
    assert together == [{"SK", "Ste9", "Rum1"}, {"PP", "Cdc2/Cdc13", "Cdc2/Cdc13*"}]
    assert summary["leave_one_out"]["overall"]["scored"] == 80
    rules = dict(zip(column(folder / "rules.csv", "target"), column(folder / "rules.csv", "rule"), strict=True))
    assert rules["SK"] == "start"
    assert set(column(folder / "edges.csv", "sign")) <= {"activating", "inhibiting", "both", ""}
    assert column(folder / "regulators.csv", "regulators").count("Slp1") == 1


def test_the_written_models_compute_the_rules(here, ecoli, capsys):
    import biodivine_aeon

    assert run(["infer", "ecoli.csv", "-o", "out", "--n-networks", "5", "--no-leave-one-out"]) == 0
    network = Network.load(here / "out" / "model.json")
    states = ECOLI_SERIES.states.astype(bool)
    changing = [network.output_names.index(f"G{k}") for k in (1, 2, 3, 4, 5, 6, 8, 9)]
    assert np.array_equal(network.predict(states[:-1])[:, changing], states[1:][:, changing])
    for name in ("rules.bnet", "rules.sbml"):
        model = biodivine_aeon.BooleanNetwork.from_file(str(here / "out" / name))
        assert sorted(model.variable_names()) == sorted(network.input_names)
        context = biodivine_aeon.BddVariableSet(list(network.input_names))
        for k, gene in enumerate(network.output_names):
            rule = context.eval_expression(model.get_update_function(gene).as_expression())
            assert [rule(state) for state in states.tolist()] == network.predict(states)[:, k].tolist()


def test_json_is_the_summary_and_names_the_files(here, yeast, capsys):
    assert run(["infer", "yeast.csv", "-o", "out", "--n-networks", "3", "--no-leave-one-out", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["networks"] == 3
    assert document["constant_targets"] == {"start": 0}
    assert document["leave_one_out"] is None
    assert [path.split("/")[-1] for path in document["files"]] == list(FILES)


def test_prior_knowledge_is_kept(here, yeast, capsys):
    write_csv(here / "allow.csv", ["regulator", "target"], [["Slp1", "PP"]])
    write_csv(here / "forbid.csv", ["regulator", "target"], [["Wee1/Mik1", "Cdc2/Cdc13*"]])
    words = ["infer", "yeast.csv", "-o", "out", "--n-networks", "5", "--no-leave-one-out"]
    assert run([*words, "--allow", "allow.csv", "--forbid", "forbid.csv"]) == 0
    with (here / "out" / "edges.csv").open(newline="") as file:
        edges = {(row["regulator"], row["target"]) for row in csv.DictReader(file)}
    assert ("Wee1/Mik1", "Cdc2/Cdc13*") not in edges
    assert {regulator for regulator, target in edges if target == "PP"} == {"Slp1"}


def test_series_come_in_every_layout(here, capsys):
    states = [[0.1, 5.0], [0.9, 5.1], [0.8, 9.0], [0.2, 9.5], [0.1, 5.0]]
    write_csv(here / "numbers.csv", ["a", "b"], states)
    write_csv(here / "genes.csv", ["gene", "t0", "t1", "t2", "t3", "t4"], [["a", 0, 1, 1, 0, 0], ["b", 0, 0, 1, 1, 0]])
    rows = [[s, t, a, b] for s in ("one", "two") for t, (a, b) in enumerate([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)])]
    write_csv(here / "several.csv", ["series", "time", "a", "b"], rows)
    texts = []
    for words in (["numbers.csv", "--binarize", "kmeans"], ["genes.csv", "--layout", "genes"], ["several.csv"]):
        assert run(["infer", *words, "-o", "out", "--n-networks", "3"]) == 0
        texts.append(re.sub("#.*\n", "", (here / "out" / "rules.bnet").read_text()))
    assert texts == ["targets, factors\na, !b\nb, a\n"] * 3
    out = capsys.readouterr().out
    assert "split in two clusters" in out
    assert "repeats of an earlier one" in out


def test_bad_series_and_settings_are_refused(refused, here, yeast):
    write_csv(here / "numbers.csv", ["a", "b"], [[0, 0.5], [1, 1]])
    write_csv(here / "still.csv", ["a", "b"], [[0, 1], [0, 1]])
    write_csv(here / "empty.csv", ["a", "b"], [])
    write_csv(here / "torn.csv", ["a", "b"], [[0, 0], [1, 0], [0, 0], [0, 1]])
    write_csv(here / "edges.csv", ["regulator", "target"], [["nobody", "SK"]])
    write_csv(here / "narrow.csv", ["regulator", "target"], [["PP", "SK"]])
    (here / "file").write_text("")
    good = ("infer", "yeast.csv", "-o", "out")
    assert "missing.csv" in refused("infer", "missing.csv", "-o", "out")
    assert "Missing option '--output'" in refused("infer", "yeast.csv")
    assert "binarised" in refused("infer", "numbers.csv", "-o", "out")
    assert "nothing to learn" in refused("infer", "still.csv", "-o", "out")
    assert "empty.csv holds no state" in refused("infer", "empty.csv", "-o", "out")
    torn = refused("infer", "torn.csv", "-o", "out")
    assert "different successors" in torn
    assert "--on-conflict ignore" in torn
    assert "on_conflict" not in torn
    assert "nobody" in refused(*good, "--allow", "edges.csv")
    assert "missing.csv" in refused(*good, "--forbid", "missing.csv")
    assert "cannot be written" in refused("infer", "yeast.csv", "-o", "file/out")
    assert "--layout is 'rows'" in refused(*good, "--layout", "rows")
    assert "--binarize is 'half'" in refused(*good, "--binarize", "half")
    assert "--on-conflict is 'drop'" in refused(*good, "--on-conflict", "drop")
    assert "--regulators is 'few'" in refused(*good, "--regulators", "few")
    assert "n_networks is 0" in refused(*good, "--n-networks", "0")
    assert "the regulators allowed for 'SK'" in refused(*good, "--allow", "narrow.csv")


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to open the page with")
def test_the_report_opens_in_a_browser_without_an_error(here, yeast, capsys):
    assert run(["infer", "yeast.csv", "-o", "out", "--n-networks", "5"]) == 0
    page = here / "out" / "report.html"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    options += ["--disable-component-update", "--disable-sync", f"--user-data-dir={here / 'profile'}"]
    done = subprocess.run(
        [BROWSER, *options, "--enable-logging=stderr", "--v=0", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    text = re.sub("<[^>]*>", " ", done.stdout)
    for gene in YEAST_SERIES.genes:
        assert gene in text
    assert "How well are unseen transitions predicted?" in text
    assert done.stdout.count("<svg") == 1
    loaded = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\')> ]+)', page.read_text())
    assert [address for address in loaded if not address.startswith("data:")] == []
