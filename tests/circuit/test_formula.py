"""Formulas: right, over the true support, and as short as promised."""

from __future__ import annotations

import itertools
from functools import reduce

import numpy as np
import pytest
from circuits import Builder, full_adder_chain, multiplier, parity, random_network, ripple_adder
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus import Network
from gradus._circuit import factoring
from gradus._circuit import formulas as formula
from gradus._circuit.decision_diagrams import ONE, ZERO, DecisionDiagrams, TooManyNodesError
from gradus._circuit.factoring import factored
from gradus._circuit.formula_trees import build, render, short_tree
from gradus._circuit.formulas import forms, formulas
from gradus._circuit.gate_list import GateTable
from gradus._circuit.network import network_of
from gradus._circuit.sums_of_products import FREE, minimum_sum, prime_implicants
from gradus.errors import FormatError

networks = st.builds(
    random_network, st.integers(1, 5), st.integers(1, 30), st.integers(1, 3), st.integers(0, 10**6), any_gates=st.booleans()
)


def evaluate(text: str, values: dict[str, np.ndarray]) -> np.ndarray:
    """A plain recursive reading of the formula's grammar: one operator at a level, or products in a sum."""
    position = 0

    def take(sign: str) -> bool:
        nonlocal position
        found = text[position : position + len(sign)] == sign
        position += len(sign) if found else 0
        return found

    def total() -> np.ndarray:
        start = position
        result = product()
        if text[position : position + 3] == " ^ ":
            assert not product_was_joined(start), "an AND beside an XOR must have brackets"
            while take(" ^ "):
                result = result ^ factor()
            assert text[position : position + 3] not in (" & ", " | ")
            return result
        while take(" | "):
            result = result | product()
        assert text[position : position + 3] != " ^ "
        return result

    def product_was_joined(start: int) -> bool:
        depth, joined = 0, False
        for sign in text[start:position]:
            depth += (sign == "(") - (sign == ")")
            joined |= sign == "&" and depth == 0
        return joined

    def product() -> np.ndarray:
        result = factor()
        while take(" & "):
            result = result & factor()
        return result

    def factor() -> np.ndarray:
        nonlocal position
        if take("!"):
            return ~factor()
        if take("("):
            result = total()
            assert take(")")
            return result
        start = position
        while position < len(text) and text[position].isalnum():
            position += 1
        word = text[start:position]
        return np.full_like(next(iter(values.values())), word == "1") if word in "01" else values[word]

    result = total()
    assert position == len(text)
    return result


def all_patterns(width: int) -> np.ndarray:
    return np.array(list(itertools.product([False, True], repeat=width)))


def true_support(network: Network, output: int) -> list[str]:
    """The definition: an input matters if changing it alone changes the output somewhere."""
    X = all_patterns(network.n_inputs)
    support = []
    for column, name in enumerate(network.input_names):
        changed = X.copy()
        changed[:, column] ^= True
        if (network.predict(X)[:, output] != network.predict(changed)[:, output]).any():
            support.append(name)
    return support


def table_of(network: Network, output: int) -> np.ndarray:
    return network.predict(all_patterns(network.n_inputs))[:, output].reshape((2,) * network.n_inputs)


def products_of(text: str) -> list[str]:
    return [] if text in ("0", "1") else text.split(" | ")


def fewest_products(table: np.ndarray) -> int:
    """Try every set of implicants, smallest sets first (three variables: 27 products)."""
    width = table.ndim
    cells = all_patterns(width)
    ones = table.reshape(-1)
    implicants = []
    for product in itertools.product([0, 1, FREE], repeat=width):
        covered = np.array([all(p in (FREE, bit) for p, bit in zip(product, cell, strict=True)) for cell in cells])
        if not (covered & ~ones).any():
            implicants.append(covered)
    for count in range(len(ones) + 1):
        for chosen in itertools.combinations(implicants, count):
            if np.array_equal(np.any([np.zeros_like(ones), *chosen], axis=0), ones):
                return count
    raise AssertionError("no cover")


