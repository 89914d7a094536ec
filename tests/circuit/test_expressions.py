from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus._circuit.expressions import names_in, parse_expression
from gradus._circuit.gate_list import GateTable
from gradus._circuit.network import network_of
from gradus.errors import FormatError

NAMES = ["a", "b1", "Cdk_2", "x.y", "génе"]
ROWS = {name: column.astype(bool) for name, column in zip(NAMES, np.indices((2,) * 5).reshape(5, -1), strict=True)}

# A tree is a name, a constant, ("!", tree) or (operator, left, right): the slow twin evaluates it by recursion.


def evaluated(text, columns):
    """Build an expression of gates, and evaluate these."""
    gates = GateTable(len(columns))
    output = parse_expression(text, gates, {name: node for node, name in enumerate(columns)})
    return network_of(gates.circuit([output])).predict(np.column_stack(list(columns.values())))[:, 0]


trees = st.recursive(
    st.sampled_from([*NAMES, 0, 1]),
    lambda child: st.tuples(st.just("!"), child) | st.tuples(st.sampled_from(["&", "|", "^", "=>", "<=>"]), child, child),
    max_leaves=12,
)


def slow(tree, row):
    if isinstance(tree, str):
        return row[tree]
    if isinstance(tree, int):
        return bool(tree)
    if tree[0] == "!":
        return not slow(tree[1], row)
    left, right = slow(tree[1], row), slow(tree[2], row)
    table = {"&": left and right, "|": left or right, "^": left != right, "=>": not left or right, "<=>": left == right}
    return table[tree[0]]


def written(tree, spaces):
    """Every operation in brackets, so that the text does not depend on how tight operators bind."""
    if not isinstance(tree, tuple):
        return str(tree)
    if tree[0] == "!":
        return "!" + spaces + written(tree[1], spaces)
    return f"({written(tree[1], spaces)}{spaces}{tree[0]}{spaces}{written(tree[2], spaces)})"


@settings(max_examples=150, deadline=None)
@given(tree=trees, spaces=st.sampled_from(["", " ", "\t\n "]))
def test_a_parsed_expression_equals_its_tree_on_every_pattern(tree, spaces):
    found = evaluated(written(tree, spaces), ROWS)
    expected = [slow(tree, {name: bool(ROWS[name][i]) for name in NAMES}) for i in range(32)]
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=100, deadline=None)
@given(
    names=st.lists(st.sampled_from(["a", "!a", "b", "!b", "c", "d"]), min_size=2, max_size=8),
    signs=st.lists(st.sampled_from(["&", "|"]), min_size=7, max_size=7),
)
def test_and_binds_tighter_than_or_as_in_python(names, signs):
    text = names[0] + "".join(f" {sign} {name}" for sign, name in zip(signs, names[1:], strict=False))
    columns = dict(zip("abcd", np.indices((2,) * 4).reshape(4, -1).astype(bool), strict=True))
    # On Booleans, & and | of Python bind as ours do; the text is of this test's own making, so it may be evaluated.
    expected = eval(text.replace("!", "~"), {"__builtins__": {}}, columns)
    np.testing.assert_array_equal(evaluated(text, columns), expected)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a => b => c", "a => (b => c)"),
        ("a <=> b | c", "a <=> (b | c)"),
        ("a | b => c", "(a | b) => c"),
        ("a ^ b | c", "(a ^ b) | c"),
        ("!a & b", "(!a) & b"),
        ("~~a && b || c", "((a) & b) | c"),
        ("TRUE & !False", "1"),
    ],
)
def test_binding_from_tight_to_loose(text, same):
    columns = dict(zip("abc", np.indices((2,) * 3).reshape(3, -1).astype(bool), strict=True))
    np.testing.assert_array_equal(evaluated(text, columns), evaluated(same, columns))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000 + "a" + ")" * 200_000,
        "!" * 200_000 + "a",
        "a & (" * 100_000 + "a" + ")" * 100_000,
        "(a | b) & (" * 50_000 + "a" + ")" * 50_000,
        " | ".join(["a"] * 100_000),
        "a => " * 50_000 + "a",
    ],
    ids=["brackets", "nots", "right", "towers", "flat", "implies"],
)
def test_depth_costs_no_recursion(text):
    columns = {"a": np.array([True, False]), "b": np.array([True, True])}
    found = evaluated(text, columns)
    assert found.tolist()[0] is True
    assert found.shape == (2,)


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 1, "no expression"),
        ("   ", 4, "no expression"),
        ("a &", 4, "is incomplete"),
        ("a b", 3, "expected an operator"),
        ("a and b", 3, "write '&'"),
        ("not a", 1, "write '!'"),
        ("& a", 1, "expected a name"),
        ("a & & b", 5, "expected a name"),
        ("(a", 1, "never closed"),
        ("a)", 2, "closes nothing"),
        ("()", 2, "expected a name"),
        ("a $ b", 3, "no meaning"),
        ("a & 2", 5, "neither a constant"),
        ("a & b ^ c", 7, "brackets"),
        ("a ^ b & c", 7, "brackets"),
        ("!", 2, "is incomplete"),
    ],
)
def test_errors_name_the_place(text, column, says):
    with pytest.raises(FormatError, match=says) as caught:
        parse_expression(text, GateTable(3), {"a": 0, "b": 1, "c": 2}, line=7)
    assert (caught.value.line, caught.value.column) == (7, column)


def test_the_place_of_an_error_counts_lines_in_longer_texts():
    with pytest.raises(FormatError) as caught:
        parse_expression("a &\n b b", GateTable(2), {"a": 0, "b": 1}, line=5)
    assert (caught.value.line, caught.value.column) == (6, 4)


@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet="ab01!~&|^()=><, \t\n#$é", max_size=30) | st.text(max_size=20))
def test_any_text_is_an_expression_or_a_format_error(text):
    columns = {name: np.array([True, False]) for name in [*names_in(text), "other"]}
    try:
        assert evaluated(text, columns).shape == (2,)
    except FormatError:
        return


def test_the_names_of_an_expression_are_listed_as_they_first_appear():
    assert names_in("!b & (a | b.x) ^ TRUE => 0 | a") == ["b", "a", "b.x"]
