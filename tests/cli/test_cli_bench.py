"""`gradus bench` from the outside."""

from __future__ import annotations

import json

from gradus._benchmarks.cases import find_cases


def test_bench_measures_the_search_the_plain_one_and_names_the_published(gradus):
    done = gradus("bench", "cpar7/64", "--seconds", "0.2", "--json")
    rows = json.loads(done.stdout)["results"]
    assert [(row["case"], row["loss"]) for row in rows] == [("cpar7/64", "l1"), ("cpar7/64", "lgh")]
    for row in rows:
        assert row["steps_per_second"] > 0
        assert row["reference_steps_per_second"] > 0
        assert row["published_steps_per_second"] == find_cases(["cpar7/64"])[0].published * 1e6


def test_an_unknown_case_or_backend_is_refused_in_one_sentence(gradus):
    for words in (["bench", "add6/81"], ["bench", "--backend", "tpu"]):
        done = gradus(*words, check=2)
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
