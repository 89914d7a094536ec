"""The paper: its specs, the problems it uses, and their names."""

from __future__ import annotations

from importlib import resources

from gradus_paper.plans import Plan
from gradus_paper.results import Results
from gradus_paper.spec import read_spec
from gradus_paper.training_sets import name_of

__all__ = [
    "AUTOMATIC",
    "GAIN_TABLES",
    "KNOWN_ORDER",
    "LATER_TARGETS",
    "PROBLEMS",
    "REAL_WORLD",
    "load_spec",
    "problem_title",
    "problems_of",
]

SPECS = resources.files("gradus_paper") / "specs"
KNOWN_ORDER = ("cpar7", "cmaj9", "sub5", "add6", "cmux15")
"""The problems with a known order, as the paper lists them."""
REAL_WORLD = ("alu74181", "mammalian", "fabrca")
PROBLEMS = (*KNOWN_ORDER, *REAL_WORLD)
"""The problems with curves, in the order in which figures and tables show them."""
AUTOMATIC = ("auto", "auto-random")
"""Orders that are found from minimum feature sets."""
GAIN_TABLES = {
    "yeast": {
        "SK": {"lw": 0.4, "llh": 0.6, "lgh": 0.9},
        "Ste9": {"lw": 0.5, "llh": 0.5, "lgh": 0.5},
        "Rum1": {"lw": 0.4, "llh": 0.4, "lgh": 0.3},
        "PP": {"lw": 1.6, "llh": 0.8, "lgh": 0.5},
        "Cdc2/Cdc13": {"lw": 1.2, "llh": 1.0, "lgh": 1.3},
        "Cdc2/Cdc13*": {"lw": 0.6, "llh": 0.1, "lgh": 1.4},
    },
    "ecoli": {
        "G2": {"lw": 0.1, "llh": 0.7, "lgh": 0.1},
        "G8": {"lw": 0.2, "llh": -0.9, "lgh": 0.1},
        "G6": {"lw": 0.8, "llh": 1.3, "lgh": 1.4},
    },
}
"""The paper's tables 2 and 3: gains over L1 in points, by problem, target and loss."""
LATER_TARGETS = ("Cdc2/Cdc13", "Cdc2/Cdc13*", "G6")
"""Targets of the two time series that improve according to the paper's text: they come later in a hierarchy."""
TITLES = {
    "cpar7": "7-bit cascaded parity",
    "cmaj9": "9-bit cascaded majority",
    "sub5": "5-bit subtraction",
    "add3": "3-bit addition",
    "add4": "4-bit addition",
    "add5": "5-bit addition",
    "add6": "6-bit addition",
    "cmux15": "15-bit cascaded multiplexer",
    "alu74181": "74181",
    "mammalian": "mammalian cell cycle",
    "fabrca": "FA/BRCA pathway",
    "yeast": "fission yeast",
    "ecoli": "E. coli",
}


def load_spec(name: str, *, samples: int | None = None, as_published: bool = False) -> Plan:
    """Read a spec and resolve it to a plan."""
    return read_spec(name, SPECS, samples=samples, as_published=as_published)


def problem_title(problem: str) -> str:
    """Return the readable name of a problem; that of users' own data is the name before the digest."""
    return TITLES.get(problem, name_of(problem))


def problems_of(results: Results) -> list[str]:
    """Return the problems that there are results for: the paper's in its order, then any others."""
    there = results.problems
    return [name for name in PROBLEMS if name in there] + [name for name in there if name not in PROBLEMS]
