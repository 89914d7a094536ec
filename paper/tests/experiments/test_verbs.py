"""The verbs reproduce, status and report, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from experiment_helpers import in_threads, on_cpu
from gradus._cli.main import run
from gradus_paper import execution
from gradus_paper.execution import run_task
from gradus_paper.store import Store

SPEC = """
title = "Small"
[[runs]]
problem = "cpar3"
sizes = [4, 6]
samples = 3
loss = ["l1", "lgh"]
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SPEC)
    return path


def test_reproduce_runs_reports_and_resumes(spec, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(["reproduce", str(spec), "-o", str(out), "--n-jobs", "1", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["tasks"], first["done"], first["failed"]) == (12, 12, 0)
    page = (out / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert run(["reproduce", str(spec), "-o", str(out), "--no-report"]) == 0
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


def test_the_exit_code_says_that_tasks_failed_and_the_same_command_runs_them_again(spec, tmp_path, capsys, monkeypatch):
    engine = in_threads()
    monkeypatch.setattr("gradus_paper.engines.choose_engine", lambda **_: engine)
    monkeypatch.setattr(execution, "run_task", lambda task: run_task(task) if task.sample else 1 / 0)
    command = ["reproduce", str(spec), "-o", str(tmp_path / "out"), "--no-report"]
    for done_now in (8, 0):
        assert run(command) == 1
        said = capsys.readouterr().out
        assert f"8 of 12 tasks done, {done_now} of them now" in said
        assert "4 tasks failed" in said
    assert run(["status", str(tmp_path / "out")]) == 0
    assert "a task failed" in capsys.readouterr().out


def test_prepare_and_absorb_go_through_files(spec, tmp_path, capsys):
    from gradus_paper.remote import run_on_gpu
    from gradus_paper.search_files import read_searches

    out, jobs = tmp_path / "out", tmp_path / "jobs.npz"
    assert run(["reproduce", str(spec), "-o", str(out), "--prepare", str(jobs)]) == 0
    assert "wrote 12 searches" in capsys.readouterr().out
    run_on_gpu(list(read_searches(jobs)), tmp_path, run_many=on_cpu, say=str)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(["reproduce", str(spec), "-o", str(out), "--absorb", str(empty), "--jobs", str(jobs)]) == 2
    assert "there is no file results" in capsys.readouterr().err
    absorb = ["--absorb", str(tmp_path)]  # every file of results in the folder
    assert run(["reproduce", str(spec), "-o", str(out), *absorb, "--jobs", str(jobs), "--no-report"]) == 0
    assert "12 of 12 tasks done" in capsys.readouterr().out
    assert run(["reproduce", str(spec), "-o", str(out), *absorb]) == 2
    assert "needs --jobs" in capsys.readouterr().err


def test_a_damaged_part_is_named_to_the_user(spec, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(["reproduce", str(spec), "-o", str(out), "--n-jobs", "1", "--no-report"]) == 0
    part = next((out / "parts").glob("part-*"))
    part.write_bytes(part.read_bytes()[:-9])
    assert run(["status", str(out)]) == 0
    assert part.name in capsys.readouterr().err
    assert run(["reproduce", str(spec), "-o", str(out), "--n-jobs", "1", "--no-report"]) == 0
    said = capsys.readouterr()
    assert f"{part.name} is damaged" in said.err
    assert "12 of 12 tasks done, 12 of them now" in said.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "fig99"], "there is no experiment 'fig99'"),
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


def test_ctrl_c_says_how_to_continue_and_keeps_what_is_done(tmp_path):
    spec = tmp_path / "long.toml"
    spec.write_text(
        'title = "Long"\n[[runs]]\nproblem = "cpar7"\nsizes = [100]\nsamples = 5000\n'
        "gates_per_target = 5\nmax_iter = 300000\nn_restarts = 0\n"
    )
    out = tmp_path / "out"
    command = [sys.executable, "-m", "gradus", "reproduce", str(spec), "-o", str(out), "--n-jobs", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    deadline = time.monotonic() + 60
    while not len(Store(out)) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "tasks are done and kept; run the same command again to continue" in error
    assert "Traceback" not in error
    assert len(Store(out)) > 0


def test_mistakes_in_a_call_are_found_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = tmp_path / "mine.toml"
    spec.write_text('figures = ["fig9"]\n[[runs]]\nproblem = "add3"\nsizes = [8]\nsamples = 1\nloss = "l1"\norder = "known"\n')
    for words in (
        ["reproduce", str(spec), "-o", "out"],
        ["reproduce", "fig1", "--samples", "1", "-o", "out", "--absorb", "nope.npz"],
        ["reproduce", "fig1", "--samples", "1", "-o", "out", "--prepare", "nodir/x.npz"],
        ["reproduce", "fig1", "--samples", "1", "-o", "out", "--dask", "nonsense"],
    ):
        assert run(words) == 2
        assert not (tmp_path / "out").exists()


def test_the_remote_module_answers_a_missing_file_in_one_sentence(tmp_path, capsys):
    from gradus_paper.remote import main

    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "nope.npz"), str(tmp_path / "out")])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("gradus: ")