@given(networks, st.booleans())
@settings(deadline=None, max_examples=150)
def test_a_formula_is_its_target_on_all_patterns_and_reads_its_true_support(network: Network, xor: bool) -> None:
    X = all_patterns(network.n_inputs)
    values = dict(zip(network.input_names, X.T, strict=True))
    sums = formulas(network, xor=False)
    for output, found in enumerate(formulas(network, xor=xor).values()):
        np.testing.assert_array_equal(evaluate(found.text, values), network.predict(X)[:, output])
        assert list(found.support) == true_support(network, output)
        assert found.n_literals == sum(found.text.count(name) for name in network.input_names)
        assert found.support_proven
        assert found.factored == ("^" in found.text or "(" in found.text)
        assert found.n_literals <= sums[found.target].n_literals
        # A form with brackets is given only where it is shorter than the sum of products.
        products = minimum_sum(table_of(network, output)).products if found.factored else None
        assert products is None or found.n_literals < (products != FREE).sum()


@given(networks, st.booleans())
@settings(deadline=None, max_examples=150)
def test_a_factored_form_is_its_target_too(network: Network, xor: bool) -> None:
    X = all_patterns(network.n_inputs)
    values = dict(zip(network.input_names, X.T, strict=True))
    for output in range(network.n_outputs):
        tree, support, _ = factored(network, output, xor=xor)
        text = render(tree, network.input_names)
        np.testing.assert_array_equal(evaluate(text, values), network.predict(X)[:, output])
        assert [network.input_names[i] for i in support] == true_support(network, output)
        assert tree.n_literals == sum(text.count(name) for name in network.input_names)
        assert tree.has_xor == ("^" in text)
        assert xor or "^" not in text


def monotone_tables(width: int) -> list[np.ndarray]:
    """Every monotone function that depends on all its inputs."""
    cells = all_patterns(width).astype(int) @ (1 << np.arange(width))
    found = []
    for code in range(1 << (1 << width)):
        rises = [(i, i | 1 << j) for i in range(1 << width) for j in range(width) if not i >> j & 1]
        if all(code >> low & 1 <= code >> high & 1 for low, high in rises):
            table = (code >> np.arange(1 << width) & 1).astype(bool)[cells].reshape((2,) * width)
            if all((table.take(0, axis) != table.take(1, axis)).any() for axis in range(width)):
                found.append(table)
    return found


def sum_of_minterms(table: np.ndarray) -> Network:
    """A circuit that says nothing of how to write its function shortly."""
    gates, width = GateTable(table.ndim), table.ndim
    output = (gates.gate(0, 0, 0), False)
    for cell in np.argwhere(table).tolist():
        term = reduce(lambda a, b: gates.of(8, a, b), [(i, not cell[i]) for i in range(width)])
        output = gates.of(14, output, term)
    return network_of(gates.circuit([output]))


def test_monotone_functions_of_two_to_four_inputs_need_few_literals() -> None:
    tables = [table for width in (2, 3, 4) for table in monotone_tables(width)]
    assert len(tables) == 125
    assert sum(formulas(sum_of_minterms(table))["z0"].n_literals for table in tables) <= 635


@given(st.integers(1, 8), st.integers(0, 10**6), st.booleans())
@settings(deadline=None, max_examples=80)
def test_a_short_tree_is_its_table_and_builds_it_of_gates(width: int, seed: int, xor: bool) -> None:
    generator = np.random.default_rng(seed)
    table = generator.random((2,) * width) < generator.choice([0.1, 0.5, 0.9])
    tree = short_tree(table, xor=xor)
    names = [f"x{i}" for i in range(width)]
    X = all_patterns(width)
    text = render(tree, names)
    values = dict(zip(names, X.T, strict=True))
    np.testing.assert_array_equal(evaluate(text, values), table.reshape(-1))
    assert tree.n_literals == sum(text.count(name) for name in names)
    assert xor or "^" not in text
    gates = GateTable(width + 1)
    output = build(tree, gates, [(i, False) for i in range(width)])
    built = network_of(gates.circuit([output]))
    np.testing.assert_array_equal(
        built.predict(np.column_stack([X, X[:, :0], np.zeros(len(X), bool)]))[:, 0], table.reshape(-1)
    )


