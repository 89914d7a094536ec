"""The scikit-learn estimator that turns a table into a `Model`."""

from gradus._estimator.classifier import BooleanNetworkClassifier

__all__ = ["BooleanNetworkClassifier"]
