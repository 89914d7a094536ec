"""Break everything that can break around a run, and compare its rows with those of an undisturbed one.

    python benchmarks/attack.py main --times 50       # kill the main process at random moments
    python benchmarks/attack.py workers --times 50    # kill worker processes at random moments
    python benchmarks/attack.py cluster --times 20    # the same with the workers of a Dask cluster
    python benchmarks/attack.py caches --times 100    # damage the compiled kernels, each time in another way
    python benchmarks/attack.py clock --times 168     # let the wall clock jump by up to a day at every reading
    python benchmarks/attack.py compiler --times 40   # Ctrl-C in the first seconds of verbs that compile their kernels
    python benchmarks/attack.py disk                  # fill the disk at every write of a small run

Each ends with one line of JSON; the exit code is 1 if something did not hold. ``benchmarks/fuzz.py`` attacks the
readers, ``benchmarks/full_disk.py`` the verbs; ``benchmarks/digest.py`` compares versions.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gradus
from gradus._formats.table_files import write_table
from gradus.errors import GradusError, WorkerError
from gradus.lab import Settings
from gradus_paper import runs as run_module
from gradus_paper.engines import DaskEngine, Engine, LocalEngine
from gradus_paper.execution import TaskBatch, run_batch
from gradus_paper.row import TIMING, Row
from gradus_paper.runs import run_tasks
from gradus_paper.store import Store
from gradus_paper.tasks import Design, Task

NEVER_FITS = Settings(loss="lgh", max_iter=300_000, n_restarts=0, gates_per_target=5)
KERNEL = "from gradus._core.kernels.compile import compiled\n@compiled\ndef add(a, b):\n    return a + b\nprint(add(2, 3))\n"


def tasks_of(count: int) -> list[Task]:
    """Tasks of some hundredths of a second each."""
    return [Task(Design("cpar7", settings=NEVER_FITS), 100, sample) for sample in range(count)]


def rows_in(folder: Path) -> list[dict[str, Any]]:
    return Store(folder).table().drop_columns(list(TIMING)).sort_by("task").to_pylist()


class InThisProcess:
    """An engine without workers."""

    name = "this process"

    def __init__(self) -> None:
        self.left: dict[bytes, Any] = {}

    def run(self, tasks: Sequence[Task], begun: Any) -> Iterator[list[Row]]:
        """Run every task once."""
        for task in tasks:
            yield run_batch(TaskBatch((task,)))


def undisturbed(count: int, folder: Path) -> list[dict[str, Any]]:
    run_tasks(tasks_of(count), Store(folder / "undisturbed"), InThisProcess())
    return rows_in(folder / "undisturbed")


def attack_main(times: int, folder: Path) -> dict[str, Any]:
    """Kill the main process as soon as it has written something more, and a moment later."""
    count, dice, place = 20 * times, random.Random(15), folder / "killed"
    command = [sys.executable, __file__, "run", "--times", str(count), "--folder", str(place)]
    hits = 0
    while hits < times:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        before = len(Store(place))
        while len(Store(place)) <= before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(dice.uniform(0, 0.2))
        if process.poll() is not None:
            break  # nothing was left to kill
        process.kill()
        process.wait()
        hits += 1
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {"kills": hits, "rows": count, "identical": rows_in(place) == undisturbed(count, folder)}


def attack_workers(times: int, folder: Path) -> dict[str, Any]:
    """Kill a process of joblib at random moments, until enough have died; the run goes on by itself."""
    return _kill_workers(times, folder, LocalEngine(2), b"popen_loky_posix")


def attack_cluster(times: int, folder: Path) -> dict[str, Any]:
    """Kill a worker of a Dask cluster on this machine at random moments, until enough have died."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        return _kill_workers(times, folder, DaskEngine(client), b"spawn_main")


def _kill_workers(times: int, folder: Path, engine: Engine, sign: bytes) -> dict[str, Any]:
    """Kill workers while a run goes on; where it ends with its sentence, the same command continues it."""
    count, dice, kills, over = 40 * times, random.Random(16), [0], threading.Event()
    parts = folder / "killed" / "parts"

    def kill() -> None:
        while kills[0] < times and not over.is_set():
            # Most kills come after new rows, the others soon after the last kill, while the next worker starts.
            before, after_rows = set(parts.glob("*")), dice.random() < 0.7
            while after_rows and set(parts.glob("*")) == before and not over.wait(0.1):
                pass
            over.wait(dice.uniform(0, 1))
            children = _children(os.getpid(), sign)
            if children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(dice.choice(children), signal.SIGKILL)
                    kills[0] += 1

    run_module.FLUSH_SECONDS = 0.1
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    ended, failed = 0, None
    while failed is None:
        try:
            failed = run_tasks(tasks_of(count), Store(folder / "killed"), engine).failed
        except WorkerError:
            ended += 1
    over.set()
    same = rows_in(folder / "killed") == undisturbed(count, folder)
    return {"kills": kills[0], "rows": count, "failed": failed, "continued by hand": ended, "identical": same}


