"""The verbs reproduce, status and report, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from experiment_helpers import Here
from gradus._cli.main import run
from gradus_paper import execution, grid, quick
from gradus_paper.cli import reproduce
from gradus_paper.execution import run_task
from gradus_paper.store import Store
from gradus_paper.study import load_study

STUDY = """
from gradus_paper import Study, grid

study = Study("Small", [grid("cpar3", [4, 6], 3, loss=["l1", "lgh"])])
"""
LONG = """
from gradus_paper import Study, grid

study = Study("Long", [grid("cpar7", [100], 5000, gates_per_target=5, max_iter=300_000, n_restarts=0)])
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "small.py"
    path.write_text(STUDY)
    return path


def test_a_quick_run_says_at_once_how_long_it_takes_and_shows_a_first_page_on_the_way(tmp_path, capsys, monkeypatch):
    small = replace(load_study("quick", samples=3), parts=load_study("quick", samples=3).parts[:1])
    small = replace(small, parts=(replace(small.parts[0], blocks=[grid("cpar7", [24], 3, loss=["l1", "lgh"], history=1000)]),))
    monkeypatch.setattr("gradus_paper.cli.reproduce.load_study", lambda *_, **__: small)
    monkeypatch.setattr("gradus_paper.runs.FLUSH_SECONDS", 0.0)
    monkeypatch.setattr("gradus_paper.engines.BATCH_SECONDS", 0.0)
    pages = []
    write = reproduce.write_report
    monkeypatch.setattr(reproduce, "write_report", lambda folder: pages.append(len(Store(folder))) or write(folder))
    assert run(["reproduce", "quick", "-o", str(tmp_path / "q"), "--n-jobs", "1"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"tasks, about {quick.CPU_SECONDS:.0f} s left: 0 of 6"
    assert any("a first adder and curve are in" in line for line in said)
    assert 4 <= pages[0] < 6
    assert pages[1:] == [6]


def test_reproduce_runs_reports_and_resumes(study, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(["reproduce", str(study), "-o", str(out), "--n-jobs", "1", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["tasks"], first["done"], first["failed"]) == (12, 12, 0)
    page = (out / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert run(["reproduce", str(study), "-o", str(out), "--no-report"]) == 0
    assert "12 of 12 tasks done, 0 of them now" in capsys.readouterr().out
    assert run(["status", str(out), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["experiments"][0]["left"] == 0
    assert status["damaged"] == []
    assert run(["status", str(out)]) == 0
    assert "small" in capsys.readouterr().out
    assert run(["report", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"] == ["accuracy"]
    assert (out / "figures" / "accuracy.png").stat().st_size > 1000
    assert run(["report", str(out)]) == 0
    assert capsys.readouterr().out.rstrip().endswith(f"and 1 figure in {out / 'figures'}")


def test_the_exit_code_says_that_tasks_failed_and_the_same_command_runs_them_again(study, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("gradus_paper.engines.choose_engine", lambda **_: Here())
    monkeypatch.setattr(execution, "run_task", lambda task: run_task(task) if task.sample else 1 / 0)
    command = ["reproduce", str(study), "-o", str(tmp_path / "out"), "--no-report"]
    for done_now in (8, 0):
        assert run(command) == 1
        said = capsys.readouterr().out
        assert f"8 of 12 tasks done, {done_now} of them now" in said
        assert "4 tasks failed" in said
    assert run(["status", str(tmp_path / "out")]) == 0
    assert "a task failed" in capsys.readouterr().out


def test_shares_run_apart_and_are_put_together(study, tmp_path, capsys):
    command = ["reproduce", str(study), "--n-jobs", "1", "--no-report"]
    for share in ("1", "2"):
        assert run([*command, "-o", str(tmp_path / share), "--share", f"{share}/2"]) == 0
    capsys.readouterr()
    out = tmp_path / "out"
    absorbed = [word for share in ("1", "2") for word in ("--absorb", str(tmp_path / share))]
    assert run([*command, "-o", str(out), *absorbed]) == 0
    assert "12 of 12 tasks done, 12 of them now" in capsys.readouterr().out
    for share in ("1", "2"):  # each adds a file of what was not published before
        assert run(["report", str(out if share == "2" else tmp_path / "1"), "--archive", str(tmp_path / "archive")]) == 0
    assert len(list((tmp_path / "archive").glob("results*.parquet"))) == 2
    capsys.readouterr()
    assert run([*command, "-o", str(tmp_path / "again"), "--absorb", str(tmp_path / "archive")]) == 0
    assert "12 of 12 tasks done, 12 of them now" in capsys.readouterr().out
    assert run(["reproduce", str(study), "-o", str(tmp_path / "other"), "--absorb", str(study)]) == 2
    assert "is neither a folder of results nor a published .parquet file" in capsys.readouterr().err


def test_a_damaged_part_is_named_to_the_user(study, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(["reproduce", str(study), "-o", str(out), "--n-jobs", "1", "--no-report"]) == 0
    part = next((out / "parts").glob("part-*"))
    part.write_bytes(part.read_bytes()[:-9])
    assert run(["status", str(out)]) == 0
    assert part.name in capsys.readouterr().err
    assert run(["reproduce", str(study), "-o", str(out), "--n-jobs", "1", "--no-report"]) == 0
    said = capsys.readouterr()
    assert f"{part.name} is damaged" in said.err
    assert "12 of 12 tasks done, 12 of them now" in said.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "fig99"], "there is no study 'fig99'"),
        (["reproduce", "fig3", "--share", "3/2"], "--share is '3/2'"),
        (["reproduce", "fig3", "--samples", "0"], "samples is 0"),
        (["reproduce", "fig3", "--n-jobs", "2", "--dask", "tcp://a:1"], "not both"),
        (["status", "nowhere"], "there are no results in nowhere"),
        (["report", "nowhere"], "there are no results in nowhere"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_says_how_to_continue_and_keeps_what_is_done(tmp_path, number):
    (tmp_path / "long.py").write_text(LONG)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "gradus", "reproduce", str(tmp_path / "long.py"), "-o", str(out), "--n-jobs", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 120
    while not len(Store(out)) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, number)  # as a terminal does it: the workers get the signal too
    begin = time.monotonic()
    _, error = process.communicate(timeout=120)
    assert time.monotonic() - begin < 3
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert "tasks are done and kept; run the same command again to continue" in error
    assert "Traceback" not in error
    assert len(Store(out)) > 0


def test_mistakes_in_a_call_are_found_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "mine.py"
    own.write_text(STUDY.replace('lgh"])]', 'lgh"])], figures=["fig9"]'))
    for words in (
        ["reproduce", str(own), "-o", "out"],
        ["reproduce", "fig1", "--samples", "1", "-o", "out", "--absorb", "nope"],
        ["reproduce", "fig1", "--samples", "1", "-o", "out", "--dask", "nonsense"],
    ):
        assert run(words) == 2
        assert not (tmp_path / "out").exists()
