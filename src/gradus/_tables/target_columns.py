"""Targets as `fit` gets them: checked, and split into columns with names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets

from gradus._core.bits import column_names
from gradus._tables.labels import is_unknown

__all__ = ["target_columns"]


def target_columns(y: Any, rows: int) -> dict[str, npt.NDArray[Any]]:
    """Check targets and split them into columns by name, each with its own type."""
    if y is None:
        raise ValueError("This BooleanNetworkClassifier estimator requires y to be passed, but the target y is None.")
    if isinstance(y, np.ma.MaskedArray):
        y = np.where(np.ma.getmaskarray(y), np.array(None, dtype=object), np.ma.getdata(y).astype(object))
    checked = check_array(y, accept_sparse="csr", ensure_all_finite="allow-nan", ensure_2d=False, dtype=None, input_name="y")
    dense = checked.toarray() if hasattr(checked, "toarray") else checked
    if dense.ndim == 1:
        name = getattr(y, "name", None)
        columns, names = [dense], ["y" if name is None else str(name)]
    else:
        if dense.shape[1] == 1:
            warnings.warn(
                "y has one column: a vector of shape (n,) was expected, and predictions will be one.",
                DataConversionWarning,
                stacklevel=4,
            )
        names = list(column_names(y, "y") or (f"z{k}" for k in range(dense.shape[1])))
        split = y.iloc if hasattr(y, "iloc") else dense
        columns = [np.asarray(split[:, k]) for k in range(dense.shape[1])]
    if len(columns[0]) != rows:
        check_consistent_length(np.empty(rows), columns[0])
    for column in columns:
        known = column[~is_unknown(column)]
        check_classification_targets(np.array(known.tolist()) if column.dtype == object and len(known) else known)
    return dict(zip(names, columns, strict=True))