def _children(parent: int, sign: bytes) -> list[int]:
    """Return the workers of a process, which have a sign in their command line, without helpers that Python itself starts."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            status = (entry / "status").read_text()
            if f"\nPPid:\t{parent}\n" in status and sign in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def attack_caches(times: int, folder: Path) -> dict[str, Any]:
    """Damage the cached code of a kernel and run it in a process of its own."""
    script, cache, dice, right = folder / "kernel.py", folder / "cache", random.Random(17), 0
    script.write_text(KERNEL)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}

    def answer() -> bool:
        words = [sys.executable, str(script)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
        return (done.returncode, done.stdout) == (0, "5\n")

    answer()
    (path,) = (cache / "gradus-kernels").glob("*.nbc")
    whole = path.read_bytes()
    for _ in range(times):
        damaged = bytearray(whole)
        place, kind = dice.randrange(len(whole)), dice.randrange(5)
        if kind == 0:
            damaged[place] ^= 1 << dice.randrange(8)
        elif kind == 1:
            damaged[place : place + 4096] = bytes(len(damaged[place : place + 4096]))
        elif kind == 2:
            del damaged[place:]
        elif kind == 3:
            damaged[place : place + 16] = dice.randbytes(16)
        else:
            damaged[place:place] = damaged[:100]
        path.write_bytes(damaged)
        right += answer()
    return {"damages": times, "right": right, "identical": right == times}


def attack_clock(times: int, folder: Path) -> dict[str, Any]:
    """Let the wall clock jump while tasks run, circuits are learned under a limit, and cached kernels get odd dates."""
    expected = undisturbed(times, folder)
    gradus.search(*_noise(), order=None, max_iter=10**15, time_limit=0.1)  # compiles
    plain, dice, jumps = time.time, random.Random(18), [0]

    def jumping() -> float:
        jumps[0] += 1
        return plain() + dice.uniform(-86_400, 86_400)

    time.time = jumping
    try:
        run_tasks(tasks_of(times), Store(folder / "jumps"), InThisProcess(), callback=lambda _: bool(time.time() < 0))
        began = time.process_time()
        gradus.search(*_noise(), order=None, max_iter=10**15, time_limit=1.0)
        took = time.process_time() - began
    finally:
        time.time = plain
    return {
        "jumps": jumps[0],
        "rows": times,
        "limit_of_1_s_took": took,
        "identical": rows_in(folder / "jumps") == expected and took < 1.5,
    }


def attack_compiler(times: int, folder: Path) -> dict[str, Any]:
    """Send Ctrl-C to a verb that finds no compiled kernel, at random moments of its first seconds."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored, and children inherit that
    X, Y = _noise()
    write_table(folder / "d.csv", X, Y, [f"x{k}" for k in range(X.shape[1])], [f"z{k}" for k in range(Y.shape[1])])
    verbs = ("learn d.csv --targets z0,z1,z2,z3 -o m.json", "curriculum d.csv --targets z0,z1,z2,z3")
    verbs += ("infer d.csv -o out", "bench add6/80 --seconds 1000")
    dice, used, held = random.Random(19), [], 0
    for number in range(times):
        cache, said = folder / f"cache-{number}", folder / "said.txt"
        words = [sys.executable, "-m", "gradus", *verbs[number % len(verbs)].split()]
        with open(said, "w") as file:
            child = subprocess.Popen(
                words, cwd=folder, env=os.environ | {"NUMBA_CACHE_DIR": str(cache)}, stdout=file, stderr=file
            )
        moment = dice.uniform(1, 10)
        while _cpu_seconds(child.pid) < moment:
            time.sleep(0.01)
        sent = _cpu_seconds(child.pid)
        child.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        used.append(usage.ru_utime + usage.ru_stime - sent)
        text = said.read_text()
        held += (
            child.returncode in (0, 130)
            and "Traceback" not in text
            and any(word in text for word in ("stopped", "interrupted"))
        )
    slowest, mean = max(used), sum(used) / times
    return {"interrupts": times, "held": held, "mean_cpu_s": mean, "slowest_cpu_s": slowest, "identical": held == times}


def _cpu_seconds(process: int) -> float:
    """Return the CPU time of a process; infinite once it has ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return math.inf if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _noise() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.random((500, 50)) < 0.5, rng.random((500, 4)) < 0.5


def attack_disk(folder: Path) -> dict[str, Any]:
    """Let the k-th write of a run fail, for every k, and run it again on a disk with room."""
    expected, plain, run_module.FLUSH_SECONDS = undisturbed(12, folder), os.fsync, 0.0
    held = writes = 0
    while True:
        place, seen = folder / f"full-{writes}", [0]

        def write(handle: int, seen: list[int] = seen, full_after: int = writes) -> None:
            seen[0] += 1
            if seen[0] > full_after:
                raise OSError(errno.ENOSPC, "No space left on device")
            plain(handle)

        os.fsync = write
        said = ""
        try:
            run_tasks(tasks_of(12), Store(place), InThisProcess())
        except GradusError as error:
            said = str(error)
        finally:
            os.fsync = plain
        if seen[0] <= writes:
            return {"writes": writes, "held": held, "identical": held == writes}
        run_tasks(tasks_of(12), Store(place), InThisProcess())
        held += "\n" not in said and rows_in(place) == expected
        writes += 1


ATTACKS: dict[str, Callable[[int, Path], dict[str, Any]]] = {
    "main": attack_main,
    "workers": attack_workers,
    "cluster": attack_cluster,
    "caches": attack_caches,
    "clock": attack_clock,
    "compiler": attack_compiler,
    "disk": lambda times, folder: attack_disk(folder),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=(*ATTACKS, "run"))
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--folder", type=Path, help="for 'run', which the attack on the main process starts")
    given = parser.parse_args()
    if given.what == "run":
        run_module.FLUSH_SECONDS = 0.1
        run_tasks(tasks_of(given.times), Store(given.folder), LocalEngine(1))
        return 0
    with tempfile.TemporaryDirectory() as name:
        outcome = ATTACKS[given.what](given.times, Path(name))
    print(json.dumps({"attack": given.what, **outcome}))
    return int(not outcome["identical"])


if __name__ == "__main__":
    sys.exit(main())