@pytest.mark.parametrize("code", range(1, 256, 9))
def test_sums_proven_minimum_have_the_fewest_products_of_all(code: int) -> None:
    table = (np.arange(8) & 0 | code >> np.arange(8) & 1).astype(bool).reshape(2, 2, 2)
    cover = minimum_sum(table)
    assert cover.minimum
    assert len(cover.products) == fewest_products(table)


@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.1, 0.5, 0.9]))
@settings(deadline=None)
def test_primes_are_the_implicants_from_which_no_literal_can_be_removed(width: int, seed: int, density: float) -> None:
    table = np.random.default_rng(seed).random((2,) * width) < density

    def implies(product: tuple[int, ...]) -> bool:
        return bool(table[tuple(slice(None) if value == FREE else value for value in product)].all())

    expected = [
        product
        for product in itertools.product([0, 1, FREE], repeat=width)
        if implies(product)
        and not any(implies((*product[:i], FREE, *product[i + 1 :])) for i in range(width) if product[i] != FREE)
    ]
    assert [tuple(row) for row in prime_implicants(table).tolist()] == expected


@pytest.mark.parametrize("width", [8, 10, 12])
@pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
def test_large_covers_are_right_and_nothing_can_be_left_out(width: int, density: float) -> None:
    table = np.random.default_rng(width).random((2,) * width) < density
    cells = np.argwhere(np.ones_like(table))
    products = minimum_sum(table).products
    covered = np.array([((cells == product) | (product == FREE)).all(axis=1) for product in products])
    np.testing.assert_array_equal(covered.any(axis=0), table.reshape(-1))
    times = covered.sum(axis=0)
    assert all((times[row] == 1).any() for row in covered)


def test_the_textbook_examples() -> None:
    adder = formulas(ripple_adder(6), xor=False)
    assert adder["z0"].text == "!x0 & y0 | x0 & !y0"
    sums = [forms(ripple_adder(6), output, xor=False)[0][0] for output in range(6)]
    assert [len(found.tree.parts) for found in sums] == [2, 6, 16, 36, 76, 156]
    assert all(found.is_sum and found.exact for found in sums)
    assert forms(parity(12), 11, xor=False)[0][0].tree.n_literals == 12 * 2**11
    assert all(found.n_literals < 20 * (bit + 1) for bit, found in enumerate(adder.values()))


@pytest.mark.parametrize("adder", [ripple_adder(6), full_adder_chain(6)], ids=["of NANDs", "of any gates"])
def test_an_exclusive_or_is_found_whatever_gates_make_it(adder: Network) -> None:
    found = formulas(adder)
    assert found["z0"].text == "x0 ^ y0"
    assert found["z1"].n_literals == 4
    assert all(found[f"z{bit}"].n_literals <= 2 + 4 * bit for bit in range(1, 6))
    assert not any(found[f"z{bit}"].exact for bit in range(6))


def test_parity_of_any_width_is_short() -> None:
    assert formulas(parity(12))["z11"].text == " ^ ".join(f"x{i}" for i in range(12))
    assert formulas(parity(30))["z29"].n_literals == 30


def test_constants_and_copies_are_written_as_such() -> None:
    network = Network(2, [[0, 0], [0, 2], [3, 3]], [3, 4, 1])
    assert [found.text for found in formulas(network).values()] == ["1", "0", "x1"]
    assert [found.support for found in formulas(network).values()] == [(), (), ("x1",)]


def test_names_other_than_words_are_quoted() -> None:
    network = Network(2, [[0, 1]], [2], input_names=["Cdc2/Cdc13*", "or"], output_names=["a b"])
    assert formulas(network)["a b"].text == '!"Cdc2/Cdc13*" | !"or"'


