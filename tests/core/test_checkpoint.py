"""`Checkpoint`: what is finished is not done again, the result is the same, and files of other work are refused."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus._core.checkpoint import Checkpoint
from gradus._core.plain import digest_of, plain, restored
from gradus._core.run import Run
from gradus.errors import FormatError


class Pair(NamedTuple):
    name: str
    values: object


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


def opened(path, data="data", wait=0):
    return Checkpoint(path, lambda: (data, "settings"), wait)


class Work:
    """Some pieces in others; `fuel` says after how many of the inner ones the work is killed."""

    def __init__(self, checkpoint, shape, fuel=None, n_jobs=1):
        self.run, self.shape, self.fuel, self.done = Run(checkpoint=checkpoint, n_jobs=n_jobs), shape, fuel, []

    def inner(self, outer, number):
        if len(self.done) == self.fuel:
            raise Killed
        self.done.append((outer, number))
        return [outer, number, 10 * outer + number]

    def outer(self, outer):
        pieces = [
            self.run.recall(lambda k=k: digest_of("inner", outer, k), lambda k=k: self.inner(outer, k))
            for k in range(self.shape[outer])
        ]
        return [*pieces, len(pieces)]

    def whole(self):
        return self.run.map(
            lambda number: self.run.recall(lambda: digest_of("outer", number), lambda: self.outer(number)),
            range(len(self.shape)),
        )


@given(st.lists(st.integers(0, 4), max_size=5), st.lists(st.integers(0, 6), max_size=4), st.sampled_from([1, 2]))
def test_work_killed_anywhere_comes_to_the_same_and_no_piece_is_done_twice(tmp_path_factory, shape, kills, n_jobs):
    path = tmp_path_factory.mktemp("c") / "work.checkpoint"
    naive = [[[o, k, 10 * o + k] for k in range(size)] + [size] for o, size in enumerate(shape)]
    done = []
    for fuel in [*kills, None]:
        checkpoint = opened(path)
        save_always(checkpoint)
        work, complete = Work(checkpoint, shape, fuel, n_jobs), False
        with contextlib.suppress(Killed):
            assert work.whole() == naive
            complete = True
        done += work.done
        if complete:
            checkpoint.remove()
            break
    if n_jobs == 1:  # other threads do not die with the one that is killed here
        assert sorted(done) == [(o, k) for o, size in enumerate(shape) for k in range(size)]
    assert not list(path.parent.iterdir())


def save_always(checkpoint):
    """Write every piece as soon as it is finished."""
    save = checkpoint.save

    def save_again():
        save()
        checkpoint._next = 0

    checkpoint._next, checkpoint.save = 0, save_again


def test_pieces_inside_a_finished_one_are_dropped(tmp_path):
    checkpoint = opened(tmp_path / "c")
    Work(checkpoint, [3, 2]).whole()
    assert len(checkpoint._pieces) == 2


def test_files_of_others_with_a_similar_name_are_left_alone(tmp_path):
    (tmp_path / "c.bak").write_text("mine")
    with opened(tmp_path / "c") as checkpoint:
        Work(checkpoint, [2]).whole()
    checkpoint.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["c.bak"]


def test_nothing_is_written_before_its_time_and_a_finished_file_is_removed(tmp_path):
    with opened(tmp_path / "c", wait=60) as checkpoint:
        Work(checkpoint, [2]).whole()
    assert not list(tmp_path.iterdir())
    with opened(tmp_path / "c") as checkpoint:
        Work(checkpoint, [2]).whole()
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    checkpoint.remove()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("what", "expected"), [("data", "other data"), ("sum", "damaged"), ("version", "other versions")])
def test_a_file_of_other_work_is_refused_with_a_sentence(tmp_path, what, expected):
    path = tmp_path / "c"
    with opened(path) as checkpoint:
        Work(checkpoint, [2]).whole()
    head, body = path.read_text().split("\n", 1)
    path.write_text(json.dumps({**json.loads(head), what: "else"}) + "\n" + body)
    with pytest.raises(FormatError, match=f"{expected}.*remove it"):
        opened(path)


@pytest.mark.parametrize("text", ["", "\n", "{}\n", "[1]\nx", "\x80"])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "c"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(FormatError):
        opened(path)


def test_a_piece_that_this_work_cannot_have_is_refused(tmp_path):
    run = Run(checkpoint=opened(tmp_path / "c"))
    run.recall(lambda: "a", lambda: [1, 2])
    with pytest.raises(FormatError, match="does not belong"):
        run.recall(lambda: "a", lambda: [1], fits=lambda result: len(result) == 1)


def test_time_that_was_spent_counts_for_a_limit(tmp_path):
    with opened(tmp_path / "c") as checkpoint:
        run = Run(checkpoint=checkpoint)
        run.recall(lambda: "a", lambda: time.sleep(0.3))
    run = Run(10, checkpoint=opened(tmp_path / "c"))
    part = run.part(seconds=5)
    run.recall(lambda: "a", lambda: pytest.fail("done already"))
    assert run.seconds_left() < 9.75
    assert part.seconds_left() < 4.75
    assert run.seconds() > 0.29


def test_what_was_cut_short_is_not_kept(tmp_path):
    checkpoint = opened(tmp_path / "c")
    run = Run(callback=lambda progress: True, checkpoint=checkpoint)
    run.recall(lambda: "a", lambda: run.interrupt())
    assert not checkpoint._pieces


def killing(run, folder, number):
    """Do an item of two pieces; the second one of item 1 kills its worker once."""

    def second():
        mark = Path(folder, "killed")
        if number == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return run.recall(lambda: f"a{number}", lambda: 10 * number) + run.recall(lambda: f"b{number}", second)


def test_after_a_worker_has_died_the_same_call_goes_on(tmp_path):
    with joblib.parallel_config(backend="loky"):
        with opened(tmp_path / "c") as checkpoint, pytest.raises(Exception, match=r"terminated|killed"):
            Run(n_jobs=2, checkpoint=checkpoint).map(lambda number: killing(Run(), tmp_path, number), range(3))
        run = Run(n_jobs=2, checkpoint=opened(tmp_path / "c"))
        assert run.map(lambda number: killing(run, tmp_path, number), range(3)) == [0, 11, 22]


@pytest.mark.parametrize("by", ["another worker", "the next call"])
def test_what_a_worker_had_finished_when_it_died_is_not_done_again(tmp_path, monkeypatch, by):
    monkeypatch.setattr("gradus._core.checkpoint.SECONDS_PER_SAVE", 0.0)
    checkpoint, done = opened(tmp_path / "c"), []

    def item(killed):
        run = Run()
        run.recall(lambda: "a", lambda: done.append("a"))
        if killed:
            raise Killed
        run.recall(lambda: "b", lambda: done.append("b"))

    parcel = checkpoint.parcel(0, [], 0.0)
    with pytest.raises(Killed):
        parcel.run(item, True)
    if by == "another worker":
        checkpoint.take(parcel, parcel.run(item, False)[1])
    else:
        checkpoint = opened(tmp_path / "c")
        run = Run(checkpoint=checkpoint)
        run.recall(lambda: "a", lambda: done.append("a"))
        run.recall(lambda: "b", lambda: done.append("b"))
    assert done == ["a", "b"]
    assert [path.name for path in tmp_path.iterdir()] == ["c"]  # what the worker wrote is in it


def test_finished_items_are_not_sent_to_processes_again(tmp_path):
    def work(run):
        return run.map(lambda number: run.recall(lambda: f"a{number}", lambda: [os.getpid(), number]), range(4))

    with joblib.parallel_config(backend="loky"):
        with opened(tmp_path / "c") as checkpoint:
            first = work(Run(n_jobs=2, checkpoint=checkpoint))
        assert work(Run(n_jobs=2, checkpoint=opened(tmp_path / "c"))) == first
    assert os.getpid() not in {process for process, _ in first}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner) | st.builds(Pair, st.text(), inner)
    ),
)


@given(VALUES)
def test_values_come_back_as_they_were(value):
    assert restored(json.loads(json.dumps(plain(value))), [Pair]) == value


@pytest.mark.parametrize("dtype", ["bool", "u1", "<i4", ">i4", "u8", "f4", "f8"])
def test_arrays_come_back_as_they_were(dtype):
    array = np.arange(12).reshape(3, 4)[:, ::2].astype(dtype)
    back = restored(json.loads(json.dumps(plain(array))), [])
    assert back.dtype == array.dtype.newbyteorder("=")
    assert np.array_equal(back, array)


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "Other", "fields": []},
        {"array": "AAAA", "type": "O", "shape": [1]},
        {"array": "AAAA", "type": "u1", "shape": [4]},
        {"array": "AAAA", "type": "u1", "shape": [-3]},
        {"pairs": [1]},
        {},
    ],
)
def test_anything_else_raises(document):
    with pytest.raises(Exception):  # noqa: B017 - of many kinds; readers work inside a guard
        restored(document, [Pair])


def test_digests_tell_apart():
    values = [
        1,
        1.0,
        "1",
        [1],
        [[1]],
        (1, 2),
        [12],
        np.array([1]),
        np.array([1.0]),
        np.array(["1"]),
        np.array([[1]]),
        {"a": 1},
        True,
    ]
    assert len({digest_of(value) for value in values}) == len(values)
    assert digest_of("a", "b") != digest_of("ab")


@given(st.lists(st.one_of(st.floats(), st.integers(), st.text(), st.booleans(), st.none())), st.booleans())
def test_lists_of_plain_values_have_the_digest_of_their_values_one_by_one(values, is_tuple):
    state = hashlib.blake2b(digest_size=16)
    state.update(f"[{len(values)}".encode())
    for value in values:
        state.update(f"{value!r};".encode("utf-8", "backslashreplace"))
    assert digest_of(tuple(values) if is_tuple else values) == state.hexdigest()


SCRIPT = """
import sys, gradus
adder = gradus.problems.load("add4")
rows, _ = adder.sample(48, seed=1)
result = gradus.learn(adder.X[rows], adder.Y[rows], checkpoint=sys.argv[1])
print([circuit.to_json() for circuit in result.circuits], result.order)
"""


def test_a_call_killed_and_made_again_learns_the_same_circuits(tmp_path):
    command = [sys.executable, "-c", SCRIPT]
    whole = subprocess.run([*command, str(tmp_path / "a")], capture_output=True, check=True).stdout
    path = tmp_path / "b"
    killed = subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE)
    end = time.monotonic() + 60
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    killed.kill()
    killed.communicate()
    assert path.exists()
    assert subprocess.run([*command, str(path)], capture_output=True, check=True).stdout == whole
    assert not list(tmp_path.iterdir())
