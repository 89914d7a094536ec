"""How cells that people type are read: money, percent, units, decimal signs, words for missing, capitals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus._tables.cells import read_cells
from gradus._tables.column_kinds import column_kinds
from gradus._tables.cuts import complete_rows, encode_table
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.readings import Reading, number_reading, read_number
from gradus.errors import DataError

STYLES = {
    "plain": "{:.2f}",
    "money": "${:,.2f}",
    "behind": "{:,.2f} €",
    "percent": "{:.2f}%",
    "unit": "{:.2f} kg",
    "code": "USD {:.2f}",
}


def continental(text):
    return text.translate(str.maketrans(",.", ".,"))


def kind_of(column, **types):
    return column_kinds({"a": column}, types=types)[0]


@given(st.lists(st.integers(-10_000_000, 10_000_000), min_size=1), st.sampled_from(sorted(STYLES)), st.booleans())
def test_numbers_come_back_however_they_are_written(cents, style, swapped):
    numbers = [cent / 100 for cent in cents]
    texts = [STYLES[style].format(number) for number in numbers]
    texts = list(map(continental, texts)) if swapped else texts
    cells = read_cells(texts)
    assert cells.numbers().tolist() == numbers
    # A row alone is read as the column was.
    assert [read_cells([text]).numbers(cells.reading)[0] for text in texts] == numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("(457.48)", -457.48),
        ("-$3", -3),
        ("$-3", -3),
        ("−2", -2),
        ("1 234 567", 1234567),
        ("1'234.5", 1234.5),
        ("1e3 km", 1000),
    ],
)
def test_ways_to_write_a_number(text, number):
    assert read_number(text, number_reading([text])[0]) == number


@pytest.mark.parametrize("text", ["5 kg 3", "SKU 123", "1.2.3", "12:30", "C85", "1,23,4", "$3€", "(3", "7 of 9"])
def test_what_is_no_number_is_none(text):
    assert np.isnan(read_number(text, number_reading([text, "1"])[0]))


def test_words_for_missing_among_numbers_and_dates_are_missing_and_the_plan_says_so():
    column = [*map(str, range(30, 60)), "-", "unknown", "n/a", "n.a."]
    kind = kind_of(column)
    assert (kind.kind, kind.n_missing) == ("number", 4)
    assert "3 cells count as missing: '-', 'unknown', 'n.a.'" in kind.reason
    assert complete_rows({"a": column}, [kind]).sum() == 30
    days = [f"2024-01-{day:02}" for day in range(1, 29)] + ["unknown", "-"]
    assert (kind_of(days).kind, kind_of(days).n_missing) == ("date", 2)
    assert kind_of(["yes", "no", "-", "unknown"] * 5).reason == "4 categories"


def test_ordinals_and_codes_stay_categories():
    assert [kind_of(column * 8).kind for column in (["2", "3", "5more"], ["1st", "2nd", "3rd"], ["C1", "C2"])] == [
        "category"
    ] * 3


def test_points_between_thousands_are_known_by_the_small_numbers_beside_them():
    assert read_cells(["1.200", "950"]).numbers().tolist() == [1200, 950]
    assert read_cells(["1.200", "0.95"]).numbers().tolist() == [1.2, 0.95]
    two_ways = kind_of(["1.200", "3.456"] * 9)
    assert "1.200 is 1.2" in two_ways.reason
    assert "1.200 is 1200" in kind_of(["1.200", "3.456"] * 9, a="decimal-comma").reason


def test_the_order_of_day_and_month_is_said_and_can_be_overruled():
    days = [f"0{1 + i % 9}/04/20{10 + i // 9}" for i in range(40)]
    assert "01/04/2010 is 2010-04-01, day first" in kind_of(days).reason
    assert "01/04/2010 is 2010-01-04, month first" in kind_of(days, a="month-first").reason


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (["1,5", "2.5", "3"], "no decimal sign reads both"),
        (["1.200.000", "3.5"], "no decimal sign reads both"),
        (["13/04/2020", "04/13/2020"], "no order of day, month and year"),
        (["3 kg", "5 g"], "these are two units"),
    ],
)
def test_rows_that_contradict_each_other_are_refused_unless_the_user_decides(column, sentence):
    with pytest.raises(DataError, match=f"column 'a' has .*row .*{sentence}.*--types a="):
        kind_of(column * 5)
    assert kind_of(column * 5, a="category").kind == "category"


def test_capitals_and_blanks_make_no_category_of_their_own():
    column = ["New York", "  new york ", "Boston", "NEW YORK", "New York"] * 6
    kind = kind_of(column)
    assert kind.reason == "2 categories; 'new york' is taken for 'New York' (and 1 more)"
    encoding = encode_table({"a": column}, np.array([1, 1, 0, 1, 1] * 6))
    assert encoding.input_names == ("a = New York",)
    assert encoding.encode({"a": ["nEW yORK", " Boston"]}).tolist() == [[True], [False]]
    exact = encode_table({"a": column}, np.array([1, 1, 0, 1, 1] * 6), types={"a": "exact"})
    assert len(exact.input_names) == 4


def test_a_model_keeps_how_columns_are_read():
    table = {"price": [f"{i},50 €" for i in range(40)], "city": ["Rome", "rome", "Bern", "Bern"] * 10}
    encoding = encode_table(table, np.arange(40) > 20)
    again = TableEncoding.from_json(encoding.to_json())
    assert again == encoding
    assert again.columns[0].reading == Reading(comma="decimal", unit="€")
    assert again.columns[0].numbers(["3,5", "3.5"]).tolist()[0] == 3.5
    assert TableColumn("price", "above", (1,), unit="€").not_understood(["3 $", "unknown", "4 €"]) == ["3 $"]