def test_beyond_twelve_inputs_a_carry_chain_stays_short() -> None:
    found = formulas(ripple_adder(16))["z15"]
    assert found.factored
    assert len(found.support) == 32
    assert found.n_literals < 20 * 16  # a sum of products would have more than 2^16
    network = ripple_adder(16)
    X = np.random.default_rng(0).random((10_000, 32)) < 0.5
    values = dict(zip(network.input_names, X.T, strict=True))
    np.testing.assert_array_equal(evaluate(found.text, values), network.predict(X)[:, 15])


def test_a_case_split_saves_a_formula_that_the_circuit_would_make_endless() -> None:
    network = multiplier(8)
    tree, support, proven = factored(network, 7)
    assert proven
    assert len(support) == 16
    assert tree.n_literals < 50_000  # the circuit alone, written out, has more than twenty million
    X = np.random.default_rng(0).random((500, 16)) < 0.5
    values = dict(zip(network.input_names, X.T, strict=True))
    np.testing.assert_array_equal(evaluate(render(tree, network.input_names), values), network.predict(X)[:, 7])
    products = (X[:, :8] << np.arange(8)).sum(axis=1) * (X[:, 8:] << np.arange(8)).sum(axis=1)
    np.testing.assert_array_equal(network.predict(X)[:, 7], products >> 7 & 1)


def chain(length: int) -> Network:
    build = Builder(length)
    node = 0
    for position in range(1, length):
        node = build.nand(node, position)
    return Network(length, build.sources, [node])


def test_circuits_too_wide_for_diagrams_are_written_out_and_say_so() -> None:
    found = formulas(chain(3000))["z0"]
    assert not found.support_proven
    assert found.n_literals == 3000
    assert len(found.support) == 3000


def test_formulas_written_out_from_the_circuit_alone_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factoring, "MAX_LEVELS", 0)
    network = ripple_adder(3)
    X = all_patterns(6)
    values = dict(zip(network.input_names, X.T, strict=True))
    for output, found in enumerate(formulas(network).values()):
        np.testing.assert_array_equal(evaluate(found.text, values), network.predict(X)[:, output])
        assert not found.support_proven


def test_a_formula_beyond_all_bounds_is_refused_with_advice() -> None:
    with pytest.raises(FormatError, match=r"'z\d+' would have \d+ literals.*\.blif"):
        formulas(parity(30), xor=False)


def test_the_limit_itself_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formula, "MAX_LITERALS", 13)
    assert formulas(chain(13))["z0"].n_literals == 13
    monkeypatch.setattr(formula, "MAX_LITERALS", 12)
    with pytest.raises(FormatError):
        formulas(chain(13))


@given(st.integers(0, 15), st.integers(0, 255), st.integers(0, 255))
def test_a_gate_of_two_diagrams_is_the_gate_of_their_functions(table: int, first: int, second: int) -> None:
    diagrams = DecisionDiagrams()

    def build(code: int, level: int = 0) -> int:
        if level == 3:
            return ONE if code & 1 else ZERO
        half = 1 << (2 - level)
        low, high = build(code & (1 << half) - 1, level + 1), build(code >> half, level + 1)
        variable = diagrams.variable(level)
        return diagrams.gate(14, diagrams.gate(8, variable, high), diagrams.gate(2, variable, low))

    expected = sum((table >> (2 * (first >> i & 1) + (second >> i & 1)) & 1) << i for i in range(8))
    assert diagrams.gate(table, build(first), build(second)) == build(expected)
    assert diagrams.negation(build(first)) == build(255 ^ first)


def test_diagrams_stop_at_their_limit() -> None:
    diagrams = DecisionDiagrams(max_nodes=3)  # the two constants count
    diagrams.variable(0)
    diagrams.variable(1)
    with pytest.raises(TooManyNodesError):
        diagrams.variable(2)
