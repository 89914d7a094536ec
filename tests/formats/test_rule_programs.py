"""Rules as programs: Python, SQL and C say of every row what the circuit says, with nothing of ours around them."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from circuits import CIRCUITS, awkward_names

import gradus
from gradus import BooleanNetworkClassifier, Model
from gradus._tables.cells import read_cells

N = 150
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def awkward_table() -> pd.DataFrame:
    """Numbers, dates, categories and missing cells, under names that no language likes."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            'size "cm"': rng.normal(5, 2, N).round(2).astype(object),
            "int": rng.integers(0, 9, N),
            "day": [f"2013-0{m}-{d:02d}" for m, d in zip(rng.integers(1, 5, N), rng.integers(1, 28, N), strict=True)],
            "Größe; --": rng.choice(["it's", 'a "b"', "x\\y", "käse", "1.0", "NA", "??/"], N),
            "bit": rng.integers(0, 2, N),
        }
    )
    table.loc[::7, 'size "cm"'] = None
    table.loc[::11, "day"] = None
    table.loc[::9, "Größe; --"] = None
    return table


def labels_of(table: pd.DataFrame) -> list[str]:
    size = pd.to_numeric(table['size "cm"'])
    word = table["Größe; --"].fillna("")
    found = np.where((size > 5) ^ (word == "it's"), "o'k", np.where(table["day"].fillna("") > "2013-02-20", 'no "', "*/ ?"))
    return np.where(size.isna() & (table["int"] > 3), "o'k", found).tolist()


def answers_of_python(model: Model, table: pd.DataFrame, folder: Path) -> list:
    space: dict = {"__builtins__": __builtins__}
    gradus.export(model, folder / "rule.py")
    text = (folder / "rule.py").read_text(encoding="utf-8")
    assert "import" not in text.replace("nothing to import", "")
    exec(compile(text, "rule.py", "exec"), space)
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return [space["predict"](row) for row in rows]


def answers_of_sql(model: Model, table: pd.DataFrame, folder: Path, *, as_text: bool = False) -> list:
    gradus.export(model, folder / "rule.sql")
    with sqlite3.connect(":memory:") as base:
        frame = table.astype(object).where(table.notna(), None)
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame)
        base.execute(f"CREATE TABLE rows ({names})")
        cells = [[None if cell is None else str(cell) if as_text else cell for cell in row] for row in frame.values.tolist()]
        base.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(table.columns))})", cells)
        return [row[-len(model.targets) :] for row in base.execute((folder / "rule.sql").read_text(encoding="utf-8"))]


def c_literal(value: str) -> str:
    return '"' + "".join(f"\\{byte:03o}" for byte in value.encode()) + '"'


def answers_of_c(model: Model, table: pd.DataFrame, folder: Path) -> list:
    gradus.export(model, folder / "rule.c")
    program = model.program()
    columns = []
    for column in program.columns:
        own = next(c for c in model.features.columns if c.name == column.name)
        cells = read_cells(table[column.name])
        if column.kind == "number":
            numbers = own.numbers(table[column.name])
            columns.append(["NAN" if np.isnan(number) else repr(float(number)) for number in numbers])
        elif column.kind == "date":
            columns.append(["0" if pd.isna(cell) else c_literal(str(cell)) for cell in table[column.name]])
        else:
            texts, gone = np.array(cells.texts(), dtype=object)[cells.place], cells.missing
            columns.append(["0" if lost else c_literal(text) for text, lost in zip(texts, gone, strict=True)])
    rows = ",\n".join("{" + ", ".join(cells) + "}" for cells in zip(*columns, strict=True)) or "{0}"
    names = [
        line.split("(")[0].removeprefix("int ")
        for line in (folder / "rule.c").read_text(encoding="utf-8").splitlines()
        if line.startswith("int predict_")
    ]
    calls = "\n".join(f'        printf("%d ", {name}(&all[i]));' for name in names)
    main = f"""#include <stdio.h>
#include <math.h>
#include "rule.c"
static const struct row all[] = {{{rows}}};
int main(void)
{{
    for (int i = 0; i < {len(table)}; i++) {{
{calls}
    }}
    return 0;
}}
"""
    (folder / "main.c").write_text(main, encoding="utf-8")
    command = [
        "cc",
        "-std=c99",
        "-O0",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        str(folder / "rule"),
        str(folder / "main.c"),
        "-lm",
    ]
    compiled = subprocess.run(command, check=False, capture_output=True, text=True)
    assert not compiled.returncode, compiled.stderr
    said = list(map(int, subprocess.run([str(folder / "rule")], check=True, capture_output=True, text=True).stdout.split()))
    n = len(names)
    return [
        [target.classes[code] for target, code in zip(model.targets, said[i * n : i * n + n], strict=True)]
        for i in range(len(table))
    ]


@pytest.fixture(scope="module")
def learned() -> tuple[pd.DataFrame, Model]:
    table = awkward_table()
    return table, BooleanNetworkClassifier(n_circuits=4, max_gates=12, random_state=0).fit(table, labels_of(table)).model_


