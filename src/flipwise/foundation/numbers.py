"""The one door for numbers: whatever a user has becomes float64 here, or is refused. Every matrix, graph and vector of
the library passes through it.

* Real numbers only. Complex numbers, text, dates and Python objects (None, fractions, integers beyond 64 bits) are
  refused, whatever they could be turned into; True and False are 1 and 0.
* A masked array with masked entries is refused: what stands behind a mask is no number.
* Numbers are widened to float64 before anything is added up. An integer that float64 cannot hold is refused; wider
  floats are rounded.
* NaN and inf are refused.
* Entries of a sparse matrix that are stored more than once are added up, which is scipy's own meaning, and rounded
  once. In a matrix of a quadratic (i, j) and (j, i) are added too; in a graph they are two arcs of one edge.
* The largest number of a quadratic, or of the weights of a graph, must be 0 or at least `SMALLEST`, below which float64
  has no digits left to add with; small ones beside it are as good as any (but below 1e-307 halving takes digits from
  them). The sum of all is at most `LARGEST`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput

SMALLEST, LARGEST = 2.0**-1000, 2.0**1020
"""About 1e-301 and 1e307: the largest number of a problem is 0 or at least this, all of them add up to at most that."""
EXACT = 2**53
"""Up to this size float64 holds every integer."""
FEW = 100_000
"""So many entries that stand in places more than once are added up with a single rounding, at most."""

_REAL = "biuf"
"""NumPy's letters for truths, integers and floats."""
_KINDS = {
    "c": "complex numbers",
    "S": "text",
    "U": "text",
    "T": "text",
    "O": "Python objects",
    "M": "dates",
    "m": "times",
    "V": "records",
}


def as_floats(name: str, values: Any) -> Floats:
    """`values` as a C-contiguous float64 array; refused when they are not finite real numbers."""
    array = as_real(name, values)
    check_integers(name, array)
    floats = _as_float64(array)
    check_finite(name, floats)
    return np.ascontiguousarray(floats)


def as_square(name: str, matrix: Any) -> Any:
    """A square matrix in float64: dense and C-contiguous, or sparse in canonical CSR form (sorted, nothing twice)."""
    is_sparse = sp.issparse(matrix)
    given: Any = matrix if is_sparse else as_floats(name, matrix)
    if len(given.shape) != 2 or given.shape[0] != given.shape[1]:
        raise InvalidInput(f"`{name}` must be a square matrix, got shape {given.shape}.")
    return as_csr(name, given) if is_sparse else given


def labelled_matrix(name: str, matrix: Any) -> tuple[Any, tuple[Any, ...] | None]:
    """A square table of pandas as a matrix with the names of its rows and columns, in one order; others as they are."""
    if not (hasattr(matrix, "columns") and hasattr(matrix, "index") and hasattr(matrix, "loc")):
        return matrix, None
    rows, columns = list(matrix.index), list(matrix.columns)
    count = list(range(len(rows)))
    if rows in (columns, count):
        labels = columns
    elif columns == count:
        labels = rows
    elif len(set(columns)) == len(columns) and set(rows) == set(columns):
        matrix, labels = matrix.loc[columns], columns  # the same names in another order
    else:
        raise InvalidInput(f"`{name}`: the rows and columns of the table must have the same names, each once.")
    if len(set(labels)) != len(labels):
        raise InvalidInput(f"`{name}`: the columns of the table must have different names.")
    return matrix, None if labels == count else tuple(labels)


def as_csr(name: str, matrix: Any) -> sp.csr_array:
    """A sparse matrix of any format in float64 and canonical CSR form; repeated entries are added up."""
    if matrix.dtype.kind not in _REAL:
        raise _other_kind(name, matrix.dtype)
    if matrix.dtype.kind in "iu" and matrix.dtype.itemsize == 8:
        check_integers(name, matrix.tocoo().data)
    try:
        # float64 first: scipy adds up repeated entries in the type the matrix has, and int8 overflows at 128
        wide = matrix if matrix.dtype == np.float64 and matrix.dtype.isnative else matrix.astype(np.float64)
        csr = wide.tocsr()
        # a new object: what the old one has noted about its order may no longer be true
        fresh = sp.csr_array((_as_float64(csr.data), csr.indices, csr.indptr), shape=csr.shape)
        fresh.check_format(full_check=True)
    except (ValueError, IndexError, TypeError) as error:
        raise InvalidInput(f"`{name}` is a damaged {type(matrix).__name__}: {error}.") from None
    if matrix.format == "coo" and fresh.nnz < matrix.data.size <= FEW:  # scipy has added up, one after another
        row, column = matrix.coords
        return _added_up(name, row, column, _as_float64(matrix.data), fresh)
    check_finite(name, fresh.data)
    if fresh.has_canonical_format:
        return fresh
    rows = np.repeat(np.arange(fresh.shape[0]), np.diff(fresh.indptr))
    return _added_up(name, rows, fresh.indices, fresh.data, fresh)


