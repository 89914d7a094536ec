"""Damage one valid file per reader in many ways: ``python benchmarks/fuzz.py --mutants 2000``.

Whatever a file holds, a reader answers with a result or a `GradusError`, within two seconds; anything else is printed with
the seed that shows it again, and the exit code is 1. ``benchmarks/fuzz_paper.py`` does the same for the files of gradus-paper.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import io
import json
import random
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import gradus
from gradus import problems
from gradus._formats.registry import READ
from gradus._formats.table_files import READERS, WRITERS, read_table, write_table
from gradus.errors import GradusError
from gradus.genes._edges import EdgePrior, known_edges
from gradus.genes._series import read_series
from gradus.genes._transitions import transitions

SECONDS = 2.0

TEXTS = {
    "arff": b"@relation 'r: -C 1'\n@attribute z {0,1}\n@attribute 'a b' numeric\n@data\n0,1\n1,'0'\n",
    "arff sparse": b"@relation r\n@attribute z {0,1}\n@attribute y {0,1}\n@data\n{0 1}\n{0 1, 1 1}\n",
    "pla": b".i 3\n.o 2\n.ilb a b c\n.ob y z\n.type fdr\n.p 3\n01- 10\n111 11\n000 01\n.e\n",
    "bnet": b'targets, factors\n# gradus-name: a_ stands for "a*"\na_, !b & (c | d) | 1\nb, (a_ ^ c)\nd, d\n',
    "blif": b".model m\n.inputs a b\n.outputs y z\n.names a b y\n1- 1\n-1 1\n.names a z\n0 1\n.end\n",
    "aag": b"aag 4 2 0 2 2\n2\n4\n8\n7\n6 4 2\n8 7 3\ni0 a\no1 z\nc\nremark\n",
    "aig": b"aig 4 2 0 2 2\n8\n7\n\x02\x02\x01\x04i0 a\no1 z\n",
    "csv": b'a,b,"c d"\n0,1,1\n1,"0",0\n0,1,true\n',
    "series": b"series\ta\tb\nu\t0\t1\nu\t1\t1\nv\t1\t0\nv\t0\t0\n",
    "held": b"series,time,held,a,b\nu,0,a=0,0,1\nu,1,a=0,0,0\nv,0,,1,0\nv,0.5,,0,0\nv,1,,1,1\n",
    "mulan": b'<?xml version="1.0"?>\n<!-- ok --><labels xmlns="urn:l"><label name="a b"><label name="z"/></label></labels>',
    "edges": b'regulator,target\na,b\n"b c",a\n',
    "prior": b"regulator,target,probability,sign\na,b,0.8,+\nb,a,,-\nb,b,1,unknown\n",
}
TOKENS = (
    b"9" * 5000,
    b"[" * 3000,
    b"{" * 3000,
    b"(" * 3000,
    b"-" * 3000,
    b"<!--" * 500,
    b"\\" * 999,
    b"'" * 999,
    b"a,b " * 999,
)
TOKENS += (b"\xef\xbb\xbf", b"\0", b"\r", b"\xff", b"NaN", b"1e999", b"<!DOCTYPE x>", b'"\\ud800"', b"null", b"true")


class Reader(NamedTuple):
    """A file that is read, and how; `place` turns the folder and the content into the path to read."""

    name: str
    content: bytes
    place: Callable[[Path, bytes], Path]
    read: Callable[[Path], Any]


def named(name: str) -> Callable[[Path, bytes], Path]:
    return lambda folder, content: folder / name


def _as_series(path: Path) -> Any:
    found = []
    for layout in ("states", "genes"):
        try:
            found.append(transitions(read_series(path, layout=layout), on_conflict="ignore"))
        except GradusError:
            if layout == "genes" and not found:
                raise
    return found


def _with_labels(path: Path) -> Any:
    table = path.with_name("labelled.arff")
    table.write_bytes(TEXTS["arff"])
    return read_table(table, labels=path)


def _used(path: Path) -> Any:
    """Do with a model what people do: a file that is read must not fail later."""
    model = gradus.load(path)
    row = {column.name: [1.5 if column.kind == "above" else "v"] for column in model.features.columns}
    model.predict(row)
    model.predict_proba(row)
    model.save_page(path.with_suffix(".html"))
    gradus.export(model, path.with_suffix(".v"))
    model.save(path.with_name("again.json"))
    return gradus.load(path.with_name("again.json")).rules()


def _last_target(path: Path) -> Any:
    table = read_table(path)
    return table.split(list(table.columns[-1:]))


def readers() -> list[Reader]:
    """Every reader with one valid file."""
    tables = [name for name in TEXTS if name.split()[0] in READERS.values()]
    found = [Reader(name, TEXTS[name], named(f"t.{name.split()[0]}"), _last_target) for name in tables]
    found += [Reader(name, TEXTS[name], named(f"t.{name}"), _examples) for name in _circuits() if name in TEXTS]
    found += [Reader("series", TEXTS["series"], named("t.tsv"), _as_series)]
    found += [Reader("held", TEXTS["held"], named("t.csv"), _as_series)]
    found += [Reader("prior", TEXTS["prior"], named("t.csv"), lambda path: EdgePrior(("a", "b"), known_edges(path)))]
    found += [Reader("prior rules", TEXTS["bnet"], named("t.bnet"), known_edges)]
    found += [Reader("mulan", TEXTS["mulan"], named("t.xml"), _with_labels)]
    found += [Reader("edges", TEXTS["edges"], named("t.csv"), known_edges)]
    with tempfile.TemporaryDirectory() as folder:
        found += _made_readers(Path(folder))
    return found


def _circuits() -> list[str]:
    """Return the formats that circuits are read from; one without a text here is attacked in a file that Gradus writes."""
    return [extension[1:] for extension in READ if extension != ".json"]


def _examples(path: Path) -> Any:
    return problems.from_file(path).examples(1, 0, n_test=1)


def _made_readers(folder: Path) -> Iterator[Reader]:
    """Readers of files that Gradus itself writes."""
    X = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 0]], dtype=bool)
    for name, extension in {name: extension for extension, name in WRITERS.items() if name not in TEXTS}.items():
        if name != "parquet" or importlib.util.find_spec("pyarrow"):
            path = folder / f"t{extension}"
            write_table(path, X, X[:, ::-1], ["a", "b", "c"], ["x", "y", "z"])
            yield Reader(name, path.read_bytes(), named(path.name), _last_target)
    path = folder / "t.xlsx"
    frame = pd.DataFrame({"a b": [0.5, 1, 2], "colour": ["red", None, "blue"], "z": [0, 1, 1]})
    frame.to_excel(path, index=False)
    yield Reader("excel", path.read_bytes(), named(path.name), lambda path: read_table(path).text("colour"))
    path = folder / "t.json"
    frame = pd.DataFrame({"x0": [1, 2, 3, 4] * 5, "x1": ["u", "v"] * 10})
    classes = frame.x0.map({1: "no", 2: "yes", 3: "maybe", 4: "no"}).rename("y")
    gradus.BooleanNetworkClassifier(n_circuits=2).fit(frame, classes).save(path)
    yield Reader("model", path.read_bytes(), named(path.name), _used)
    for name in _circuits():
        if name not in TEXTS:
            path = folder / f"t.{name}"
            gradus.export(gradus.Network(2, [[0, 1], [2, 2]], [3, 2], input_names=["a", "b*"]), path)
            yield Reader(name, path.read_bytes(), named(path.name), _examples)
    path = folder / "network.json"
    gradus.Network(2, [[0, 1], [2, 2]], [3, 2], [6, 8]).save(path)
    yield Reader("network", path.read_bytes(), named(path.name), gradus.Network.load)


def mutant(content: bytes, dice: random.Random) -> bytes:
    """Cut, repeat, overwrite or insert something; in an archive mostly inside a member, so that the checksums hold."""
    if content[:2] == b"PK" and dice.random() < 0.7:
        return _repacked(content, dice)
    data = bytearray(content)
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        place, length = dice.randrange(len(data) + 1), dice.choice([1, 1, 2, 8, 40])
        kind = dice.choice([0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6, 6, 7])
        if kind == 0:
            del data[place:]
        elif kind == 1:
            del data[place : place + length]
        elif kind == 2:
            data[place:place] = data[place : place + length] * dice.choice([1, 1, 3, 1000])
        elif kind == 3:
            data[place : place + length] = dice.randbytes(length)
        elif kind == 4:
            data[place : place + 1] = bytes([dice.choice(b"9-\n\"',{(\\\0\xff.")])
        elif kind == 5:
            data[place:place] = str(dice.choice([-1, 0, 2**31, 2**63, 10**30])).encode()
        elif kind == 6 and data:
            data[place % len(data)] ^= 1 << dice.randrange(8)
        else:
            data[place:place] = dice.choice(TOKENS)
    return bytes(data)


def _repacked(content: bytes, dice: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = dice.choice(sorted(members))
    head = members[chosen].index(b"\n") + 1 if b"\n" in members[chosen] else 0
    if dice.random() < 0.5:  # the header, which says how to read the rest
        members[chosen] = mutant(members[chosen][:head] or b"x", dice) + members[chosen][head:]
    else:
        members[chosen] = members[chosen][:head] + mutant(members[chosen][head:] or b"x", dice)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return sink.getvalue()


class Fault(NamedTuple):
    """A mutant that got another answer, or a late one."""

    reader: str
    seed: int
    what: str


def attack(reader: Reader, seeds: range, folder: Path) -> tuple[collections.Counter[str], float, list[Fault]]:
    """Return how often each kind of answer came, the longest CPU time of one, and the faults."""
    answers: collections.Counter[str] = collections.Counter()
    longest, faults = 0.0, []
    for seed in seeds:
        content = mutant(reader.content, random.Random(f"{reader.name} {seed}"))
        path = reader.place(folder, content)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        began = time.process_time()
        try:
            reader.read(path)
            answers["read"] += 1
        except GradusError as error:
            answers["refused"] += 1
            if not str(error):
                faults.append(Fault(reader.name, seed, "an error without a message"))
        except Exception as error:
            answers["faults"] += 1
            faults.append(Fault(reader.name, seed, f"{type(error).__name__}: {str(error)[:100]}"))
        took = time.process_time() - began
        longest = max(longest, took)
        if took > SECONDS:
            faults.append(Fault(reader.name, seed, f"took {took:.1f} s"))
        path.unlink()
    return answers, longest, faults


def main(readers: Iterable[Reader]) -> int:
    """Attack the readers that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--mutants", type=int, default=2000, help="files per reader")
    parser.add_argument("--first", type=int, default=1_000_000, help="first seed; the tests use those from 0")
    parser.add_argument("--reader", help="attack only this one")
    given = parser.parse_args()
    total: list[Fault] = []
    for reader in readers:
        if given.reader in (None, reader.name):
            with tempfile.TemporaryDirectory() as folder:
                reader.read(_whole(reader, Path(folder)))
                answers, longest, faults = attack(reader, range(given.first, given.first + given.mutants), Path(folder))
            total += faults
            print(json.dumps({"reader": reader.name, **answers, "longest_s": round(longest, 3)}), flush=True)
    for fault in total:
        print(*fault)
    return int(bool(total))


def _whole(reader: Reader, folder: Path) -> Path:
    path = reader.place(folder, reader.content)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(reader.content)
    return path


if __name__ == "__main__":
    sys.exit(main(readers()))
