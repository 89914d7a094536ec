"""`Network`: the circuit that the rest of the library learns, writes, draws and evaluates."""

from gradus._circuit.network import Network

__all__ = ["Network"]
