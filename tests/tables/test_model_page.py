"""The page of a model: in a real browser it answers as the model does, whatever is clicked and typed."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from browser import drive, needs_browser
from gradus import Network
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding
from gradus._tables.model import Model
from gradus.errors import DataError

EVIL = '</script><img src=x onerror="document.title=1"><b>'
COLUMNS = (
    TableColumn("age", "above", (18, 65), missing=True),
    TableColumn("colour", "group", (("red",), ("blue", "green")), others=True),
    TableColumn(EVIL, "bit"),
    TableColumn("born", "after", (0.0, 10957.0), day_format="%Y-%m-%d"),
    TableColumn("unused", "bit"),
    TableColumn("size", "above", (2.5,), fill=3.0),
)
FEATURES = TableEncoding(COLUMNS)
ADDER = Network(
    4, [[0, 1], [0, 1], [2, 3], [2, 3], [6, 5], [6, 5], [7, 9]], [4, 8, 10], [6, 8, 6, 8, 6, 8, 14],
    input_names=["a0", "b0", "a1", "b1"], output_names=["s0", "s1", "carry"],
)  # fmt: skip


def random_model(seed, n_gates=14):
    """A circuit over columns of every kind, with a target of three classes, one of two and one of bits."""
    generator = np.random.default_rng(seed)
    n = len(FEATURES.input_names)
    targets = (TargetEncoding("kind", ("a", "b", "c")), TargetEncoding("warm", ("no", "yes")), TargetEncoding("on", (0, 1)))
    names = [name for target in targets for name in target.output_names]
    sources = [generator.integers(0, n + gate, 2).tolist() for gate in range(n_gates)]
    outputs = generator.integers(n + n_gates // 2, n + n_gates, len(names)).tolist()
    functions = generator.integers(1, 15, n_gates).tolist()
    # The odd name is surely used.
    sources[-1], functions[-1], outputs[0] = [FEATURES.input_names.index(EVIL), n], 6, n + n_gates - 1
    network = Network(n, sources, outputs, functions, input_names=FEATURES.input_names, output_names=names)
    return Model((network,), FEATURES, targets)


def random_table(seed, n):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": generator.choice(["", "10", "18", "18.5", "66", "many"], n),
            "colour": generator.choice(["red", "blue", "green", "white"], n),
            EVIL: generator.choice(["0", "1"], n),
            "born": generator.choice(["1969-12-31", "1970-01-01", "1999-12-31", "2000-01-02"], n),
            "unused": "0",
            "size": generator.choice(["", "2", "2.5", "2.6"], n),
        }
    )


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="model">(.*?)</script>', text)[1])


@needs_browser
@pytest.mark.parametrize("seed", [0, 1])
def test_a_typed_row_gets_the_answers_of_the_model(tmp_path, seed):
    model, table = random_model(seed), random_table(seed, 40)
    page = tmp_path / "model.html"
    model.save_page(page)
    columns = [column["name"] for column in data_of(page.read_text())["columns"]]
    rows = table[columns].replace("white", "another").to_numpy().tolist()
    seen = drive(
        page,
        f"""return {json.dumps(rows)}.map((row) => {{
          row.forEach((cell, j) => {{
            const field = page.getElementById(`field-${{j}}`);
            field.value = cell;
            field.dispatchEvent(new window.Event("input"));
          }});
          return [...page.querySelectorAll("#answer b")].map((one) => one.textContent);
        }});""",
    )
    assert seen == [[str(label) for label in row] for row in model.predict(table).tolist()]


@needs_browser
def test_a_clicked_input_changes_the_row_the_wires_and_the_answer(tmp_path):
    Model.of_bits(ADDER).save_page(tmp_path / "model.html")
    seen = drive(
        tmp_path / "model.html",
        """
        const look = () => ({
          answers: [...page.querySelectorAll("#answer b")].map((one) => one.textContent).join(""),
          lit: page.querySelectorAll(".wire.on").length,
          field: page.getElementById("field-0").value,
          rules: [...page.querySelectorAll("dt.true")].map((one) => one.textContent),
        });
        const click = (key) => page.querySelector(`[data-key=${key}]`).dispatchEvent(new window.Event("click"));
        const before = look();
        click("i0");
        const one = look();
        click("i1");
        const two = look();
        page.querySelector("[data-key=g4]").dispatchEvent(new window.Event("pointerenter"));
        return { before, one, two, about: page.getElementById("about").textContent,
                 dim: page.querySelectorAll(".item.dim").length, why: page.getElementById("why").textContent };
        """,
    )
    assert (seen["before"]["answers"], seen["one"]["answers"], seen["two"]["answers"]) == ("000", "100", "010")
    assert (seen["before"]["lit"], seen["before"]["field"], seen["one"]["field"]) == (0, "0", "1")
    assert seen["one"]["lit"] > 0
    assert (seen["one"]["rules"], seen["two"]["rules"]) == (["s0"], ["s1"])
    assert seen["about"].startswith("XOR: false (a0 ^ b0); used by s0; a cone of 1 gate over a0, b0")
    assert seen["dim"] > 0
    assert "s0 would change if a0 were 0" in seen["why"]


@needs_browser
def test_every_input_can_be_clicked_on_and_off(tmp_path):
    random_model(3, 40).save_page(tmp_path / "model.html")
    seen = drive(
        tmp_path / "model.html",
        """
        const item = (key) => page.querySelector(`[data-key=${key}]`);
        return [...page.querySelectorAll(".item.input")].map((one) => one.dataset.key).map((key) => {
          const states = [];
          for (let k = 0; k < 3; k += 1) {
            states.push(item(key).classList.contains("on"));
            item(key).dispatchEvent(new window.Event("click"));
          }
          return states;
        });
        """,
    )
    assert len(seen) >= 5
    assert all(first != second and first == third for first, second, third in seen)


@needs_browser
def test_a_large_circuit_is_folded_and_unfolds(tmp_path):
    generator = np.random.default_rng(5)
    sources = [[generator.integers(max(0, node - 30), node), generator.integers(0, node)] for node in range(12, 912)]
    network = Network(12, sources, list(range(903, 912)), generator.choice([6, 7, 8, 14], 900)).prune()
    assert network.n_gates > 300
    Model.of_bits(network).save_page(tmp_path / "model.html")
    seen = drive(
        tmp_path / "model.html",
        """
        const count = () => page.querySelectorAll(".item.gate, .item.block").length;
        const before = count();
        page.querySelector(".item.block").dispatchEvent(new window.Event("click"));
        const open = count();
        page.getElementById("fold").click();
        return { before, open, after: count(), width: page.querySelector("svg").viewBox.baseVal.width };
        """,
    )
    assert seen["before"] < network.n_gates / 2
    assert seen["open"] > seen["before"] == seen["after"]


@needs_browser
@pytest.mark.parametrize("width", [400, 1100])
def test_nothing_on_the_page_is_wider_than_the_screen(tmp_path, width):
    random_model(2).save_page(tmp_path / "model.html", table=random_table(2, 20), labels=[["a", "no", 1]] * 20)
    seen = drive(
        tmp_path / "model.html",
        """return [page.documentElement.scrollWidth, page.querySelectorAll("table tbody tr").length, page.title,
                   page.querySelectorAll("img, b b").length];""",
        width=width,
    )
    assert seen[0] <= width
    assert seen[1] > 3
    assert seen[2:] == ["What decides kind, warm, on", 0]


def test_names_cannot_end_the_data_or_run_as_a_script(tmp_path):
    random_model(4, 40).save_page(tmp_path / "model.html")
    text = (tmp_path / "model.html").read_text()
    assert EVIL not in text
    assert any(column["name"] == EVIL for column in data_of(text)["columns"])
    assert not re.search(r'(src|href)="(?!data:,|#)', text)
    assert "script-src 'sha256-" in text


def test_rows_that_are_wrong_are_listed_with_those_that_they_contradict(tmp_path):
    model = Model.of_bits(Network(2, [[0, 1]], [2], [8]))
    table = [[0, 0], [1, 1], [1, 1], [1, 1], [0, 1]]
    model.save_page(tmp_path / "model.html", table=table, labels=[0, 1, 0, 1, 1], scores={"rows not seen": [0.875]})
    text = (tmp_path / "model.html").read_text()
    cells = re.findall(r"<td[^>]*>(.*?)</td>", text)
    assert cells[:2] == ["rows not seen", "87.5&nbsp;%"]
    assert cells[2:7] == ["5", "0", "1", "z0", "1"]  # with its cells, and before those that contradict others
    assert cells[8].startswith("outvoted")
    assert cells[9:] == ["3", "1", "1", "z0", "0", "1", "contradicts rows 2, 4: the same inputs, another label"]
    with pytest.raises(DataError, match="one for each of 5 rows"):
        model.save_page(tmp_path / "model.html", table=table, labels=[0, 1])


@needs_browser
def test_rows_that_are_wrong_are_shown_ten_at_a_time_also_after_they_were_sorted(tmp_path):
    model = Model.of_bits(Network(2, [[0, 1]], [2], [8]))
    model.save_page(tmp_path / "model.html", table=[[1, 0]] * 25, labels=[1] * 25)
    seen = drive(
        tmp_path / "model.html",
        """
        const all = () => [...page.querySelectorAll("#odd tbody tr")];
        const rows = () => all().filter((row) => !row.hidden).map((row) => Number(row.cells[0].textContent));
        const [next, head] = [page.getElementById("odd-next"), page.querySelector("#odd th button")];
        const first = rows();
        next.click(); next.click();
        const [last, place, more] = [rows(), page.getElementById("odd-place").textContent, next.hidden];
        head.click(); head.click();
        return { first, last, place, more, sorted: rows() };
        """,
    )
    assert seen["first"] == list(range(1, 11))
    assert seen["last"] == list(range(21, 26))
    assert seen["place"] == "21 to 25 of 25"
    assert seen["more"]
    assert seen["sorted"] == list(range(25, 15, -1))


@needs_browser
def test_the_page_says_where_no_rule_of_a_class_holds(tmp_path):
    kind = TargetEncoding("kind", ("a", "b", "c"))
    network = Network(2, [[0, 1]], [0, 1, 2], [8], input_names=["p", "q"], output_names=kind.output_names)
    Model((network,), Model.of_bits(network).features, (kind,)).save_page(tmp_path / "model.html")
    seen = drive(
        tmp_path / "model.html",
        """
        const why = () => page.getElementById("why").textContent;
        const none = why();
        page.querySelector("[data-key=i0]").dispatchEvent(new window.Event("click"));
        return [none, why()];
        """,
    )
    assert "Not exactly one rule of kind holds" in seen[0]
    assert "Not exactly one rule" not in seen[1]


@needs_browser
def test_of_the_numbers_that_would_change_an_answer_the_nearest_are_named(tmp_path):
    features = TableEncoding((TableColumn("u", "above", (10, 20, 30, 40)),))
    names = {"input_names": features.input_names, "output_names": ["z"]}
    circuit = Network(4, [[0, 1], [2, 3], [4, 5]], [6], [6, 6, 14], **names)  # 10 to 20, or 30 to 40
    Model((circuit,), features, (TargetEncoding("z", (0, 1)),)).save_page(tmp_path / "model.html")
    seen = drive(
        tmp_path / "model.html",
        """return ["5", "25", "50"].map((cell) => {
          page.getElementById("field-0").value = cell;
          page.getElementById("field-0").dispatchEvent(new window.Event("input"));
          return page.getElementById("why").textContent.match(/u were ([^.]*)/)[1];
        });""",
    )
    assert seen == ["15", "15 or 35", "35"]
