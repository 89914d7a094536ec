"""`Problem`: examples with names, from which training and test sets are drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix, WordMatrix, as_bits, check_unique, n_words, tail_mask
from gradus._core.checks import check_count, check_seed
from gradus._core.wording import counted
from gradus._pages.html import notebook_table
from gradus.errors import DataError, SettingsError

__all__ = ["Problem", "TrainTest"]

MOST_PATTERNS_HELD = 1 << 20
DEFAULT_TEST_PATTERNS = 10_000
MOST_DRAWN = 1 << 22
MOST_BITS_IN_A_ROW_NUMBER = 62

Rows = npt.NDArray[np.int64]
Function = Callable[[BoolMatrix], BoolMatrix]


class TrainTest(NamedTuple):
    """A training set and a test set."""

    X_train: BoolMatrix
    Y_train: BoolMatrix
    X_test: BoolMatrix
    Y_test: BoolMatrix


class Problem:
    """Something to learn: patterns, their targets and the names of both.

    A problem is a function (then its patterns are all 2^n_inputs inputs, or a pool of some of them) or a table of
    examples. Up to 2^20 patterns are held as `X` and `Y`; above that nothing is built, and patterns are drawn directly.

    Parameters
    ----------
    name : str
        Sampling depends on it, so that two problems draw different training sets with the same seed.
    input_names, target_names : sequence of str
    function : callable, optional
        From a Boolean matrix of patterns to one of targets; it must be picklable.
    pool : array-like of 0/1, optional
        The patterns, if these are not all patterns.
    targets : array-like of 0/1, optional
        The targets of the pool, if there is no function.
    known_order : sequence of int, optional
        The target columns from easiest to hardest.
    about : str
        One sentence that describes it.

    Attributes
    ----------
    n_patterns : int
        Number of patterns: 2^n_inputs or the size of the pool.

    Examples
    --------
    >>> from gradus import problems
    >>> adder = problems.load("add3")
    >>> adder.n_inputs, adder.n_targets, adder.n_patterns
    (6, 3, 64)
    >>> train, test = adder.sample(10, seed=0)
    >>> len(train), len(test)
    (10, 54)
    """

    def __init__(
        self,
        name: str,
        *,
        input_names: Sequence[str],
        target_names: Sequence[str],
        function: Function | None = None,
        pool: Any = None,
        targets: Any = None,
        known_order: Sequence[int] | None = None,
        about: str = "",
    ) -> None:
        if function is None and (pool is None or targets is None):
            raise DataError(f"problem {name!r} needs a function, or a pool of patterns with their targets.")
        self.name, self.about = name, about
        self.input_names, self.target_names = tuple(map(str, input_names)), tuple(map(str, target_names))
        check_unique(self.input_names, "the list of inputs")
        check_unique(self.target_names, "the list of targets")
        self.known_order = None if known_order is None else tuple(map(int, known_order))
        self._function = function
        self._pool = None if pool is None else _frozen(_table(pool, "X", len(self.input_names)))
        self._targets = None if targets is None else _frozen(_table(targets, "Y", len(self.target_names)))
        if self._pool is not None and self._targets is not None and len(self._pool) != len(self._targets):
            raise DataError(f"X has {len(self._pool)} rows and Y has {len(self._targets)}; they must have the same number.")

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return len(self.input_names)

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.target_names)

    @property
    def n_patterns(self) -> int:
        """Number of patterns that training sets are drawn from."""
        return 1 << self.n_inputs if self._pool is None else len(self._pool)

    @property
    def is_lazy(self) -> bool:
        """Whether there are too many patterns to hold `X` and `Y`."""
        return self._pool is None and self.n_patterns > MOST_PATTERNS_HELD

    @property
    def is_function(self) -> bool:
        """Whether `evaluate` can compute the targets of any pattern."""
        return self._function is not None

    @cached_property
    def X(self) -> BoolMatrix:  # noqa: N802 - the field's own name
        """Every pattern, shape (n_patterns, n_inputs), read-only; without a pool, input i of row r is bit i of r."""
        self._refuse_if_lazy("X")
        return self._pool if self._pool is not None else _frozen(self._patterns(np.arange(self.n_patterns)))

    @cached_property
    def Y(self) -> BoolMatrix:  # noqa: N802 - the field's own name
        """The targets of every pattern, shape (n_patterns, n_targets), read-only."""
        self._refuse_if_lazy("Y")
        return self._targets if self._targets is not None else _frozen(self.evaluate(self.X))

    def evaluate(self, X: Any) -> BoolMatrix:
        """Compute the targets of any patterns.

        Parameters
        ----------
        X : array-like of 0/1, shape (n, n_inputs)

        Returns
        -------
        ndarray of bool, shape (n, n_targets)

        Raises
        ------
        DataError
            If the problem is a table of examples.

        Examples
        --------
        >>> from gradus import problems
        >>> problems.load("add3").evaluate([[1, 1, 0, 1, 0, 0]]).astype(int)  # 3 + 1
        array([[0, 0, 1]])
        """
        if self._function is None:
            raise DataError(f"{self.name!r} is a table of examples: the targets of other patterns are not known.")
        return self._function(_table(X, "X", self.n_inputs))

    def rows(self, numbers: npt.ArrayLike) -> tuple[BoolMatrix, BoolMatrix]:
        """Return the patterns and targets of rows that `sample` has drawn; works for large problems too.

        Examples
        --------
        >>> from gradus import problems
        >>> X, Y = problems.load("add16").rows([3 + (5 << 16)])  # 3 + 5
        >>> Y.astype(int).ravel().tolist()
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        """
        wanted = np.asarray(numbers, dtype=np.int64)
        if not self.is_lazy:
            return self.X[wanted], self.Y[wanted]
        patterns = self._patterns(wanted)
        return patterns, self.evaluate(patterns) if len(patterns) else np.empty((0, self.n_targets), dtype=np.bool_)

    def sample(self, n: int, seed: int, *, n_test: int | None = None) -> tuple[Rows, Rows]:
        """Draw a training set; the test set is every other pattern.

        The training set depends on (name, n, seed) alone.

        Parameters
        ----------
        n : int
            Number of training patterns.
        seed : int
            Number of the sample, 0 or more.
        n_test : int, optional
            Draw only this many test patterns. By default all others, or 10,000 if there are more than 2^20 patterns.

        Returns
        -------
        train, test : ndarray of int64
            Row numbers for `rows`, and for ``X[...]`` and ``Y[...]`` if these are held. No row is in both.

        Raises
        ------
        SettingsError
            If there are fewer patterns, or the rows cannot be numbered (more than 62 inputs: use `examples`).
        """
        n, seed, n_test = self._checked_sizes(n, seed, n_test)
        if not self.is_lazy:
            words = self._stream(n, seed).random_raw(self.n_patterns)
            if n_test is None:
                return _lowest(words, n)
            order = np.argsort(words, kind="stable").astype(np.int64)
            return np.sort(order[:n]), np.sort(order[n : n + n_test])
        if self.n_inputs > MOST_BITS_IN_A_ROW_NUMBER:
            raise SettingsError(
                f"{self.name!r} has {self.n_inputs} inputs, too many to number its rows; use examples(n, seed) instead."
            )
        numbers = self._draw_distinct(n, seed, n_test)[:, 0].astype(np.int64)
        return np.sort(numbers[:n]), np.sort(numbers[n:])

    def examples(self, n: int, seed: int, *, n_test: int | None = None) -> TrainTest:
        """Draw a training set and a test set as `sample` does, and return the patterns themselves; works for any size.

        Parameters
        ----------
        n, seed, n_test
            As for `sample`.

        Returns
        -------
        tuple of four ndarrays of bool
            ``(X_train, Y_train, X_test, Y_test)``.

        Examples
        --------
        >>> from gradus import problems
        >>> X_train, Y_train, X_test, Y_test = problems.load("add40").examples(5, seed=1, n_test=20)
        >>> X_train.shape, Y_test.shape
        ((5, 80), (20, 40))
        """
        if self.n_inputs <= MOST_BITS_IN_A_ROW_NUMBER or not self.is_lazy:
            train, test = self.sample(n, seed, n_test=n_test)
            return TrainTest(*self.rows(train), *self.rows(test))
        n, seed, n_test = self._checked_sizes(n, seed, n_test)
        patterns = bits_of(self._draw_distinct(n, seed, n_test), self.n_inputs)
        Y = self.evaluate(patterns)
        return TrainTest(patterns[:n], Y[:n], patterns[n:], Y[n:])

    def __repr__(self) -> str:
        sizes = f"{counted(self.n_inputs, 'input')}, {counted(self.n_targets, 'target')}, {self._how_many()} patterns"
        return f"Problem({self.name!r}, {sizes})"

    def _repr_html_(self) -> str:
        order = [] if self.known_order is None else [("known order", [self.target_names[k] for k in self.known_order])]
        rows = [("inputs", self.input_names), ("targets", self.target_names), *order]
        return notebook_table(repr(self), ["", self.about], [(what, ", ".join(names)) for what, names in rows])

    def __getstate__(self) -> dict[str, Any]:
        # The truth table is rebuilt where it is needed: sending it to a worker would take longer.
        return {key: value for key, value in self.__dict__.items() if key not in ("X", "Y")}

    def _how_many(self) -> str:
        return f"2^{self.n_inputs}" if self.is_lazy else str(self.n_patterns)

    def _refuse_if_lazy(self, what: str) -> None:
        if self.is_lazy:
            raise DataError(
                f"{self.name!r} has 2^{self.n_inputs} patterns, too many to hold as {what}; draw some with "
                "examples(n, seed), or call evaluate(X) on patterns of your own."
            )

    def _patterns(self, numbers: Rows) -> BoolMatrix:
        if numbers.ndim != 1 or (numbers.size and not 0 <= numbers.min() <= numbers.max() < self.n_patterns):
            raise DataError(f"row numbers must be a list of numbers from 0 up, below {self._how_many()}.")
        if self.n_inputs > MOST_BITS_IN_A_ROW_NUMBER:
            raise DataError(f"{self.name!r} has {self.n_inputs} inputs, too many to number its rows; use examples().")
        return bits_of(numbers.astype(np.uint64)[:, np.newaxis], self.n_inputs)

    def _checked_sizes(self, n: int, seed: int, n_test: int | None) -> tuple[int, int, int | None]:
        n, seed = check_count("n", n), check_seed(seed)
        if n > self.n_patterns:
            raise SettingsError(f"n is {n}; {self.name!r} has only {self._how_many()} patterns.")
        if n_test is None:
            n_test = DEFAULT_TEST_PATTERNS if self.is_lazy else None
        else:
            n_test = check_count("n_test", n_test, least=0)
            if n_test > self.n_patterns - n:
                raise SettingsError(
                    f"n_test is {n_test}; {self.name!r} has {self._how_many()} patterns, and {n} are for training."
                )
        if self.is_lazy and n + (n_test or 0) > min(MOST_DRAWN, self.n_patterns // 2):
            raise SettingsError(
                f"n + n_test is {n + (n_test or 0)}; at most {min(MOST_DRAWN, self.n_patterns // 2)} patterns of "
                f"{self.name!r} can be drawn at once."
            )
        return n, seed, n_test

    def _stream(self, n: int, seed: int) -> np.random.PCG64:
        """Return a stream of random words that depends on (name, n, seed) alone; only raw words are stable across NumPys."""
        digest = hashlib.sha256(self.name.encode("utf-8")).digest()
        return np.random.PCG64(np.random.SeedSequence([int.from_bytes(digest[:16], "little"), n, seed]))

    def _draw_distinct(self, n: int, seed: int, n_test: int | None) -> WordMatrix:
        """Draw distinct patterns as packed rows; the first n do not depend on how many follow."""
        return draw_distinct(self._stream(n, seed), n + (n_test or 0), self.n_inputs)


def _lowest(words: WordMatrix, n: int) -> tuple[Rows, Rows]:
    """Return the places of the n lowest words, and all others, both ascending; of equal words the first is lower."""
    chosen = np.zeros(len(words), dtype=np.bool_)
    chosen[np.argpartition(words, n - 1)[:n]] = True
    if np.count_nonzero(words <= words[chosen].max()) > n:  # equal words on both sides of the cut: sort to be sure
        chosen[:] = False
        chosen[np.argsort(words, kind="stable")[:n]] = True
    return np.flatnonzero(chosen), np.flatnonzero(~chosen)


def draw_distinct(stream: np.random.PCG64, count: int, n_bits: int) -> WordMatrix:
    """Draw distinct patterns uniformly, as packed rows, in the order in which they were drawn."""
    words = n_words(n_bits)
    mask = tail_mask(n_bits, words)
    drawn = np.empty((0, words), dtype=np.uint64)
    while len(drawn) < count:
        fresh = stream.random_raw((count - len(drawn), words)) & mask
        drawn = np.concatenate([drawn, fresh])
        _, first = np.unique(drawn, axis=0, return_index=True)
        drawn = drawn[np.sort(first)]
    return drawn


def bits_of(rows: WordMatrix, n_bits: int) -> BoolMatrix:
    """Unpack rows into a Boolean matrix: column i is bit i."""
    as_bytes = np.ascontiguousarray(rows).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=n_bits, bitorder="little").view(np.bool_)


def _table(values: Any, what: str, n_columns: int) -> BoolMatrix:
    bits = as_bits(values, what)
    if bits.shape[1] != n_columns:
        raise DataError(f"{what} has {bits.shape[1]} columns, but the problem has {n_columns}.")
    return bits


def _frozen(bits: BoolMatrix) -> BoolMatrix:
    view = bits.view()
    view.flags.writeable = False
    return view
