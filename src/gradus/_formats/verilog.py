"""Structural Verilog: one module of ``nand`` primitives."""

from __future__ import annotations

from gradus._formats.names import IDENTIFIER
from gradus._formats.netlist import netlist
from gradus._network import Network

__all__ = ["dumps"]

MODULE = "gradus_network"
# The reserved words of Verilog-2005 and SystemVerilog-2017: a name that is one of them is changed.
_WORDS = """
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
    binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
    constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
    else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
    endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect
    export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global
    highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input
    inside instance int integer interconnect interface intersect join join_any join_none large let liblist library local
    localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
    noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
    property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
    randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
    rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
    signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
    sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri
    tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
    vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
"""
RESERVED = frozenset([*_WORDS.split(), MODULE])


def dumps(network: Network) -> str:
    """Return a network as one Verilog module; gates that no output depends on are left out.

    Parameters
    ----------
    network : Network

    Returns
    -------
    str
        The text of a ``.v`` file. Names that are no plain identifiers are mapped; the map stands in its comments.

    Examples
    --------
    >>> print(dumps(Network(2, [[0, 1], [2, 2]], [3], output_names=["both"])))
    // NAND network written by Gradus: 2 inputs, 1 output, 2 gates
    module gradus_network (
      input x0,
      input x1,
      output both
    );
      wire g0;
      nand (g0, x0, x1);
      nand (both, g0, g0);
    endmodule
    <BLANKLINE>
    """
    circuit = netlist(network, IDENTIFIER, RESERVED)
    ports = [f"  input {name}" for name in circuit.inputs] + [f"  output {name}" for name in circuit.outputs]
    return "\n".join(
        [
            f"// NAND network written by Gradus: {circuit.counts}",
            *(f"// {line}" for line in circuit.map_lines),
            f"module {MODULE} (",
            *([",\n".join(ports)] if ports else []),
            ");",
            *(f"  wire {name};" for name in circuit.wires),
            *(f"  nand ({name}, {a}, {b});" for name, a, b in circuit.gates),
            *(f"  buf ({name}, {source});" for name, source in circuit.copies),
            "endmodule\n",
        ]
    )
