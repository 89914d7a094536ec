"""Fill the disk at every write of every verb that writes: ``python benchmarks/full_disk.py``.

For each verb the k-th write fails, and all after it, for every k there is. The verb must end with one sentence and exit
code 2, leave nothing half written, and the same command must give all files once there is room. The exit code is 1 if it
does not.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradus._cli.main import run

TABLE = "a,b,sum,carry\n0,0,0,0\n0,1,1,0\n1,0,1,0\n1,1,0,1\n"
SERIES = "a,b,c\n0,0,1\n1,0,0\n1,1,1\n0,1,0\n0,0,1\n"
STUDY = """from gradus_paper import Study, grid
study = Study("Small", [grid("cpar3", [4, 6], samples=1, loss="l1")])
"""
VERBS = {
    "learn": "learn d.csv --targets sum,carry --noise 0 --cv 0 --n-circuits 1 -o m.json",
    "predict": "predict model.json d.csv -o p.csv",
    "export": "export model.json c.v",
    "draw": "draw model.json c.svg",
    "problems": "problems write add3 t.csv --examples 9 --test rest.csv",
    "infer": "infer s.csv -o rules",
}
"""The verbs that write, each with a command that is quick."""
PAPER_VERBS = {"reproduce": "reproduce small.py --n-jobs 1 --no-report -o out", "report": "report done"}
"""The same for gradus-paper."""


class Trial(NamedTuple):
    """How a verb ended when the disk was full from some write on."""

    code: int
    said: str
    writes: int
    """Writes that were begun, the failed ones included."""


def prepare(folder: Path, verbs: Iterable[str]) -> None:
    """Write what the commands of these verbs read."""
    for name, text in {"d.csv": TABLE, "s.csv": SERIES, "small.py": STUDY}.items():
        (folder / name).write_text(text)
    if not {"predict", "export", "draw"}.isdisjoint(verbs):
        _make(folder, VERBS["learn"].replace("m.json", "model.json"))
    if "report" in verbs:
        _make(folder, PAPER_VERBS["reproduce"].replace("out", "done"))


def _make(folder: Path, words: str) -> None:
    with contextlib.chdir(folder):
        code, said, _ = _run(words, full_after=None)
    if code:
        raise RuntimeError(said)


class InThisProcess:
    """An engine of gradus-paper without workers, whose start would take most of the time."""

    name = "this process"

    def __init__(self) -> None:
        self.left: dict[bytes, Any] = {}

    def run(self, tasks: Sequence[Any], begun: Any) -> Iterator[list[Any]]:
        """Run every task once."""
        from gradus_paper.execution import TaskBatch, run_batch

        for task in tasks:
            yield run_batch(TaskBatch((task,)))


@contextlib.contextmanager
def _disk(full_after: int | None) -> Iterator[list[int]]:
    """Let every write after some fail: `os.fsync` ends each file that is written whole, `open` begins the others."""
    writes, fsync, open_ = [0], os.fsync, builtins.open

    def count() -> None:
        writes[0] += 1
        if full_after is not None and writes[0] > full_after:
            raise OSError(errno.ENOSPC, "No space left on device")

    def flush(handle: int) -> None:
        if stat.S_ISREG(os.fstat(handle).st_mode):  # a folder is flushed too, which not every system can
            count()
        fsync(handle)

    def open_file(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if mode[0] in "aw" and Path(str(file)).name == "runs.jsonl":
            count()
        return open_(file, mode, *rest, **more)

    os.fsync, builtins.open = flush, open_file
    try:
        yield writes
    finally:
        os.fsync, builtins.open = fsync, open_


def _run(words: str, full_after: int | None) -> Trial:
    said = io.StringIO()
    with _disk(full_after) as writes, contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = run(words.split())
    return Trial(code, said.getvalue(), writes[0])


def _files(folder: Path) -> set[str]:
    """Return the files in a folder; parts of results count as one, since their number and digests depend on times."""
    names = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return {re.sub(r"part-\d+-\w+", "part", name) for name in names}


def attack(verb: str, template: Path, place: Callable[[], Path], most: int = 1000) -> tuple[int, list[str]]:
    """Return how many writes a verb makes, and what went wrong when they failed.

    Parameters
    ----------
    template : Path
        A folder that `prepare` has filled.
    place : callable
        Returns a new empty folder.
    most : int
        How many of the writes to let fail, the first and the last among them.
    """

    def trial(folder: Path, full_after: int | None) -> Trial:
        with contextlib.chdir(folder):
            return _run((VERBS | PAPER_VERBS)[verb], full_after)

    def fresh() -> Path:
        return Path(shutil.copytree(template, place(), dirs_exist_ok=True))

    whole = fresh()
    writes = trial(whole, None).writes
    names = _files(whole)
    faults = []
    for k in sorted({round(share * (writes - 1) / max(most - 1, 1)) for share in range(most)}):
        folder = fresh()
        code, said, _ = trial(folder, k)
        if code != 2 or said.count("gradus: ") != 1 or "Traceback" in said or not said.endswith("\n"):
            faults.append(f"{verb}, write {k}: exit code {code}, {said!r}")
        if extra := _files(folder) - names:
            faults.append(f"{verb}, write {k}: left {sorted(extra)}")
        again = trial(folder, None)
        if again.code or _files(folder) != names:
            faults.append(f"{verb}, write {k}: the same command did not mend it: {again.said!r}")
    return writes, faults


def main() -> int:
    from gradus_paper import engines

    engines.choose_engine = lambda **_: InThisProcess()
    total = 0
    for verb in (*VERBS, *PAPER_VERBS):
        with tempfile.TemporaryDirectory() as name:
            template = Path(name) / "template"
            template.mkdir()
            prepare(template, [verb])
            writes, faults = attack(verb, template, lambda: Path(tempfile.mkdtemp(dir=name)))
        print(json.dumps({"verb": verb, "writes": writes, "faults": len(faults)}), flush=True)
        print("".join(f"{fault}\n" for fault in faults), end="")
        total += len(faults)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