def as_real(name: str, values: Any) -> npt.NDArray[Any]:
    """`values` as an array of some real type, in whatever layout it has; refused when it is none."""
    if sp.issparse(values):
        raise InvalidInput(f"`{name}` must be an array, got a sparse {type(values).__name__}. Use its `toarray()`.")
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            raise InvalidInput(
                f"`{name}` has masked entries, which stand for no number. Fill them: `{name}.filled(0)`."
            )
        values = values.data
    try:
        array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InvalidInput(f"`{name}` must be an array of numbers, got {type(values).__name__}: {error}") from None
    if array.dtype.kind not in _REAL:
        raise _other_kind(name, array.dtype)
    return array


def as_number(name: str, value: Any) -> float:
    """One finite real number as a float; True and False are 1 and 0."""
    if isinstance(value, int | float | np.number | np.bool_) or np.ndim(value) == 0:
        return float(as_floats(name, value).item())
    raise InvalidInput(f"`{name}` must be a number, got {value!r}.")


def check_integers(name: str, array: npt.NDArray[Any]) -> None:
    """Raise when an integer of `array` is none that float64 can hold."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or not array.size:
        return
    if max(int(array.max()), -int(array.min())) <= EXACT:
        return
    for value in array.reshape(-1).tolist():
        if int(float(value)) != value:
            raise InvalidInput(
                f"`{name}` holds the integer {value}, which float64 cannot hold exactly. Divide all numbers by a "
                f"power of two, or round them to at most {EXACT} in size."
            )


def check_finite(name: str, array: npt.NDArray[Any]) -> None:
    """Raise when `array` holds NaN or inf, naming the first offending position."""
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise InvalidInput(
            f"`{name}` must be finite, got {array[where]} at position {where}. Remove or replace NaN and inf."
        )


def largest_size(array: npt.NDArray[Any]) -> float:
    """The largest absolute value in `array`; 0 when it is empty."""
    return max(float(array.max()), -float(array.min())) if array.size else 0.0


def check_size(name: str, numbers: Floats) -> None:
    """Raise when the largest number is too small for float64 to keep its digits, or their sum too large to be one."""
    largest = largest_size(numbers)
    if 0.0 < largest < SMALLEST:
        raise InvalidInput(
            f"`{name}` is too small: the largest number is {largest:.3g}, and below {SMALLEST:.1e} float64 loses "
            "digits. Multiply all numbers by a power of two such as 2.0**600."
        )
    with np.errstate(over="ignore"):
        total = largest if largest * numbers.size <= LARGEST else float(np.abs(numbers).sum())
    if not total <= LARGEST:
        raise InvalidInput(
            f"`{name}` is too large: the sum of its numbers is above {LARGEST:.1e} and may overflow float64. "
            "Multiply all numbers by a power of two such as 2.0**-600."
        )


def _other_kind(name: str, dtype: np.dtype[Any]) -> InvalidInput:
    """The error for what is no real number."""
    what = _KINDS.get(dtype.kind, str(dtype))
    return InvalidInput(f"`{name}` must hold real numbers, got {what} ({dtype}). Convert them to floats first.")


def _as_float64(array: npt.NDArray[Any]) -> Floats:
    """In float64 and the machine's byte order; what is too large becomes inf, which is refused later."""
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


def _added_up(name: str, rows: Ints, columns: Ints, data: Floats, like: sp.csr_array) -> sp.csr_array:
    """The matrix of these entries in canonical form, with the shape and the types of `like`; repeated ones added up."""
    check_finite(name, data)
    order = np.lexsort((columns, rows))
    row, column, data = rows[order], columns[order], data[order]
    new = np.ones(order.size, dtype=bool)
    new[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    starts = np.flatnonzero(new)
    with np.errstate(over="ignore"):
        sums = np.add.reduceat(data, starts) if starts.size else data
    ends = np.append(starts[1:], order.size)
    many = np.flatnonzero(ends - starts > 2)  # of two numbers the sum is rounded once anyway
    if many.size and int((ends - starts)[many].sum()) <= FEW:
        for place in many.tolist():
            sums[place] = _sum_or_inf(data[starts[place] : ends[place]])
    check_finite(name, sums)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[starts], minlength=like.shape[0]))])
    kind = like.indices.dtype
    return sp.csr_array((sums, column[starts].astype(kind), indptr.astype(kind)), shape=like.shape)


def _sum_or_inf(values: Floats) -> float:
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf
