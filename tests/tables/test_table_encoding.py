"""Any table as bits: kinds of columns, missing cells, unknown categories, files of older models."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradus._tables.cells import read_cells
from gradus._tables.column_kinds import column_kinds
from gradus._tables.cuts import complete_rows, encode_table
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus.errors import DataError, FormatError, SettingsError

N = 60


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    age = rng.integers(1, 80, N).astype(object)
    age[::7] = ""
    return {
        "no": [str(i) for i in range(1, N + 1)],
        "name": [f"Mr. {chr(65 + i % 26)} of the {i}th street" for i in range(N)],
        "age": [str(a) for a in age],
        "price": [f"{i % 9},{i % 10}5" for i in range(N)],
        "sex": ["f" if i % 3 else "m" for i in range(N)],
        "on": [str(i % 2) for i in range(N)],
        "day": [f"2024-0{1 + i % 9}-1{i % 7}" for i in range(N)],
        "same": ["x"] * N,
        "cabin": [f"C{i}" if i % 4 == 0 else "" for i in range(N)],
    }


def kinds(table, **options):
    return {column.name: column.kind for column in column_kinds(table, **options)}


def test_one_look_tells_the_kind_of_every_column(table):
    assert kinds(table) == {
        "no": "id",
        "name": "text",
        "age": "number",
        "price": "number",
        "sex": "category",
        "on": "bit",
        "day": "date",
        "same": "constant",
        "cabin": "id",
    }


def test_data_frames_with_types_are_seen_as_their_texts_are(table):
    frame = pd.DataFrame(table)
    typed = frame.assign(
        no=frame.no.astype(int),
        age=pd.to_numeric(frame.age),
        price=frame.price.str.replace(",", ".").astype(float),
        on=frame.on.astype(int).astype(bool),
        day=pd.to_datetime(frame.day),
        cabin=frame.cabin.replace("", None),
    )
    assert kinds(typed) == kinds(table)
    codes = np.arange(N) % 3
    assert (encode_table(typed, codes).encode(typed) == encode_table(table, codes).encode(table)).all()


def test_declared_categories_are_categories_even_if_they_are_numbers():
    frame = pd.DataFrame({"zone": pd.Categorical([1, 2, 3] * 10)})
    assert kinds(frame) == {"zone": "category"}
    assert encode_table(frame, np.zeros(30, int)).input_names == ("zone = 1", "zone = 2", "zone = 3")


@pytest.mark.parametrize("share", [1.0, 0.7, 0.3])
def test_row_numbers_are_ids_also_in_a_shuffled_part_of_a_table(share):
    numbers = np.random.default_rng(5).permutation(1000)[: int(1000 * share)] + 7
    assert kinds({"a": numbers, "b": numbers % 2})["a"] == "id"


def test_measured_whole_numbers_are_no_ids():
    rng = np.random.default_rng(6)
    assert kinds({"pay": rng.integers(1000, 9_000_000, 500), "age": rng.integers(0, 100, 500)}) == {
        "pay": "number",
        "age": "number",
    }


def test_overrides_win(table):
    found = kinds(table, types={"age": "category", "name": "category", "sex": "drop", "no": "keep"})
    assert (found["sex"], found["no"], found["age"], found["name"]) == ("dropped", "number", "category", "category")
    with pytest.raises(SettingsError, match="not a column"):
        column_kinds(table, types={"sexx": "drop"})
    with pytest.raises(SettingsError, match="must be one of"):
        column_kinds(table, types={"sex": "colour"})
    with pytest.raises(DataError, match="no number"):
        column_kinds(table, types={"sex": "number"})


@pytest.mark.parametrize("missing", ["category", "median", "drop"])
def test_every_row_is_answered_with_missing_cells_and_unknown_categories(table, missing):
    encoding = encode_table(table, np.arange(N) % 2, missing=missing)
    strange = {name: ["", "?", "never seen"] for name in table}
    bits = encoding.encode(strange)
    assert bits.shape == (3, len(encoding.input_names))
    names = dict(zip(encoding.input_names, bits[0], strict=True))
    assert ("age is missing" in names) == (missing == "category")
    assert names.get("age is missing", True)
    assert names.get("cabin is missing", True)


def test_the_median_stands_in_for_a_missing_number(table):
    encoding = encode_table(table, np.arange(N) % 2, missing="median")
    column = next(column for column in encoding.columns if column.name == "age")
    assert (column.encode([""]) == column.encode([str(column.fill)])).all()


def test_the_median_date_stands_in_for_a_missing_one_however_dates_are_written():
    table = {"day": [f"{1 + i % 28}.0{1 + i % 9}.2020" for i in range(40)] + [""]}
    encoding = encode_table(table, np.array([i % 9 > 4 for i in range(41)]), missing="median")
    (column,) = encoding.columns
    assert column.encode([""]).tolist() == [[column.fill > cut for cut in column.values]]


def test_groups_that_begin_alike_have_names_of_their_own():
    groups = (("a", "b", "c", "d"), ("a", "b", "c", "e"))
    assert len(set(TableColumn("x", "group", groups).input_names)) == 2


def test_complete_rows_are_those_without_a_missing_cell_in_a_used_column(table):
    complete = complete_rows(table, column_kinds(table))
    assert (~complete).nonzero()[0].tolist() == list(range(0, N, 7))


def test_columns_are_found_by_name_and_those_left_out_may_be_absent(table):
    encoding = encode_table(table, np.arange(N) % 2)
    shuffled = {name: table[name] for name in reversed(table) if name not in ("no", "name", "same")}
    assert (encoding.encode({**shuffled, "more": [0] * N}) == encoding.encode(table)).all()
    rows = np.array(list(table.values()), dtype=object).T
    assert (encoding.encode(rows) == encoding.encode(table)).all()
    with pytest.raises(DataError, match="no column 'age'"):
        encoding.encode({"sex": ["f"]})
    with pytest.raises(DataError, match="trained on 9 columns"):
        encoding.encode(rows[:, 1:])


def test_the_plan_says_what_becomes_of_each_column(table):
    plan = encode_table(table, np.array([int(a or 0) > 40 for a in table["age"]])).plan()
    assert plan[0] == "no: left out, counts the rows from 1 to 60"
    assert plan[1] == "name: left out, 60 of 60 values differ"
    assert plan[2].startswith("age: number, cut at 4")
    assert plan[2].endswith("; missing cells are distinguished")
    assert plan[8] == "cabin: left out, 15 of 15 values differ; only whether it is missing is used"


def test_encodings_survive_json(table):
    for missing in ("category", "median"):
        encoding = encode_table(table, np.arange(N) % 3, missing=missing)
        again = TableEncoding.from_json(json.loads(json.dumps(encoding.to_json())))
        assert again == encoding
        assert (again.encode(table) == encoding.encode(table)).all()


@pytest.mark.parametrize(
    "document",
    [
        {},
        [1],
        [{"name": 1, "kind": "bit", "values": [], "strict": True}],
        [{"name": "a", "kind": "no", "values": [], "strict": True}],
        [{"name": "a", "kind": "above", "values": ["x"], "strict": True}],
        [{"name": "a", "kind": "above", "values": [float("nan")], "strict": True}],
        [{"name": "a", "kind": "group", "values": ["x"], "strict": False}],
        [{"name": "a", "kind": "group", "values": [[]], "strict": False}],
        [{"name": "a", "kind": "bit", "values": [], "strict": False, "missing": 1}],
        [{"name": "a", "kind": "bit", "values": [], "strict": False, "missing": True, "fill": []}],
    ],
)
def test_documents_that_are_no_encoding_are_refused(document):
    with pytest.raises(FormatError):
        TableEncoding.from_json(document)


cell = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.dates(), st.just("?"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=30), st.integers(0, 99))
def test_any_cells_at_all_can_be_encoded_and_the_encoding_survives_json(rows, seed):
    table = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    codes = np.random.default_rng(seed).integers(0, 2, len(rows))
    encoding = encode_table(table, codes)
    bits = encoding.encode(table)
    assert bits.shape == (len(rows), len(encoding.input_names))
    assert len(set(encoding.input_names)) == len(encoding.input_names)
    again = TableEncoding.from_json(json.loads(json.dumps(encoding.to_json())))
    assert (again.encode(table) == bits).all()
    assert encoding.plan()


def test_commas_are_decimal_or_between_thousands():
    assert read_cells(["1,5", "0,25"]).numbers().tolist() == [1.5, 0.25]
    assert read_cells(["1,234", "12"]).numbers().tolist() == [1234, 12]
    assert read_cells(["1,234,567"]).numbers().tolist() == [1234567]


def test_dates_are_read_in_one_format_for_a_whole_column():
    assert read_cells(["3/4/2020", "25/4/2020"]).reading.day_format == "%d/%m/%Y"
    assert read_cells(["3/4/2020", "4/25/2020"]).reading.day_format == "%m/%d/%Y"
    assert read_cells(["2020-01-02 12:00"]).dates().tolist() == [18263.5]


@given(hnp.arrays(np.bool_, st.tuples(st.integers(1, 30), st.integers(1, 5))), st.sampled_from([int, float, bool, str]))
def test_a_table_of_bits_stays_as_it_is_with_all_its_columns(table, kind):
    encoding = encode_table(table.astype(int).astype(kind), np.arange(len(table)) % 2)
    assert encoding.input_names == tuple(f"x{j}" for j in range(table.shape[1]))
    assert np.array_equal(encoding.encode(table), table)


def test_row_numbers_are_used_where_there_is_nothing_else():
    table = {"a": list(range(20))}
    assert kinds(table) == {"a": "number"}
    assert encode_table(table, np.arange(20) > 7).input_names == ("a > 7",)
    assert kinds({**table, "b": [0, 1] * 10}) == {"a": "id", "b": "bit"}
    with pytest.raises(DataError, match="every column is left out"):
        column_kinds(table, types={"a": "drop"})


def test_a_table_in_which_nothing_varies_has_an_input():
    assert encode_table([[5], [5]], [0, 1]).input_names == ("x0 = 5",)
    assert encode_table([["a"], ["a"]], [0, 1]).input_names == ("x0 = a",)


def test_two_columns_that_give_one_input_are_refused():
    with pytest.raises(DataError, match="columns 'x' and 'x > 3' both give an input 'x > 3'; rename one"):
        encode_table({"x": [2, 4, 2, 4], "x > 3": [0, 1, 1, 0]}, [0, 1, 0, 1])


def test_unnamed_columns_are_found_by_position():
    encoding = encode_table([[0, 5.0], [1, 9.0]], [0, 1])
    wanted = [[False, True], [True, False]]
    frame = pd.DataFrame([[0, 7.5], [1, 3]])
    for new in (frame, frame.to_numpy(), frame.to_numpy().tolist(), frame.rename(columns={0: "p", 1: "q"})):
        assert encoding.encode(new).tolist() == wanted


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"on": [0, 1]}, "no column 'size', which the model reads; it reads on, size"),
        ({"on": [0, 1], "size": [1]}, "different lengths"),
        ([[0, 1, 1]], "trained on 2 columns"),
        ([[0, 1], [1]], "different lengths"),
    ],
)
def test_tables_that_a_model_cannot_read_are_refused(new, message):
    encoding = encode_table({"on": [0, 1], "size": [5.0, 9.0]}, [0, 1])
    with pytest.raises(DataError, match=message):
        encoding.encode(new)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ([0, 1], DataError, "1 dimensions"),
        (np.empty((0, 2)), DataError, "no rows"),
        (np.array([["a"], [{}]], dtype=object), TypeError, "string or a real number"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(table, error, message):
    with pytest.raises(error, match=message):
        encode_table(table, [0] * len(table))
