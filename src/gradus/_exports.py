"""The seam between a network and the formats it can be written in.

`Network` lies below `gradus._formats` and so must not import it. The writers are looked up here by name when a method is
called: importing `gradus._network` loads no format, and the arrow from formats to network stays the only one.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradus._logic.formula import Formula

__all__ = ["Exports"]


def _writer(module: str, function: str = "dumps") -> Any:
    return getattr(
        importlib.import_module(
            {"formula": "gradus._logic.formula", "dot": "gradus._drawing.dot"}.get(module, f"gradus._formats.{module}")
        ),
        function,
    )


class Exports:
    """The ``to_…`` methods of `gradus.Network`: each returns the content of a file."""

    __slots__ = ()

    def to_verilog(self) -> str:
        """Return structural Verilog of ``nand`` primitives; see `gradus._formats.verilog.dumps`.

        Examples
        --------
        >>> from gradus import Network
        >>> "nand (z0, x0, x1);" in Network(2, [[0, 1]], [2]).to_verilog()
        True
        """
        return str(_writer("verilog")(self))

    def to_blif(self) -> str:
        """Return BLIF; see `gradus._formats.blif.dumps`.

        Examples
        --------
        >>> from gradus import Network
        >>> ".names x0 x1 z0" in Network(2, [[0, 1]], [2]).to_blif()
        True
        """
        return str(_writer("blif")(self))

    def to_bench(self) -> str:
        """Return BENCH; see `gradus._formats.bench.dumps`.

        Examples
        --------
        >>> from gradus import Network
        >>> "z0 = NAND(x0, x1)" in Network(2, [[0, 1]], [2]).to_bench()
        True
        """
        return str(_writer("bench")(self))

    def to_aiger(self) -> str:
        """Return ASCII AIGER; see `gradus._formats.aiger.dumps`.

        Examples
        --------
        >>> from gradus import Network
        >>> Network(2, [[0, 1]], [2]).to_aiger()[:13]
        'aag 3 2 0 1 1'
        """
        return str(_writer("aiger")(self))

    def to_aiger_binary(self) -> bytes:
        """Return binary AIGER; see `gradus._formats.aiger.dump_bytes`.

        Examples
        --------
        >>> from gradus import Network
        >>> Network(2, [[0, 1]], [2]).to_aiger_binary()[:13]
        b'aig 3 2 0 1 1'
        """
        return bytes(_writer("aiger", "dump_bytes")(self))

    def to_bnet(self) -> str:
        """Return a `.bnet` model, one rule a target; see `gradus._formats.bnet.dumps`.

        Examples
        --------
        >>> from gradus import Network
        >>> "z0, !x0 | !x1" in Network(2, [[0, 1]], [2]).to_bnet()
        True
        """
        return str(_writer("bnet")(self))

    def to_sbml(self) -> str:
        """Return SBML-qual, with the extra ``bio``; see `gradus._formats.sbml.dumps`.

        Examples
        --------
        >>> from gradus import Network
        >>> "qualitativeSpecies" in Network(2, [[0, 1]], [2]).to_sbml()
        True
        """
        return str(_writer("sbml")(self))

    def to_dot(self, *, order: Sequence[str | int] | None = None) -> str:
        """Return a GraphViz drawing; see `gradus._drawing.dot.dumps`.

        Examples
        --------
        >>> from gradus import Network
        >>> '"g0" -> "out z0"' in Network(2, [[0, 1]], [2]).to_dot()
        True
        """
        return str(_writer("dot")(self, order=order))

    def formulas(self) -> dict[str, Formula]:
        """Return a simplified formula for every target, by its name; see `gradus._logic.formula.formulas`.

        Examples
        --------
        >>> from gradus import Network
        >>> print(Network(2, [[0, 1], [2, 2]], [3]).formulas()["z0"])
        x0 & x1
        """
        found: dict[str, Formula] = _writer("formula", "formulas")(self)
        return found
