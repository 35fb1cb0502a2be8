"""`flipwise.densest_block` and `flipwise.densest_directed_subgraph`: from a matrix or arcs to two dense sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from flipwise.densest.block_result import DenseBlock, DirectedSubgraph
from flipwise.densest.block_search import BlockSearch
from flipwise.densest.shapes import DensestShape
from flipwise.densest.twosided import BlockObjective, NonemptyBlocks, TwoSided
from flipwise.engine.limits import Limits
from flipwise.engine.run import Callback
from flipwise.engine.solve import solve
from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import is_whole, seed_of
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.graphs.digraph import ArcMatrix, read_arcs, read_pairs
from flipwise.model.constraints import GroupCounts
from flipwise.model.problem import Problem

MODEST = 1e-100, 1e100
"""Between these is the largest weight."""
R = TypeVar("R", bound=DenseBlock)


def densest_block(
    matrix: Any,
    rows: int | None = None,
    columns: int | None = None,
    *,
    bound: str = "auto",
    effort: float = 1.0,
    start: tuple[Sequence[Any], Sequence[Any]] | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    gap: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    weight: str | None = "weight",
    names: tuple[str, ...] | None = None,
) -> DenseBlock:
    """Find rows and columns of a matrix, or nodes on both sides of a bipartite graph, that are dense together.

    With `rows` and `columns`, the heaviest block of these sizes is searched, with a proven bound. Without them the
    block of the largest density, weight / sqrt(rows * columns), of all sizes is found exactly: by maximum flows, which
    also prove it.

    Parameters
    ----------
    matrix
        A scipy sparse or NumPy matrix of weights; a networkx graph with the node attribute `bipartite` (0: rows, 1:
        columns) or an igraph graph with the vertex attribute `type`; a pandas, polars or pyarrow table or the path of
        an edge list, CSV or Parquet file, whose first column of nodes holds the rows and whose second the columns; the
        path of a MatrixMarket file.
    rows, columns
        How many of each, both or neither.
    bound
        "auto" proves an upper bound, "none" skips that (for given sizes).
    effort
        How long to search past the first ascents, 1 by default (for given sizes).
    start
        Rows and columns to begin from, by their names (for given sizes).
    seed, time_limit, target, gap, callback, threads, verbose
        As in `densest_subgraph`; `target` is a density.
    weight
        The edge attribute with the weights in graphs of networkx and igraph; None ignores weights.
    names
        Of a table, or a file of one: the names of the columns of the rows, the columns and, if wanted, the weight.

    Returns
    -------
    DenseBlock
        With `rows`, `columns`, `weight`, `density`, `bound`, `gap`, `optimal`.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> matrix = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]])
    >>> block = flipwise.densest_block(matrix, 2, 3, seed=0)
    >>> block.rows, block.columns, block.weight, block.optimal
    ([0, 1], [0, 1, 2], 6.0, True)
    """
    arcs = read_pairs(matrix, weight=weight, columns=names)
    limits = Limits(time_limit, None, target, None, gap)
    sizes = _checked_sizes(arcs, ("rows", rows), ("columns", columns))
    run = {"callback": callback, "threads": threads, "verbose": verbose, "seed": seed}
    return _find_block(DenseBlock, arcs, sizes, bound, effort, start, limits, run)


def densest_directed_subgraph(
    graph: Any,
    sources: int | None = None,
    targets: int | None = None,
    *,
    bound: str = "auto",
    effort: float = 1.0,
    start: tuple[Sequence[Any], Sequence[Any]] | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    target: float | None = None,
    gap: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    weight: str | None = "weight",
    columns: tuple[str, ...] | None = None,
) -> DirectedSubgraph:
    """Find two sets S and T of nodes of a directed graph with many arcs from S to T; they may have nodes in common.

    Without sizes, the largest w(S, T) / sqrt(|S| |T|) of all sets (Kannan and Vinay 1999), exactly and proven. With
    `sources` and `targets`, the sizes of S and T, the heaviest such pair is searched, with a proven bound.

    Parameters
    ----------
    graph
        A scipy sparse or NumPy matrix whose entry (i, j) is the weight of the arc from i to j; a directed graph of
        networkx or igraph; a pandas, polars or pyarrow table; a pair (number of nodes, arcs); the path of an edge list,
        CSV, Parquet or MatrixMarket file, whose first column holds the sources. Self loops are left out.
    sources, targets
        How many nodes of each kind, both or neither.
    bound, effort, start, seed, time_limit, target, gap, callback, threads, verbose, weight
        As in `densest_block`.
    columns
        Of a table, or a file of one: the names of the columns of the sources, the targets and, if wanted, the weight.

    Returns
    -------
    DirectedSubgraph
        With `sources`, `targets`, `weight`, `density`, `bound`, `gap`, `optimal`.

    Examples
    --------
    >>> import flipwise
    >>> arcs = [[0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 0]]
    >>> found = flipwise.densest_directed_subgraph((5, arcs))
    >>> found.sources, found.targets, found.weight
    ([0, 1], [2, 3, 4], 6.0)
    """
    arcs = without_loops(read_arcs(graph, weight=weight, columns=columns))
    limits = Limits(time_limit, None, target, None, gap)
    sizes = _checked_sizes(arcs, ("sources", sources), ("targets", targets))
    run = {"callback": callback, "threads": threads, "verbose": verbose, "seed": seed}
    return _find_block(DirectedSubgraph, arcs, sizes, bound, effort, start, limits, run)


def without_loops(arcs: ArcMatrix) -> ArcMatrix:
    """The arcs between two nodes; how many others there were becomes a note."""
    loops = int(np.count_nonzero(arcs.matrix.diagonal()))
    if not loops:
        return arcs
    matrix = arcs.matrix.tocoo()
    kept = matrix.row != matrix.col
    inner = sp.csr_array((matrix.data[kept], (matrix.row[kept], matrix.col[kept])), shape=matrix.shape)
    note = f"{loops:,} self loop{'s' if loops > 1 else ''} left out."
    return replace(arcs, matrix=inner, notes=(*arcs.notes, note))


def _checked_sizes(arcs: ArcMatrix, *given: tuple[str, int | None]) -> tuple[int, int] | None:
    """The two sizes, checked; None for blocks of any size."""
    (first, a), (second, b) = given
    if not all(arcs.matrix.shape):
        raise InvalidInput(f"the matrix has no entries: its shape is {arcs.matrix.shape}.")
    if a is None and b is None:
        return None
    for (name, count), most in zip(given, arcs.matrix.shape):
        if count is None:
            raise InvalidInput(f"`{name}` is missing: give `{first}` and `{second}`, or neither for any sizes.")
        if not is_whole(count) or not 1 <= count <= most:
            raise InvalidInput(f"`{name}` must be an integer from 1 to {most:,}, got {count!r}.")
    return int(a), int(b)  # type: ignore[arg-type]


def _find_block(
    kind: type[R],
    arcs: ArcMatrix,
    sizes: tuple[int, int] | None,
    bound: str,
    effort: float,
    start: tuple[Sequence[Any], Sequence[Any]] | None,
    limits: Limits,
    run: dict[str, Any],
) -> R:
    """The block as a result; what does not go together is refused before any work."""
    if bound not in ("auto", "none"):
        raise InvalidInput(f'`bound` must be "auto" or "none", got {bound!r}.')
    limits.bound_to_prove(bound)
    if not 0.0 <= effort < float("inf"):
        raise InvalidInput(f"`effort` must be a number of at least 0, got {effort!r}.")
    sides = TwoSided.of(arcs.matrix)
    least, most = sides.weight_range
    size = max(-least, most)
    if size and not MODEST[0] <= size <= MODEST[1]:
        raise InvalidInput(f"the largest weight must be between {MODEST[0]:.0e} and {MODEST[1]:.0e}, got {size:.3g}.")
    bounds: dict[str, float] = {}
    if sizes is None:
        if start is not None:
            raise InvalidInput("`start` is for blocks of given sizes: give both sizes, or leave it out.")
        if least < 0.0:
            raise InvalidInput(
                "blocks of any size are found for weights that are not negative, and the least weight is "
                f"{least:.6g}. Give both sizes, or leave those entries out."
            )
        problem = Problem(BlockObjective(sides, True), NonemptyBlocks(sides.rows))
        solver: Any = DensestShape()
        scale = 1.0
    else:
        a, b = sizes
        groups = np.repeat([0, 1], [sides.rows, sides.columns])
        problem = Problem(BlockObjective(sides, False), GroupCounts(groups, [a, b]))
        first = None if start is None else _numbers_of_named(arcs, start)
        solver = BlockSearch(a, b, effort, bound == "auto", first, bounds)
        scale = float(np.sqrt(a * b))
    if limits.target is not None:
        limits = replace(limits, target=-limits.target * scale)
    with guarded_interrupts():
        found = solve(problem, solver, limits=limits, **run)
        result = kind.of(found, sides, arcs, bounds, by_density=sizes is None)
    result.seed = seed_of(run["seed"])
    assert isinstance(result, kind)
    return result


def _numbers_of_named(arcs: ArcMatrix, start: tuple[Sequence[Any], Sequence[Any]]) -> Ints:
    """The numbers of the rows and columns that a user names."""
    if not isinstance(start, tuple | list) or len(start) != 2:
        raise InvalidInput("`start` must be a pair: rows, and columns.")
    found: list[int] = []
    for given, names, count, first in (
        (start[0], arcs.rows, arcs.matrix.shape[0], 0),
        (start[1], arcs.columns, arcs.matrix.shape[1], arcs.matrix.shape[0]),
    ):
        places = {name: i for i, name in enumerate(range(count) if names is None else names)}
        unknown = [name for name in given if name not in places]
        if unknown:
            raise InvalidInput(f"`start` must hold rows and columns of the matrix; {unknown[0]!r} is none of them.")
        found += [first + places[name] for name in given]
    return np.unique(np.array(found, dtype=np.int64))
