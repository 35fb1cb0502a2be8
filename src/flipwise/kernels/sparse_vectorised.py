"""Kernels on sparse symmetric matrices once more, in NumPy, to the same bits: where compiling would take longer."""

from __future__ import annotations

import numpy as np


def row_of_each(indptr):
    """The row of each entry."""
    return np.repeat(np.arange(indptr.size - 1), np.diff(indptr))


def csr_gradient(indptr, indices, data, x, c, g):
    """Write 2Ax + c into `g`; `np.bincount` adds in the order of the row."""
    g[:] = 2.0 * np.bincount(row_of_each(indptr), weights=data * x[indices], minlength=g.size) + c


def csr_row_sums(indptr, data, c, sums):
    """Write the row sums of |A|, doubled, plus |c| into `sums`."""
    sums[:] = 2.0 * np.bincount(row_of_each(indptr), weights=np.abs(data), minlength=sums.size) + np.abs(c)


def csr_is_symmetric(indptr, indices, data, cursor):
    """Whether A = A', for sorted rows."""
    rows = row_of_each(indptr)
    order = np.argsort(indices, kind="stable")
    return all(np.array_equal(a[order], b) for a, b in ((indices, rows), (rows, indices), (data, data)))
