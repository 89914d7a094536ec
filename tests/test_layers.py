"""Nothing lower imports anything higher, packages of one rank do not import one another, and there are no import cycles."""

import ast
import re
from pathlib import Path

import pytest

import gradus

ROOT = Path(gradus.__file__).parent
RANKS = [
    {"errors", "_version"},
    {"_core"},
    {"losses", "_circuit"},
    {"_circuit.drawing", "_pages"},
    {"_formats"},
    {"problems", "_curriculum"},
    {"_search", "_lessons"},
    {"_tables", "genes"},
    {"lab"},
    {"_cli"},
    {"__init__", "__main__"},
]
"""Packages and modules, from the lowest; those of one rank do not import one another."""


def modules(root):
    """Every module by its dotted name; a package is named as the folder."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = ("gradus", *path.relative_to(root).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports_of(path, known):
    """Every module of ours that a file imports: at the top, inside functions, or for type checkers only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            if node.module and node.module.partition(".")[0] == "gradus":
                for alias in node.names:
                    inside = f"{node.module}.{alias.name}"
                    yield inside if inside in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "gradus")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != "gradus" and node.value in known:
            yield node.value  # importlib.import_module("gradus.…")


def top(module):
    """The room that a module belongs to: a package or module of the top level, or one with a rank of its own."""
    if module.startswith("gradus._circuit.drawing"):
        return "_circuit.drawing"
    return [*module.split("."), "__init__"][1]


def rank(module):
    return next((number for number, names in enumerate(RANKS) if top(module) in names), None)


def upward_imports(root):
    """Imports of modules that do not have a lower rank, as sentences; also packages without a rank."""
    known = modules(root)
    for module, path in known.items():
        if rank(module) is None:
            yield f"{module} has no rank"
            continue
        for imported in set(imports_of(path, known)):
            # `from gradus import problems` names a module; `from gradus import __version__` the package itself.
            if top(imported) != top(module) and (rank(imported) is None or rank(imported) >= rank(module)):
                yield f"{module} imports {imported}"


def cycle(root):
    """Find a cycle of imports between modules, or return None."""
    known = modules(root)
    graph = {module: sorted(set(imports_of(path, known)) & set(known)) for module, path in known.items()}
    # A package's own __init__ imports from its modules; that they belong to it is not a cycle.
    graph = {m: [d for d in deps if d != m and not m.startswith(d + ".")] for m, deps in graph.items()}
    state = {}

    def visit(module, trail):
        state[module] = "open"
        for below in graph[module]:
            if state.get(below) == "open":
                return [*trail[trail.index(below) :], below] if below in trail else [module, below]
            if below not in state and (found := visit(below, [*trail, below])):
                return found
        state[module] = "closed"
        return None

    for module in graph:
        if module not in state and (found := visit(module, [module])):
            return found
    return None


def test_nothing_lower_imports_anything_higher():
    assert list(upward_imports(ROOT)) == []


def test_there_are_no_import_cycles():
    assert cycle(ROOT) is None


def test_the_map_for_contributors_has_every_package_from_the_bottom_up():
    text = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    mapped = [
        name for row in re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE) for name in re.findall(r"`([\w.]+)`", row)
    ]
    assert sorted(mapped) == sorted(set().union(*RANKS) - {"__init__", "__main__", "_version"})
    assert [rank(f"gradus.{name}") for name in mapped] == sorted(rank(f"gradus.{name}") for name in mapped)


@pytest.fixture
def house(tmp_path):
    """A small house in order, to plant faults in."""
    root = tmp_path / "gradus"
    for name, text in {
        "__init__.py": "",
        "errors.py": "",
        "_core/bits.py": "import gradus.errors",
        "_circuit/network.py": "from gradus._core.bits import pack",
        "_circuit/drawing/dot.py": "from gradus._circuit.network import Network",
        "_search/__init__.py": "",
        "_search/kernel.py": "from gradus._core.bits import pack",
        "_search/driver.py": "def run():\n    from gradus._search import kernel",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_house_in_order_passes(house):
    assert list(upward_imports(house)) == []
    assert cycle(house) is None


@pytest.mark.parametrize(
    "planted",
    [
        "def late():\n    from gradus._search.kernel import run",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gradus._search import kernel",
        "def late():\n    import gradus._search",
        "def late():\n    from gradus import search",
        "import importlib\ndef late():\n    importlib.import_module('gradus._search.kernel')",
    ],
)
def test_a_planted_import_upward_is_found(house, planted):
    (house / "_core" / "bits.py").write_text(planted)
    assert list(upward_imports(house))


@pytest.mark.parametrize(
    ("module", "planted"),
    [
        ("_circuit/network.py", "def late():\n    from gradus._circuit.drawing.dot import network_dot"),
        ("_search/kernel.py", "from gradus._lessons import learn"),
        ("genes/_rules.py", "from gradus._tables.model import Model"),
        ("_pages/kit.py", "from gradus._circuit.drawing.dot import network_dot"),
    ],
)
def test_a_planted_import_from_a_room_beside_or_above_is_found(house, module, planted):
    for room in ("_lessons/__init__.py", "_tables/model.py"):
        (house / room).parent.mkdir(exist_ok=True)
        (house / room).write_text("")
    (house / module).parent.mkdir(exist_ok=True)
    (house / module).write_text(planted)
    assert list(upward_imports(house))


def test_a_planted_cycle_is_found(house):
    (house / "_search" / "kernel.py").write_text("def late():\n    from gradus._search.driver import run")
    assert cycle(house)


def test_a_package_without_a_rank_is_found(house):
    (house / "_new.py").write_text("")
    assert list(upward_imports(house)) == ["gradus._new has no rank"]
