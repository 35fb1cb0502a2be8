"""Labels as distinct label sets: items with the same labels have the same subproblem, so each set is solved once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The distinct label sets of some items.

    Attributes
    ----------
    Y
        0/1 matrix (sets x classes).
    of_item
        The set of each item.
    classes
        The class values, or column numbers when multi-hot labels were given.
    multilabel
        Whether the labels were multi-hot.
    """

    Y: Floats
    of_item: Ints
    classes: npt.NDArray[Any]
    multilabel: bool

    @property
    def counts(self) -> Floats:
        """How many items have each set."""
        return np.bincount(self.of_item, minlength=len(self.Y)).astype(np.float64)


def as_label_sets(y: npt.ArrayLike) -> LabelSets:
    """Labels of shape (n,), one class an item, or multi-hot 0/1 of shape (n, classes)."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 1:
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InvalidInput("`y` must not hold NaN or inf.")
        classes, of_item = np.unique(array, return_inverse=True)
        return LabelSets(np.eye(classes.size), of_item.astype(np.int64), classes, False)
    if array.ndim != 2:
        raise InvalidInput(f"`y` must have shape (n,) or (n, classes), got {array.shape}.")
    if not ((array == 0) | (array == 1)).all():
        raise InvalidInput("`y` of shape (n, classes) must be multi-hot: only 0 and 1.")
    packed = np.packbits(array.astype(np.bool_), axis=1)
    _, first, of_item = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    sets = array[first].astype(np.float64)
    return LabelSets(sets, of_item.reshape(-1).astype(np.int64), np.arange(array.shape[1]), True)
