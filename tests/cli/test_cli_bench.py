"""`gradus bench`."""

from __future__ import annotations

import json

from gradus._cli.bench import find_cases
from gradus._cli.main import run


def test_bench_measures_the_search_the_plain_one_and_names_the_published(capsys):
    assert run(["bench", "cpar7/64", "--seconds", "0.2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [(row["case"], row["loss"]) for row in rows] == [("cpar7/64", "l1"), ("cpar7/64", "lgh")]
    for row in rows:
        assert row["steps_per_second"] > 0
        assert row["reference_steps_per_second"] > 0
        assert row["published_steps_per_second"] == find_cases(["cpar7/64"])[0].published * 1e6


def test_an_unknown_case_or_backend_is_refused_in_one_sentence(refused):
    assert "add6/81" in refused("bench", "add6/81")
    assert "tpu" in refused("bench", "--backend", "tpu")
