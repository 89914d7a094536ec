"""Compile what most tests call, into NUMBA_CACHE_DIR: ``python .ci/compile_kernels.py search|learn``."""

import sys

import numpy as np

import gradus


def search() -> None:
    """Compile the search for every width of a value, the search for sets, and inference."""
    for n in (40, 100, 200, 400, 700):
        X = np.random.default_rng(0).integers(0, 2, (n, 10))
        gradus.search(X, X[:, :2] ^ X[:, 1:3], order=None, max_iter=2000, n_restarts=0, callback=lambda progress: False)
    gradus.find_curriculum(*gradus.problems.load("add4").examples(60, 0)[:2])
    gradus.genes.infer(gradus.genes.YEAST_SERIES)


def learn() -> None:
    """Compile lessons, with and without noise."""
    X, Y, _, _ = gradus.problems.load("add4").examples(60, 0)
    for noise in (0.0, 0.1):
        gradus.learn(X, Y ^ (np.random.default_rng(0).random(Y.shape) < noise), seed=1)


{"search": search, "learn": learn}[sys.argv[1]]()
