"""Searches that run elsewhere give the rows that they would have given here."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from experiment_helpers import comparable, in_threads, on_cpu
from gradus._core.run import Progress
from gradus._search import cuda
from gradus._search.driver import Workspace, run_search
from gradus._search.job import Outcome, Settings
from gradus.errors import FormatError, SettingsError
from gradus_paper import remote, search_files
from gradus_paper.gpu_engine import CudaEngine
from gradus_paper.offline import absorb_files, prepare_searches
from gradus_paper.remote import main, run_on_cpu, run_on_gpu
from gradus_paper.run import run_tasks
from gradus_paper.search_files import OutcomeWriter, read_outcomes, read_searches, write_searches
from gradus_paper.store import Store
from gradus_paper.tasks import Design, Task


@pytest.fixture(scope="module")
def searches(tasks):
    return [task for task in tasks if task.design.method == "network" and task.design.problem != "mammalian"]


def prepared(tasks, path):
    """Write the searches of tasks to a file, and read them back."""
    assert prepare_searches(tasks, path) == len(tasks)
    return list(read_searches(path))


def test_a_trip_through_files_gives_the_same_rows(tmp_path, searches, reference):
    jobs = tmp_path / "jobs.npz"
    assert run_on_gpu(prepared(searches, jobs), tmp_path, run_many=on_cpu, say=str) == len(searches)
    absorb_files(searches, jobs, [tmp_path / "results-0.npz"], Store(tmp_path / "store"))
    wanted = {task.id for task in searches}
    expected = [row for row in reference.to_pylist() if row["task"] in wanted]
    assert comparable(Store(tmp_path / "store").table()).to_pylist() == expected


def test_results_spread_over_files_and_absorbed_twice_count_once(tmp_path, searches):
    jobs = tmp_path / "jobs.npz"
    prepare_searches(searches, jobs)
    writer = OutcomeWriter(tmp_path, file_bytes=2000)
    for job in read_searches(jobs):
        writer.add(job, run_search(job.job()))
    writer.flush()
    files = sorted(tmp_path.glob("results-*.npz"))
    assert len(files) == writer.files > 1
    store = Store(tmp_path / "store")
    assert absorb_files(searches, jobs, files[:1], store).done < len(searches)
    absorb_files(searches, jobs, files, store)
    absorb_files(searches, jobs, files, store)
    assert len(Store(tmp_path / "store")) == len(searches)


def test_searches_that_were_stopped_are_left_for_another_time(tmp_path, searches):
    def stopped(jobs, **options):
        for index, job in enumerate(jobs):
            found = run_search(job)
            yield index, type(found)(**{**vars(found), "stopped": index % 2 == 0})

    jobs = tmp_path / "jobs.npz"
    assert run_on_gpu(prepared(searches, jobs), tmp_path, run_many=stopped, say=str) == len(searches) // 2


def leave_everything(jobs, *, left=None, **options):
    """Stand in for a GPU whose time is up as soon as every search has begun."""
    for index, job in enumerate(jobs):
        work = Workspace(job)
        work.start()
        if index % 2:
            work.descend(50)
        left(index, work.checkpoint(iterations=0, restart=0))
    yield from ()


@pytest.mark.parametrize("where", ["cpu", "gpu"])
def test_unfinished_searches_are_finished_elsewhere_with_the_same_rows(tmp_path, searches, reference, where):
    jobs = tmp_path / "jobs.npz"
    assert run_on_gpu(prepared(searches, jobs), tmp_path / "gpu", run_many=leave_everything, say=str) == 0
    rest = list(read_searches(tmp_path / "gpu" / "rest-0.npz"))
    assert len(rest) == len(searches)
    if where == "gpu":
        run_on_gpu(rest, tmp_path / "later", run_many=on_cpu, say=str)
    else:
        main([str(tmp_path / "gpu" / "rest-0.npz"), str(tmp_path / "later"), "--cpu", "--n-jobs", "2"])
    store = Store(tmp_path / "store")
    assert absorb_files(searches, jobs, [tmp_path / "later" / "results-0.npz"], store).done == len(searches)
    wanted = {task.id for task in searches}
    assert comparable(store.table()).to_pylist() == [row for row in reference.to_pylist() if row["task"] in wanted]


def test_what_cpu_cores_do_not_finish_in_time_is_left_with_the_rest(tmp_path):
    endless = Settings(loss="l1", gates_per_target=3, n_restarts=20)
    tasks = [Task(Design("cmaj9", settings=endless, order="none"), 200, sample) for sample in range(3)]
    jobs = prepared(tasks, tmp_path / "jobs.npz")
    assert run_on_gpu(jobs, tmp_path / "gpu", run_many=leave_everything, say=str) == 0
    begun = list(read_searches(tmp_path / "gpu" / "rest-0.npz"))
    assert run_on_cpu([*begun, jobs[0]], tmp_path / "cpu", n_jobs=2, seconds=1.0, say=str) == 0
    rest = list(read_searches(tmp_path / "cpu" / "rest-0.npz"))
    assert sorted(job.task_id for job in rest) == sorted(job.task_id for job in [*begun, jobs[0]])
    steps = {job.task_id: job.since.step for job in begun}
    moved = [job.task_id for job in rest if job.since is not None and job.since.step > steps[job.task_id]]
    assert len(moved) >= 2
    assert sum(job.since is None for job in rest) == 1


def test_ctrl_c_on_a_gpu_is_as_if_the_time_were_up(tmp_path, searches, monkeypatch, capsys):
    before = signal.getsignal(signal.SIGINT)

    def interrupted(jobs, *, callback, left, **options):
        progress = Progress(stage="jobs", total=3)
        assert callback(progress) is False
        signal.raise_signal(signal.SIGINT)
        assert callback(progress) is True
        return leave_everything(jobs, left=left)

    monkeypatch.setattr(cuda, "run_many", interrupted)
    prepare_searches(searches[:3], tmp_path / "jobs.npz")
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "jobs.npz"), str(tmp_path)])
    assert ended.value.code == 130
    assert "what is done is in" in capsys.readouterr().err
    assert len(list(read_searches(tmp_path / "rest-0.npz"))) == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_on_cpu_cores_keeps_what_is_done_and_how_far_the_others_are(tmp_path, searches, monkeypatch, capsys):
    endless = Settings(loss="l1", gates_per_target=3, n_restarts=20)
    tasks = [searches[0], *(Task(Design("cmaj9", settings=endless, order="none"), 200, sample) for sample in range(2))]
    run_on_gpu(prepared(tasks, tmp_path / "jobs.npz"), tmp_path, run_many=leave_everything, say=str)
    begun = {job.task_id: job.since.step for job in read_searches(tmp_path / "rest-0.npz")}
    plain = remote.OutcomeWriter.add

    def interrupt(self, *what):
        plain(self, *what)
        raise KeyboardInterrupt

    monkeypatch.setattr(remote.OutcomeWriter, "add", interrupt)
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "rest-0.npz"), str(tmp_path / "cpu"), "--cpu", "--n-jobs", "3"])
    assert ended.value.code == 130
    assert "what is done is in" in capsys.readouterr().err
    assert [task_id for task_id, _ in read_outcomes(tmp_path / "cpu" / "results-0.npz")] == [tasks[0].id_bytes]
    rest = list(read_searches(tmp_path / "cpu" / "rest-0.npz"))
    assert sorted(job.task_id for job in rest) == sorted(task.id_bytes for task in tasks[1:])
    assert all(job.since.step > begun[job.task_id] or job.since.restart for job in rest)


def test_a_job_that_fails_on_cpu_cores_is_left_and_the_others_are_run(tmp_path, searches, monkeypatch):
    jobs = prepared(searches[:4], tmp_path / "jobs.npz")
    plain = remote.run_search

    def fails_once(job, **options):
        if job.seed == jobs[1].seed:
            raise MemoryError("no room for it")
        return plain(job, **options)

    monkeypatch.setattr(remote, "run_search", fails_once)
    with pytest.raises(MemoryError, match="no room"):
        run_on_cpu(jobs, tmp_path, n_jobs=1, say=str)
    assert len(list(read_outcomes(tmp_path / "results-0.npz"))) == 3
    assert [job.task_id for job in read_searches(tmp_path / "rest-0.npz")] == [jobs[1].task_id]


def test_numbers_of_threads_below_zero_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "jobs.npz"), str(tmp_path), "--cpu", "--n-jobs", "-1"])
    assert ended.value.code == 2
    assert "at least 0" in capsys.readouterr().err


def _reading_an_output(arrays):
    """Let the last output of the first search read the one before it: below it, but not among what outputs may read."""
    wirings = arrays["since_wirings"].copy()
    gates = int(arrays["since_gates"][0])
    inputs = int(arrays["set_shapes"][arrays["job_set"][0]][1])
    wirings[2 * gates - 1] = inputs + gates - 2
    return wirings


@pytest.mark.parametrize(
    "changes",
    [
        lambda arrays: {"since_wirings": np.full_like(arrays["since_wirings"], 255)},
        lambda arrays: {"since_histories": arrays["since_histories"][:-1]},
        lambda arrays: {"since_wirings": arrays["since_wirings"][:-1]},
        lambda arrays: {"since_gates": arrays["since_gates"][:-1]},
        lambda arrays: {"begun": arrays["begun"][:-1]},
        lambda arrays: {"begun": arrays["begun"].astype(int)},
        lambda arrays: {"since_gates": arrays["since_gates"] + np.array([0, 0, -1, 1])},
        lambda arrays: {"since_random": arrays["since_random"][:, :1]},
        lambda arrays: {"since_random": arrays["since_random"].astype(float)},
        lambda arrays: {"since_random": arrays["since_random"] * 0},
        lambda arrays: {"since_numbers": arrays["since_numbers"].astype(float)},
        lambda arrays: {"since_numbers": arrays["since_numbers"] + np.array([2**62, 0, 0, 0], dtype=np.uint64)},
        lambda arrays: {"since_numbers": arrays["since_numbers"] + np.array([0, 1, 0, 0], dtype=np.uint64)},
        lambda arrays: {"since_numbers": arrays["since_numbers"] + np.array([0, 0, 100, 0], dtype=np.uint64)},
        lambda arrays: {"since_wirings": _reading_an_output(arrays)},
        lambda arrays: {"job_order": arrays["job_order"] * 0},
        lambda arrays: {"job_order": arrays["job_order"][:-1]},
        lambda arrays: {"job_kind": arrays["job_kind"] - 1},
    ],
)
def test_damaged_checkpoints_are_refused(tmp_path, searches, changes):
    run_on_gpu(prepared(searches[:4], tmp_path / "jobs.npz"), tmp_path, run_many=leave_everything, say=str)
    path = tmp_path / "rest-0.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, **changes(arrays)})
    with pytest.raises(FormatError, match=r"rest-0.npz.*cannot be read as a complete file"):
        list(read_searches(path))


def test_the_gpu_engine_gives_the_same_rows_and_runs_baselines_here(tmp_path, tasks, reference, monkeypatch):
    monkeypatch.setattr(cuda, "run_many", on_cpu)
    run_tasks(tasks, Store(tmp_path), CudaEngine())
    assert comparable(Store(tmp_path).table()) == reference


def test_a_hundred_thousand_networks_fit_in_a_few_files(tmp_path):
    """A network of 126 gates takes no more than its live gates, so that 100,000 of them stay below 8 files of 16 MB."""
    task = Task(Design("add6", settings=Settings(max_iter=20_000, n_restarts=0)), 64, 0)
    jobs = tmp_path / "jobs.npz"
    prepare_searches([task], jobs)
    job = next(read_searches(jobs))
    found = run_search(job.job())
    writer = OutcomeWriter(tmp_path)
    rng = np.random.default_rng(0)
    for _ in range(500):  # wiring as different as that of different searches
        sources = np.array([rng.integers(0, 12 + min(gate, 120), 2) for gate in range(126)])
        writer.add(job, type(found)(**{**vars(found), "sources": sources}))
    writer.flush()
    size = (tmp_path / "results-0.npz").stat().st_size
    assert 100_000 / 500 * size < 8 * 16e6 / 2


def test_the_remote_script_needs_neither_numba_nor_pyarrow():
    code = (
        "import sys\n"
        "for name in ('numba', 'pyarrow', 'scipy', 'sklearn', 'matplotlib', 'typer'): sys.modules[name] = None\n"
        "import gradus_paper.remote, gradus._search.cuda\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_files_that_are_something_else_are_refused(tmp_path, searches):
    (tmp_path / "junk.npz").write_bytes(b"PK not really")
    with pytest.raises(FormatError, match=r"junk\.npz"):
        list(read_searches(tmp_path / "junk.npz"))
    np.savez(tmp_path / "objects.npz", head=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FormatError, match=r"objects\.npz"):
        list(read_searches(tmp_path / "objects.npz"))
    jobs = tmp_path / "jobs.npz"
    run_on_gpu(prepared(searches[:4], jobs), tmp_path, run_many=on_cpu, say=str)
    with pytest.raises(FormatError, match="not part of this experiment"):
        absorb_files(searches[:2], jobs, [tmp_path / "results-0.npz"], Store(tmp_path / "s"))
    limited = Task(Design("add3", settings=Settings(time_limit=1.0)), 8, 0)
    with pytest.raises(SettingsError, match="time limit"):
        prepare_searches([limited], jobs)


def test_results_go_to_a_new_folder_and_never_over_those_of_an_earlier_run(tmp_path, searches):
    jobs = tmp_path / "jobs.npz"
    folder = tmp_path / "not" / "there"
    given = prepared(searches[:4], jobs)
    run_on_gpu(given[:2], folder, run_many=on_cpu, say=str)
    (folder / "results-2.npz").write_bytes(b"kept")
    run_on_gpu(given[2:], folder, run_many=on_cpu, say=str)
    assert sorted(path.name for path in folder.iterdir()) == ["results-0.npz", "results-1.npz", "results-2.npz"]
    store = Store(tmp_path / "store")
    assert absorb_files(searches[:4], jobs, [folder / "results-0.npz", folder / "results-1.npz"], store).done == 4


def test_two_runs_at_once_never_write_to_one_file(tmp_path, searches, monkeypatch):
    jobs = prepared(searches[:2], tmp_path / "jobs.npz")
    found = [run_search(job.job()) for job in jobs]
    first, second = OutcomeWriter(tmp_path), OutcomeWriter(tmp_path)
    first.add(jobs[0], found[0])
    second.add(jobs[1], found[1])
    save = search_files._save_arrays

    def meanwhile_the_other_writes(*what):
        monkeypatch.setattr(search_files, "_save_arrays", save)
        second.flush()
        save(*what)

    monkeypatch.setattr(search_files, "_save_arrays", meanwhile_the_other_writes)
    first.flush()
    kept = [task_id for k in range(2) for task_id, _ in read_outcomes(tmp_path / f"results-{k}.npz")]
    assert sorted(kept) == sorted(job.task_id for job in jobs)


def test_what_was_found_before_a_run_broke_is_kept(tmp_path, searches):
    def breaking(jobs, **options):
        yield next(on_cpu(jobs))
        raise RuntimeError("the device fell off")

    jobs = tmp_path / "jobs.npz"
    with pytest.raises(RuntimeError, match="fell off"):
        run_on_gpu(prepared(searches[:4], jobs), tmp_path, run_many=breaking, say=str)
    assert len(list(read_outcomes(tmp_path / "results-0.npz"))) == 1


def test_results_are_on_disk_long_before_a_file_is_full(tmp_path, searches, monkeypatch):
    monkeypatch.setattr("gradus_paper.search_files.SECONDS_UNWRITTEN", 0.0)
    prepare_searches(searches[:3], tmp_path / "jobs.npz")
    writer = OutcomeWriter(tmp_path)
    for count, job in enumerate(read_searches(tmp_path / "jobs.npz"), 1):
        writer.add(job, run_search(job.job()))
        assert len(list(read_outcomes(tmp_path / "results-0.npz"))) == count
    writer.flush()
    writer.flush()
    assert [path.name for path in tmp_path.glob("results-*")] == ["results-0.npz"]
    assert writer.files == 1


def test_jobs_of_two_files_keep_their_training_sets(tmp_path):
    tasks = [Task(Design("add3"), 8, sample) for sample in range(2)]
    for task in tasks:
        prepare_searches([task], tmp_path / f"{task.sample}.npz")
    both = [job for k in range(2) for job in read_searches(tmp_path / f"{k}.npz")]
    write_searches(tmp_path / "both.npz", both)
    for job, again in zip(both, read_searches(tmp_path / "both.npz"), strict=True):
        np.testing.assert_array_equal(job.X, again.X)
    assert not np.array_equal(both[0].X, both[1].X)


@pytest.mark.parametrize("largest", [255, 256, 65_535, 65_536, 100_000])
def test_node_numbers_of_any_size_are_read_back_as_written(tmp_path, searches, largest):
    jobs = tmp_path / "jobs.npz"
    prepare_searches(searches[:1], jobs)
    job = next(read_searches(jobs))
    m = job.Y.shape[1]
    sources = np.zeros((largest + 2, 2), dtype=np.int64)
    sources[-m:] = largest
    writer = OutcomeWriter(tmp_path)
    writer.add(job, Outcome(sources=sources, cost=0, iterations=1, restarts=0, live_gates=m, stopped=False))
    writer.flush()
    ((_, found),) = read_outcomes(tmp_path / "results-0.npz")
    assert (found.sources == sources).all()


def test_nothing_left_to_run_makes_a_file_without_jobs(tmp_path):
    assert prepare_searches([], tmp_path / "jobs.npz") == 0
    assert list(read_searches(tmp_path / "jobs.npz")) == []


def _change(path, **changes):
    """Write a file again with some arrays changed; None takes one away."""
    with np.load(path) as archive:
        arrays = {name: changes.get(name, lambda same: same)(archive[name]) for name in archive.files}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    "changes",
    [
        {"gates": lambda gates: None},
        {"cost": lambda cost: cost[:-1]},
        {"cost": lambda cost: cost - 10**6},
        {"job_id": lambda ids: ids[:, :4]},
        {"sources": lambda sources: sources[:-2]},
        {"sources": lambda sources: sources.astype(float)},
        {"sources": lambda sources: np.full(len(sources), 60_000, dtype=np.uint16)},  # far outside of any network
        {"gates": lambda gates: gates // 2, "sources": lambda sources: sources[: len(sources) // 2]},
        {"sources": lambda sources: np.full(len(sources), -1, dtype=np.int8)},
    ],
)
def test_impossible_results_are_refused(tmp_path, searches, changes):
    jobs, results = tmp_path / "jobs.npz", tmp_path / "results-0.npz"
    run_on_gpu(prepared(searches[:4], jobs), tmp_path, run_many=on_cpu, say=str)
    _change(results, **changes)
    with pytest.raises(FormatError, match=r"results-0\.npz"):
        absorb_files(searches[:4], jobs, [results], Store(tmp_path / "store"))
    assert len(Store(tmp_path / "store")) == 0


def test_a_training_set_without_inputs_is_refused_before_compiled_code_reads_it(tmp_path, searches):
    prepare_searches(searches[:1], tmp_path / "jobs.npz")
    _change(tmp_path / "jobs.npz", set_shapes=lambda shapes: shapes * [1, 0, 1], set_bits=lambda bits: bits[:0])
    with pytest.raises(FormatError, match="training sets"):
        list(read_searches(tmp_path / "jobs.npz"))


@pytest.mark.parametrize(
    "changes",
    [
        {"job_set": lambda sets: sets + 100},
        {"job_tau": lambda tau: None},
        {"job_order": lambda order: order * 0},
        {"set_bits": lambda bits: bits[:2]},
    ],
)
def test_a_damaged_file_of_jobs_is_refused(tmp_path, searches, changes):
    jobs = tmp_path / "jobs.npz"
    run_on_gpu(prepared(searches[:4], jobs), tmp_path, run_many=on_cpu, say=str)
    _change(jobs, **changes)
    with pytest.raises(FormatError, match=r"jobs\.npz"):
        absorb_files(searches[:4], jobs, [tmp_path / "results-0.npz"], Store(tmp_path / "store"))


def test_a_published_table_gives_its_rows_back_once_and_only_to_the_experiment_they_belong_to(tmp_path, tasks, reference):
    run_tasks(tasks, Store(tmp_path / "ran"), in_threads())
    table = Store(tmp_path / "ran").table()
    published = tmp_path / "results.parquet"
    pq.write_table(table.drop_columns(["task", "eta"]).append_column("shrink", pa.array([0] * len(table))), published)
    store = Store(tmp_path / "store")
    good = [task for task in tasks if task.design.problem != "mammalian"]
    assert absorb_files(good[:50], None, [published], store).done == 50
    again = absorb_files(tasks, None, [published], store)
    assert (again.before, again.done, again.left) == (50, len(good) - 50, 1)  # the failed task may be tried again
    assert absorb_files(tasks, None, [published], store).done == 0
    expected = [{**row, "eta": None} for row in reference.to_pylist() if row["status"] == "done"]
    assert comparable(store.table()).to_pylist() == expected


def test_a_file_that_is_not_a_results_table_is_refused(tmp_path, tasks):
    (tmp_path / "junk.parquet").write_bytes(b"PAR1 not really")
    pq.write_table(pa.table({"status": ["done"], "n_train": [3]}), tmp_path / "other.parquet")
    for name in ("junk", "other"):
        with pytest.raises(FormatError, match=name):
            absorb_files(tasks, None, [tmp_path / f"{name}.parquet"], Store(tmp_path / "store"))
