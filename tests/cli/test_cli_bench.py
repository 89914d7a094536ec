"""`gradus bench` from the outside."""

from __future__ import annotations

import json


def test_bench_reports_steps_a_second_and_ratios(gradus):
    done = gradus("bench", "cpar7/64", "--seconds", "0.1", "--json")
    rows = json.loads(done.stdout)["results"]
    assert [(row["case"], row["loss"]) for row in rows] == [("cpar7/64", "l1"), ("cpar7/64", "lgh")]
    for row in rows:
        assert row["steps_per_second"] > 0
        assert row["ratio_to_published"] == row["steps_per_second"] / row["published_steps_per_second"]


def test_an_unknown_case_or_backend_is_refused_in_one_sentence(gradus):
    for words in (["bench", "add6/81"], ["bench", "--backend", "tpu"]):
        done = gradus(*words, check=2)
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
