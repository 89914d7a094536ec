"""`Network`, the circuit that everything else learns, writes, draws or evaluates."""

from gradus._network.circuit import Network

__all__ = ["Network"]
