"""The GPU search gives the results of the CPU search bit for bit; here its source is compiled for the CPU."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from cuda_on_cpu import COMPILER, HostDevice
from gradus._core.run import Run
from gradus._search.cuda import device as gpu_device
from gradus._search.cuda import run_many
from gradus._search.cuda.device import CudaDevice
from gradus._search.cuda.layout import BatchShape, DeviceLimits, choose_layout, possible_layouts, shape_of
from gradus._search.driver import Workspace, resume, run_search
from gradus._search.job import Job, Settings
from gradus._search.search import search
from gradus._search.threads import SearchesOnCpu
from gradus.errors import MissingExtraError, SettingsError
from gradus.losses import LOSSES

LIMITS = DeviceLimits(multiprocessors=2, shared_bytes=100_000, block_bytes=60_000, reserved_bytes=1024)

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler to compile the kernel with")


@pytest.fixture(autouse=True)
def report_at_every_chance(monkeypatch):
    monkeypatch.setattr("gradus._core.run.SECONDS_PER_REPORT", 0.0)


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    return HostDevice(tmp_path_factory.mktemp("kernels"), LIMITS)


def make_job(rng, *, n, inputs, targets, seed=None, learnable=True, **settings):
    """Random inputs, and targets that are random ANDs and XORs of them, or noise."""
    X = rng.random((n, inputs)) < 0.5
    if learnable:
        a, b = rng.integers(inputs, size=(2, targets))
        Y = np.where(rng.random(targets) < 0.5, X[:, a] & X[:, b], X[:, a] ^ X[:, b])
    else:
        Y = rng.random((n, targets)) < 0.5
    seed = int(rng.integers(2**63)) if seed is None else seed
    return Job(X, Y, Settings(**settings), seed)


def random_jobs(rng, count):
    jobs = []
    for _ in range(count):
        jobs.append(
            make_job(
                rng,
                n=int(rng.choice([1, 2, 9, 31, 32, 33, 63, 64])),
                inputs=int(rng.choice([1, 2, 5])),
                targets=int(rng.integers(1, 5)),
                learnable=bool(rng.random() < 0.7),
                loss=str(rng.choice(LOSSES)),
                gates_per_target=int(rng.choice([1, 2, 7, 21])),
                history=int(rng.choice([1, 3, 50])),
                max_iter=int(rng.choice([1, 40, 700, 3000])),
                n_restarts=int(rng.integers(0, 4)),
            )
        )
    return jobs


def checkpoint_after(job, calls):
    """Run a job on the CPU for some calls of the kernel; None if it has ended by then."""
    work = Workspace(job)
    work.start()
    left = itertools.count(calls, -1)
    since = work.checkpoint(iterations=0, restart=0)
    return resume(job, since, run=Run(callback=lambda _: next(left) <= 0))[1] if calls else since


def assert_same_as_cpu(jobs, device, **options):
    found = dict(run_many(jobs, device=device, **options))
    assert sorted(found) == list(range(len(jobs)))
    for index, job in enumerate(jobs):
        expected = run_search(job)
        np.testing.assert_array_equal(found[index].sources, expected.sources, err_msg=f"job {index}: {job.settings}")
        for name in ("cost", "iterations", "restarts", "live_gates", "stopped"):
            assert getattr(found[index], name) == getattr(expected, name), (index, name, job.settings)
    return found


@needs_compiler
def test_random_small_jobs_end_as_on_the_cpu(host):
    found = assert_same_as_cpu(random_jobs(np.random.default_rng(1), 400), host)
    assert 40 < sum(outcome.converged for outcome in found.values()) < 360
    assert host.launches > 20


@needs_compiler
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("n", "inputs", "targets", "gates"),
    [(80, 12, 6, 21), (64, 7, 7, 21), (48, 28, 12, 41), (30, 6, 2, 600)],
    ids=["three words", "two words, full", "sources of two bytes", "more gates than 32 words of bits"],
)
def test_long_searches_with_restarts_end_as_on_the_cpu(host, loss, n, inputs, targets, gates):
    rng = np.random.default_rng(2)
    sizes = {"n": n, "inputs": inputs, "targets": targets, "gates_per_target": gates}
    jobs = [make_job(rng, loss=loss, max_iter=8000, n_restarts=1, **sizes) for _ in range(3)]
    jobs.append(make_job(rng, loss=loss, max_iter=6000, n_restarts=0, learnable=False, **sizes))
    assert_same_as_cpu(jobs, host)


@needs_compiler
def test_many_examples_take_many_words(host):
    rng = np.random.default_rng(3)
    assert_same_as_cpu([make_job(rng, n=300, inputs=9, targets=3, max_iter=4000, n_restarts=1)], host)


@needs_compiler
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("n", "parts"), [(384, 2), (384, 4), (300, 4), (384, 8), (130, 4), (520, 16)], ids=lambda number: str(number)
)
def test_lanes_that_share_a_network_end_as_on_the_cpu(host, monkeypatch, loss, n, parts):
    """Some of the lanes have no example at all: 130 of them fill 5 words, of which 4 lanes have 2 each."""

    def layout_with_parts(shape, limits):
        (chosen,) = (layout for layout in possible_layouts(shape, limits) if layout.parts == parts)
        return chosen

    monkeypatch.setattr("gradus._search.cuda.run.choose_layout", layout_with_parts)
    rng = np.random.default_rng(18)
    sizes = {"n": n, "inputs": 7, "targets": 3, "gates_per_target": 12}
    jobs = [make_job(rng, loss=loss, max_iter=1500, n_restarts=1, history=20 * k + 1, **sizes) for k in range(5)]
    jobs.append(make_job(rng, loss=loss, max_iter=1500, n_restarts=0, learnable=False, **sizes))
    assert_same_as_cpu(jobs, host)


@needs_compiler
def test_searches_with_many_words_are_shared_by_lanes_and_continue_elsewhere(host):
    rng = np.random.default_rng(19)
    jobs = [make_job(rng, n=384, inputs=9, targets=4, learnable=False, max_iter=10_000, n_restarts=0) for _ in range(4)]
    assert choose_layout(shape_of(jobs[0]), LIMITS).parts > 1
    left = {}
    found = dict(run_many(jobs, device=host, callback=lambda progress: progress.steps > 0, left=left.__setitem__))
    assert left
    for index, since in left.items():
        found[index] = resume(jobs[index], since)[0]
    for index, job in enumerate(jobs):
        np.testing.assert_array_equal(found[index].sources, run_search(job).sources)


@needs_compiler
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gates", [7, 90], ids=["one byte per node", "two bytes per node"])
def test_searches_that_have_begun_elsewhere_continue_among_new_ones(host, loss, gates):
    rng = np.random.default_rng(21)
    sizes = {"n": 70, "inputs": 6, "targets": 3, "gates_per_target": gates}
    jobs = [
        make_job(rng, loss=loss, history=7 * k + 1, max_iter=6000, n_restarts=2, learnable=k % 4 == 1, **sizes)
        for k in range(8)
    ]
    begun = [checkpoint_after(job, calls) for calls, job in enumerate(jobs[::2])]  # the first one before its first step
    since = {2 * at: checkpoint for at, checkpoint in enumerate(begun) if checkpoint is not None}
    assert len(since) > 2
    found, stopped_again = {}, {}
    run = run_many(jobs, device=host, since=since, callback=lambda progress: progress.done > 1, left=stopped_again.__setitem__)
    found.update(dict(run))
    again = list(stopped_again)
    late = run_many([jobs[k] for k in again], device=host, since={at: stopped_again[k] for at, k in enumerate(again)})
    found.update({again[at]: outcome for at, outcome in late})
    for index, outcome in found.items():  # the stop leaves out jobs that have not begun
        expected = run_search(jobs[index])
        np.testing.assert_array_equal(outcome.sources, expected.sources)
        assert (outcome.iterations, outcome.restarts) == (expected.iterations, expected.restarts)
    assert set(since) <= set(found)


@needs_compiler
def test_a_result_does_not_depend_on_launches_or_on_other_jobs(host, tmp_path):
    rng = np.random.default_rng(4)
    jobs = [make_job(rng, n=40, inputs=5, targets=3, max_iter=20_000, n_restarts=1) for _ in range(30)]
    alone = HostDevice(tmp_path, LIMITS, seconds_per_launch=0.5)
    alone.compiled = host.compiled
    together = dict(run_many(jobs, device=host))
    for index in (0, 17):
        ((_, found),) = run_many([jobs[index]], device=alone)
        np.testing.assert_array_equal(found.sources, together[index].sources)
        assert found.iterations == together[index].iterations


@needs_compiler
def test_a_job_that_does_not_fit_runs_on_the_cpu_and_the_log_says_so(host):
    rng = np.random.default_rng(5)
    small = make_job(rng, n=20, inputs=4, targets=2, max_iter=500, n_restarts=0)
    large = make_job(rng, n=12_000, inputs=4, targets=2, max_iter=50, n_restarts=0)
    lines: list[str] = []
    found = dict(run_many([large, small], device=host, log=lines.append))
    assert sorted(found) == [0, 1]
    assert any(line.startswith("job 0 runs on the CPU: a network takes") for line in lines)
    assert any("this CPU" in line for line in lines)
    expected = run_search(large)
    np.testing.assert_array_equal(found[0].sources, expected.sources)


@needs_compiler
def test_a_long_iterator_of_jobs_that_do_not_fit_is_read_as_they_end(host, monkeypatch):
    monkeypatch.setattr("gradus._search.threads.MOST_WAITING", 10)
    monkeypatch.setattr("gradus._search.cuda.run.JOBS_AT_ONCE", 5)
    large = make_job(np.random.default_rng(20), n=12_000, inputs=4, targets=2, max_iter=5, n_restarts=0)
    read = itertools.count()
    results = run_many((large for _ in read), device=host)
    for _ in range(3):
        next(results)
    results.close()
    assert next(read) < 100


@needs_compiler
def test_a_job_that_fails_on_the_cpu_does_not_affect_the_others(host, monkeypatch):
    rng = np.random.default_rng(9)
    large = [make_job(rng, n=12_000, inputs=4, targets=2, max_iter=50, n_restarts=0) for _ in range(3)]
    small = make_job(rng, n=20, inputs=4, targets=2, max_iter=500, n_restarts=0)

    def fails_once(job, **options):
        if job is large[0]:
            raise MemoryError("too large")
        return run_search(job, **options)

    monkeypatch.setattr("gradus._search.threads.run_search", fails_once)
    ended = []
    with pytest.raises(MemoryError, match="too large") as caught:
        ended.extend(index for index, _ in run_many([*large, small], device=host))
    assert sorted(ended) == [1, 2, 3]
    assert "This was job 0" in caught.value.__notes__[0]
    failures = []
    found = dict(run_many([*large, small], device=host, failed=lambda *what: failures.append(what)))
    assert sorted(found) == [1, 2, 3]
    assert [(index, type(error)) for index, error in failures] == [(0, MemoryError)]


@needs_compiler
def test_the_callback_can_stop_what_runs_on_the_cpu(host):
    rng = np.random.default_rng(10)
    large = [make_job(rng, n=12_000, inputs=4, targets=2, learnable=False, time_limit=20) for _ in range(2)]
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.steps > 0

    ((index, found),) = run_many(large, device=host, callback=callback)
    assert index == 0
    assert found.stopped
    assert seen[-1].steps > 0


@needs_compiler
def test_the_callback_can_stop_everything_and_keeps_what_is_done(host):
    rng = np.random.default_rng(6)
    easy = [make_job(rng, n=4, inputs=3, targets=1) for _ in range(3)]
    hard = [make_job(rng, n=60, inputs=5, targets=4, learnable=False) for _ in range(3)]
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.done >= 3 and progress.steps > 0

    found = dict(run_many(easy + hard, device=host, callback=callback))
    assert sorted(found) == list(range(6))
    assert [found[k].stopped for k in range(6)] == [False] * 3 + [True] * 3
    assert all(found[k].converged for k in range(3))
    assert (seen[-1].stage, seen[-1].total) == ("jobs", 6)


@needs_compiler
def test_a_time_limit_ends_a_search_with_the_best_so_far(host):
    job = make_job(np.random.default_rng(7), n=60, inputs=5, targets=4, learnable=False, time_limit=0.2)
    ((_, found),) = run_many([job], device=host)
    assert found.stopped
    assert found.iterations > 0
    assert found.cost > 0


@needs_compiler
def test_a_time_limit_of_zero_gives_the_network_of_the_cpu(host):
    job = make_job(np.random.default_rng(17), n=60, inputs=5, targets=4, learnable=False, time_limit=0)
    found = assert_same_as_cpu([job], host)[0]
    assert (found.stopped, found.iterations) == (True, 0)


def test_every_layout_fits_in_shared_memory():
    h200 = DeviceLimits(132, 233_472, 232_448, 1024)
    for inputs, targets, gates, words in [(12, 6, 21, 3), (1, 1, 1, 1), (28, 28, 41, 2), (14, 8, 41, 32)]:
        layout = choose_layout(BatchShape(inputs, gates * targets, targets, words), h200)
        per_multiprocessor = layout.blocks // h200.multiprocessors
        assert layout.block_bytes <= h200.block_bytes
        assert per_multiprocessor * (layout.block_bytes + h200.reserved_bytes) <= h200.shared_bytes


def test_without_cupy_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtraError, match="pip install cupy-cuda12x"):
        run_many([])


def test_without_a_gpu_the_error_says_so(monkeypatch):
    class NoDriver:
        class cuda:  # noqa: N801
            @staticmethod
            def Device():  # noqa: N802
                raise RuntimeError("no CUDA-capable device is detected")

    monkeypatch.setattr(gpu_device, "_import_cupy", lambda: NoDriver)
    with pytest.raises(SettingsError, match="no CUDA-capable device is detected"):
        CudaDevice()


def test_a_gpu_that_has_failed_is_not_waited_for_forever():
    class Queue:
        ptr = 1

        def synchronize(self):
            raise RuntimeError("an illegal memory access was encountered")

    answers = iter([600, 0, 700])
    gpu = CudaDevice.__new__(CudaDevice)
    gpu.cupy = SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(streamQuery=lambda stream: next(answers))))
    assert [gpu.is_done(Queue()), gpu.is_done(Queue())] == [False, True]
    with pytest.raises(RuntimeError, match="illegal memory access"):
        gpu.is_done(Queue())


def _gpu():
    try:
        return CudaDevice()
    except (MissingExtraError, SettingsError):
        return None


@pytest.mark.gpu
def test_mixed_jobs_on_a_gpu_end_as_on_the_cpu():
    gpu = _gpu()
    if gpu is None:
        pytest.skip("there is no NVIDIA GPU with CuPy here")
    rng = np.random.default_rng(8)
    jobs = random_jobs(rng, 2000)
    for n in (80, 384):
        jobs += [make_job(rng, n=n, inputs=12, targets=6, max_iter=20_000, n_restarts=1, loss=k) for k in LOSSES]
    assert len({shape_of(job) for job in jobs}) > 50
    assert_same_as_cpu(jobs, gpu)
    assert_same_as_cpu(long_jobs(rng, 200), gpu, n_jobs=2)


def long_jobs(rng, count):
    """Searches of two shapes that take many launches; some reach zero error."""
    return [
        make_job(
            rng,
            n=40 + 30 * (k % 2),
            inputs=5,
            targets=3,
            learnable=bool(k % 3),
            loss=LOSSES[k % 4],
            max_iter=150_000,
            n_restarts=1,
            history=30,
        )
        for k in range(count)
    ]


@needs_compiler
def test_threads_finish_what_the_gpu_began_with_the_same_result(host, monkeypatch):
    taken = []
    plain = SearchesOnCpu.resume
    monkeypatch.setattr(
        SearchesOnCpu, "resume", lambda self, index, job, since: taken.append(since) or plain(self, index, job, since)
    )
    monkeypatch.setattr(SearchesOnCpu, "wanted", property(lambda self: 1))  # however busy: one from every launch
    assert_same_as_cpu(long_jobs(np.random.default_rng(8), 24), host, n_jobs=2)
    assert len(taken) > 4
    assert any(since.step for since in taken)


@needs_compiler
@pytest.mark.parametrize("n_jobs", [0, 2])
def test_what_is_running_at_a_stop_can_be_finished_elsewhere(host, n_jobs):
    jobs = long_jobs(np.random.default_rng(11), 12)
    left = {}
    found = dict(
        run_many(
            jobs,
            device=host,
            n_jobs=n_jobs,
            callback=lambda progress: progress.steps > 50_000,
            left=lambda index, since: left.update({index: since}),
        )
    )
    assert left
    assert not set(found) & set(left)
    assert not any(outcome.stopped for outcome in found.values())
    for index, since in left.items():
        ended, nothing = resume(jobs[index], since)
        expected = run_search(jobs[index])
        assert nothing is None
        np.testing.assert_array_equal(ended.sources, expected.sources)
        assert (ended.cost, ended.iterations, ended.restarts) == (expected.cost, expected.iterations, expected.restarts)


@needs_compiler
def test_jobs_are_read_as_there_is_room_and_an_error_while_reading_is_raised(host, monkeypatch):
    monkeypatch.setattr("gradus._search.cuda.run.JOBS_AT_ONCE", 5)
    rng = np.random.default_rng(12)
    jobs = [make_job(rng, n=20, inputs=4, targets=2, max_iter=500, n_restarts=0) for _ in range(23)]
    assert sorted(index for index, _ in run_many(iter(jobs), device=host)) == list(range(23))

    for error in (RuntimeError("the file ends here"), SystemExit("the program ends here")):

        def broken(error=error):
            yield from jobs
            raise error

        with pytest.raises(type(error), match="ends here"):
            list(run_many(broken(), device=host))


class Late(HostDevice):
    """A device on which every launch seems to take a while."""

    looks = 0

    def launch(self, *what):
        super().launch(*what)
        self.looks = 5

    def is_done(self, queue):
        self.looks = max(0, self.looks - 1)
        return self.looks == 0


@pytest.fixture
def late(host, tmp_path):
    device = Late(tmp_path, LIMITS)
    device.compiled = host.compiled
    return device


@needs_compiler
def test_closing_the_results_waits_for_the_gpu_to_finish_with_its_memory(late):
    rng = np.random.default_rng(14)
    easy = make_job(rng, n=4, inputs=3, targets=1)
    endless = Job(np.zeros((4, 3), bool), np.array([[0], [1], [0], [1]], bool), Settings(n_restarts=10**9), 0)
    results = run_many([easy, endless], device=late)
    next(results)
    assert late.looks > 0
    results.close()
    assert late.looks == 0


@needs_compiler
def test_the_callback_is_called_ten_times_a_second_at_most_and_not_at_every_poll(late, monkeypatch):
    monkeypatch.setattr("gradus._core.run.SECONDS_PER_REPORT", 0.1)
    job = make_job(np.random.default_rng(15), n=60, inputs=5, targets=4, learnable=False, max_iter=9000, n_restarts=0)
    seen, began = [], time.monotonic()
    assert len(list(run_many([job], device=late, callback=seen.append))) == 1
    assert 0 < len(seen) <= 1 + (time.monotonic() - began) / 0.1


@needs_compiler
def test_a_search_that_is_stopped_before_the_gpu_has_begun_still_gives_a_network(host, tmp_path, monkeypatch):
    learned = threading.Event()

    class StillCompiling(HostDevice):
        def compile(self, constants):
            learned.wait()

    monkeypatch.setattr("gradus._search.cuda.run.CudaDevice", lambda: StillCompiling(tmp_path, LIMITS))
    Y = np.random.default_rng(16).random((60, 4)) < 0.5
    found = search(np.zeros((60, 3), dtype=bool), Y, order=None, backend="cuda", callback=lambda _: True)
    learned.set()
    assert found.stopped
    assert 0 < found.iterations < 10_000


def test_a_program_that_fails_does_not_wait_for_searches_on_cpu_threads():
    code = (
        "import numpy as np\n"
        "from gradus._core.run import Run\n"
        "from gradus._search.job import Job, Settings\n"
        "from gradus._search.threads import SearchesOnCpu\n"
        "endless = Job(np.zeros((2, 1), bool), np.array([[0], [1]], bool), Settings(n_restarts=10**9), 0)\n"
        "SearchesOnCpu(Run()).run(0, endless)\n"
        "raise SystemExit(3)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=100, check=False).returncode == 3


@needs_compiler
def test_closing_the_results_stops_reading_and_searching(host):
    rng = np.random.default_rng(13)
    before = threading.active_count()
    endless = (make_job(rng, n=60, inputs=5, targets=4, learnable=False, n_restarts=10**6) for _ in itertools.count())
    easy = (make_job(rng, n=4, inputs=3, targets=1) for _ in range(3))
    results = run_many(itertools.chain(easy, itertools.islice(endless, 40)), device=host, n_jobs=2)
    next(results)
    results.close()
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= before
