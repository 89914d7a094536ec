"""Learning that is killed at random moments and called again: whether the result is the same, and how much work is lost.

    python benchmarks/kills.py sorter5/24/32 --kills 10
    python benchmarks/kills.py ex11.train.pla --kills 3 --dask 4

A case is a problem with a number of examples and one of circuits, or a table with its outputs; it is learned once undisturbed
and once for each kill (-9): of the process that learns, or with --dask of a random worker of a local cluster, which the call
survives. The work lost is the CPU
time of both calls, or of all workers, less that of the undisturbed one; starting a new worker is counted as lost.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process: int) -> float:
    """Return the CPU time that a process has taken."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / TICKS


def learned(case: str, path: str, n_jobs: int) -> str:
    """Learn a case and return a digest of all circuits."""
    import gradus

    n_circuits = None
    if Path(case).is_file():
        X, Y = gradus.read_table(case).split()
    else:
        name, n, number = case.split("/")
        problem, n_circuits = gradus.problems.load(name), int(number)
        train, _ = problem.sample(int(n), seed=0)
        X, Y = problem.X[train], problem.Y[train]
    result = gradus.learn(X, Y, n_circuits=n_circuits, n_jobs=n_jobs, checkpoint=path)
    texts = "".join(circuit.to_json() for circuit in result.circuits)
    return hashlib.blake2b(f"{texts}{result.order}".encode(), digest_size=8).hexdigest()


def child(case: str, path: str) -> None:
    """Learn in this process, which may be killed."""
    import gradus

    gradus.learn([[0, 1], [1, 0]], [[0], [1]])  # loads all kernels
    begin = time.process_time()
    print(begin, flush=True)
    digest = learned(case, path, 1)
    print(digest, time.process_time() - begin)


def in_processes(case: str, kill_after: float | None, folder: str) -> tuple[str, float, float]:
    """Learn in a process that is killed after some CPU time, and again; returns digest, CPU time in all, and of the kill."""
    path, command, before = f"{folder}/c", [sys.executable, __file__, "--child", case], 0.0
    if kill_after is not None:
        process = subprocess.Popen([*command, path], stdout=subprocess.PIPE, text=True)
        begin = float(process.stdout.readline())  # type: ignore[union-attr]  # it is a pipe
        while cpu_seconds(process.pid) - begin < kill_after and process.poll() is None:
            time.sleep(0.02)
        before = cpu_seconds(process.pid) - begin
        process.kill()
        process.communicate()
    done = subprocess.run([*command, path], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    assert not os.listdir(folder), "files were left behind"
    return done[1], before + float(done[2]), before


def on_cluster(case: str, kill_after: float | None, folder: str, workers: int) -> tuple[str, float, float]:
    """Learn on a local cluster of which a worker is killed after some CPU time; returns the same."""
    import joblib
    from distributed import Client, LocalCluster

    lost = [0.0]
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.run(warm)
        before = client.run(time.process_time)

        def kill() -> None:
            victim = random.choice([nanny.pid for nanny in cluster.workers.values()])
            own = cpu_seconds(victim)
            while cpu_seconds(victim) - own < (kill_after or 0.0):
                time.sleep(0.02)
            lost[0] = cpu_seconds(victim) - own
            os.kill(victim, signal.SIGKILL)

        if kill_after is not None:
            Thread(target=kill, daemon=True).start()
        with joblib.parallel_config(backend="dask"):
            digest = learned(case, f"{folder}/c", workers)
        after = client.run(time.process_time)
    assert not os.listdir(folder), "files were left behind"
    return digest, lost[0] + sum(seconds - before.get(worker, 0.0) for worker, seconds in after.items()), lost[0]


def warm() -> None:
    """Load all kernels."""
    import gradus

    gradus.learn([[0, 1], [1, 0]], [[0], [1]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="+", metavar="CASE", help="PROBLEM/EXAMPLES/CIRCUITS, or a table")
    parser.add_argument("--kills", type=int, default=10, help="kills per case")
    parser.add_argument("--dask", type=int, default=0, metavar="WORKERS", help="on a local cluster with so many workers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(*options.cases)
    random.seed(options.seed)

    def learn(case: str, kill_after: float | None) -> tuple[str, float, float]:
        with tempfile.TemporaryDirectory() as folder:
            if options.dask:
                return on_cluster(case, kill_after, folder, options.dask)
            return in_processes(case, kill_after, folder)

    for case in options.cases:
        digest, seconds, _ = learn(case, None)
        print(f"{case}: {seconds:.1f} CPU s undisturbed, circuits {digest}", flush=True)
        losses: list[Any] = []
        for _ in range(options.kills):
            moment = random.uniform(0.05, 0.95) * seconds / max(1, options.dask)
            other, both, killed = learn(case, moment)
            losses.append((other == digest, both - seconds))
            said = "the same" if other == digest else "OTHER"
            print(f"  killed after {killed:6.1f} s: {said} circuits, lost {both - seconds:5.1f} s", flush=True)
        if not losses:
            continue
        same = sum(equal for equal, _ in losses)
        print(f"{case}: {same} of {len(losses)} the same; lost at most {max(loss for _, loss in losses):.1f} CPU s")


if __name__ == "__main__":
    main()
