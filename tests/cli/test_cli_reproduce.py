"""`gradus reproduce`, `status` and `report` from the outside."""

from __future__ import annotations

import json


def test_an_experiment_is_run_looked_at_and_reported(gradus, tmp_path):
    first = gradus("reproduce", "fig1", "--samples", "1", "-o", "one", "--n-jobs", "1", "--no-report")
    assert "1 of 1 task done, 1 of them now" in first.stdout
    again = gradus("reproduce", "fig1", "--samples", "1", "-o", "one", "--n-jobs", "1", "--no-report")
    assert "1 of 1 task done, 0 of them now" in again.stdout
    status = json.loads(gradus("status", "one", "--json").stdout)
    assert status["damaged"] == []
    assert gradus("report", "one").stdout.rstrip().endswith("and 1 figure in one/figures")
    page = (tmp_path / "one" / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert (tmp_path / "one" / "figures" / "fig1.png").stat().st_size > 1000