def test_python_says_what_the_circuit_says(learned, tmp_path: Path) -> None:
    table, model = learned
    assert answers_of_python(model, table, tmp_path) == model.single().predict(table).tolist()


@pytest.mark.parametrize("as_text", [False, True])
def test_sql_says_what_the_circuit_says(learned, as_text: bool, tmp_path: Path) -> None:
    table, model = learned
    found = [answer for (answer,) in answers_of_sql(model, table, tmp_path, as_text=as_text)]
    assert found == model.single().predict(table).tolist()


def test_cells_as_people_type_them_are_read_as_the_model_reads_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    kilos, euros = rng.integers(-50, 90, N), rng.integers(10, 3000, N)
    table = pd.DataFrame(
        {
            "weight": [("-", "unknown", f"{k} kg", f"{k}KG")[i % 4] for i, k in enumerate(kilos)],
            "price": [f"{e // 1000}.{e % 1000:03d},50" if e > 999 else f"{e},5" for e in euros],
            "loss": [f"({e})" if i % 2 else f"{e // 1000} {e % 1000:03d}" for i, e in enumerate(euros + 1000)],
        }
    )
    labels = np.where(np.where(np.arange(N) % 4 < 2, euros > 1500, kilos > 20) ^ (np.arange(N) % 2 == 1), "yes", "no")
    model = BooleanNetworkClassifier(n_circuits=1, noise=0.001, random_state=0).fit(table, labels).model_
    assert {column.name for column in model.program().columns} == set(table)
    expected = model.single().predict(table).tolist()
    assert answers_of_python(model, table, tmp_path) == expected
    assert [answer for (answer,) in answers_of_sql(model, table, tmp_path)] == expected
    space: dict = {}
    exec((tmp_path / "rule.py").read_text(encoding="utf-8"), space)
    assert [space["number"](cell, comma="thousands", unit="$") for cell in ("$1,200", "-$ 1,200", "2,5", "-")] == [
        1200,
        -1200,
        None,
        None,
    ]


@needs_cc
def test_c_says_what_the_circuit_says(learned, tmp_path: Path) -> None:
    table, model = learned
    assert [answer for (answer,) in answers_of_c(model, table, tmp_path)] == model.single().predict(table).tolist()


@pytest.mark.parametrize("missing", ["median", "category"])
def test_what_stands_in_for_missing_cells_does_so_in_every_language(missing: str, tmp_path: Path) -> None:
    table = awkward_table()
    model = (
        BooleanNetworkClassifier(n_circuits=2, missing=missing, max_gates=8, random_state=1)
        .fit(table, labels_of(table))
        .model_
    )
    expected = model.single().predict(table).tolist()
    assert answers_of_python(model, table, tmp_path) == expected
    assert [answer for (answer,) in answers_of_sql(model, table, tmp_path)] == expected
    if shutil.which("cc"):
        assert [answer for (answer,) in answers_of_c(model, table, tmp_path)] == expected


def test_many_classes_and_several_targets(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.integers(0, 9, 300), "b": rng.normal(size=300)})
    labels = pd.DataFrame({"digit": table["a"], "sign": np.where(table["b"] > 0, "plus", "minus")})
    model = BooleanNetworkClassifier(n_circuits=2, random_state=0).fit(table, labels).model_
    assert len(model.targets[0].classes) == 9
    expected = model.single().predict(table).tolist()
    assert [list(row.values()) for row in answers_of_python(model, table, tmp_path)] == expected
    assert list(map(list, answers_of_sql(model, table, tmp_path))) == expected
    if shutil.which("cc"):
        assert answers_of_c(model, table, tmp_path) == expected


@pytest.mark.parametrize("case", CIRCUITS)
def test_a_plain_circuit_has_inputs_and_outputs_of_0_and_1(case: str, tmp_path: Path) -> None:
    network = CIRCUITS[case]
    rows = np.random.default_rng(0).integers(0, 2, (40, network.n_inputs))
    table, model = pd.DataFrame(rows, columns=list(network.input_names)), Model.of_bits(network)
    expected = network.predict(rows).astype(int).tolist()
    found = answers_of_python(model, table, tmp_path)
    assert [[row] if network.n_outputs == 1 else list(row.values()) for row in found] == expected
    printable = all(map(str.isprintable, network.input_names))  # a query cannot name other columns
    if printable and len(set(map(str.lower, network.input_names))) == network.n_inputs:
        assert list(map(list, answers_of_sql(model, table, tmp_path))) == expected
    if shutil.which("cc"):
        assert answers_of_c(model, table, tmp_path) == expected


def test_names_that_look_like_code_stay_names(tmp_path: Path) -> None:
    network = awkward_names()
    rows = np.random.default_rng(0).integers(0, 2, (10, network.n_inputs))
    found = answers_of_python(Model.of_bits(network), pd.DataFrame(rows, columns=list(network.input_names)), tmp_path)
    expected = network.predict(rows).astype(int).tolist()
    assert [[row] if network.n_outputs == 1 else list(row.values()) for row in found] == expected
