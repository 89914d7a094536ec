"""From time series to the rules of a gene network: regulator sets with posteriors, rules, edges, and how far to trust them."""

from gradus._inference.inference import Inference, infer

__all__ = ["Inference", "infer"]
