"""From time series to the rules of a gene network: hierarchies, ensembles, rules, edges, and how far to trust them."""

from gradus._inference.inference import Inference, infer
from gradus._inference.prior import Prior, read_edges

__all__ = ["Inference", "Prior", "infer", "read_edges"]
