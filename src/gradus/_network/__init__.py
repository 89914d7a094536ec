"""`Network`: the circuit that the rest of the library learns, writes, draws and evaluates."""

from gradus._network.circuit import Network

__all__ = ["Network"]
