"""The laboratory of Gradus: the paper's experiments and our own, as tasks, rows, claims, figures and a report."""

from gradus._version import __version__ as __version__
