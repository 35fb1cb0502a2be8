"""Hash codes of more rows than one machine holds: SDH, FSDH and ITQ on blocks of rows.

Rows are only ever read by workers. What is exchanged are sums over rows, added up in a tree of fixed shape: counts of
labels (with them Y'Y, B'B and B'Y of code words for label sets), X'X and X'E for the hash function, the scatter matrix
and V'B for ITQ, whose B-step sgn(VR) is local. Every step is a function of (block, small matrices): a worker that dies
costs its share of one step. Codes are written by the workers, packed, a shard for each block.
"""

from __future__ import annotations

import copy
import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.distributed.crew import Crew
from flipwise.distributed.rows import Blocks, CodeShards, as_blocks, batches, labels_of
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.alternation import FitContext
from flipwise.hashing.codes import Codes
from flipwise.hashing.functions.rbf import DIRECT
from flipwise.hashing.functions.ridge import HashFunction, Moments, Targets, chunks, dense, make_function
from flipwise.hashing.labels import LabelSets
from flipwise.hashing.quantisation import leading_axes, procrustes, random_rotation, rounds_are_over


def fit_hasher(
    estimator: Any, X: Any, y: Any = None, *, client: Any, codes: str | Path | None = None, label: str = "label"
) -> Any:
    """Fit an estimator to rows on a cluster; returns the estimator, which hashes new rows as always.

    Parameters
    ----------
    estimator
        `SDH` or `FSDH` (hash function "linear", or "rbf" with up to 2,000 anchors; one label a row), or `ITQ`.
    X
        A folder of Parquet files, an `.npy` file, or a Dask array of shape (n, features).
    y
        The labels. In Parquet they are the column `label`.
    client
        A connected `dask.distributed.Client`.
    codes
        A folder for the learned codes of all rows, in packed shards (see `CodeShards`); None: they are not written.
    label
        The column of labels in Parquet files.

    Returns
    -------
    The fitted estimator. Its `codes_` are empty: the codes stay in their shards.

    Examples
    --------
    >>> import dask.array as da, flipwise.distributed, numpy as np
    >>> from distributed import Client, LocalCluster
    >>> from flipwise.hashing import ITQ
    >>> X = da.from_array(np.random.default_rng(0).standard_normal((500, 8)), chunks=(100, 8))
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster, Client(cluster) as client:
    ...     itq = flipwise.distributed.fit_hasher(ITQ(n_bits=16, random_state=0), X, client=client)
    >>> itq.transform(np.zeros((1, 8))).shape
    (1, 2)
    """
    crew = Crew(client)
    name = type(estimator).__name__
    if name not in ("SDH", "FSDH", "ITQ"):
        raise InvalidInput(f"`estimator` must be SDH, FSDH or ITQ to be fitted on a cluster, got {name}.")
    supervised = name != "ITQ"
    rows = as_blocks(X, y, label, supervised, client)
    # The estimator's own checks of its parameters, its generator and its clock, with two rows of the right width.
    _, context = estimator._begin(np.eye(2, rows.shape[1]))
    shards = None if codes is None else CodeShards.begin(Path(codes), estimator.n_bits)
    learned = (_fit_supervised if supervised else _fit_itq)(estimator, rows, context, crew)
    if shards is not None:
        tasks = [(*block, str(shards.folder), s, learned) for s, block in enumerate(rows.blocks)]
        shards.finish(crew.ask("write-codes", _write_codes, tasks))
    estimator.codes_ = Codes(np.empty((0, (estimator.n_bits + 7) // 8), dtype=np.uint8), estimator.n_bits)
    return estimator


def encode_rows(estimator: Any, X: Any, folder: str | Path, *, client: Any, label: str = "label") -> CodeShards:
    """Hash rows on a cluster with a fitted estimator; returns the packed shards, which `CodeShards.search` searches.

    `X` is as in `fit_hasher`; a column `label` of Parquet files is no feature.
    """
    crew = Crew(client)
    rows = as_blocks(X, None, label, False, client)
    shards = CodeShards.begin(Path(folder), estimator.n_bits)
    tasks = [(*block, str(shards.folder), s, _Hashed(estimator.function_)) for s, block in enumerate(rows.blocks)]
    return shards.finish(crew.ask("encode-rows", _write_codes, tasks))


class _Words(NamedTuple):
    """Code words, and the class of each: rows have the code of their label."""

    words: npt.NDArray[np.int8]
    classes: npt.NDArray[Any]

    def rows_of(self, y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Which word each label has."""
        return np.searchsorted(self.classes, y)

    def values(self, *block: Any) -> Iterator[npt.NDArray[Any]]:
        """The codes of the rows of a block, which their labels tell."""
        for labels in labels_of(*block):
            yield self.words[self.rows_of(labels)]


class _Rotation(NamedTuple):
    """What ITQ has learned: rows have the signs of their rotated principal components."""

    axes: Floats
    shift: Floats
    R: Floats

    def components(self, rows: npt.NDArray[Any]) -> Floats:
        """The principal components of rows."""
        return np.asarray(rows @ self.axes, dtype=np.float64) - self.shift

    def values(self, *block: Any) -> Iterator[Floats]:
        """The values whose signs are the codes of the rows of a block."""
        for rows, _ in batches(*block):
            yield self.components(rows) @ self.R


class _Hashed(NamedTuple):
    """Rows have the code that a hash function gives them."""

    function: HashFunction

    def values(self, *block: Any) -> Iterator[Floats]:
        """The values whose signs are the codes of the rows of a block."""
        for rows, _ in batches(*block):
            yield self.function.decision(rows)


@dataclass(frozen=True, eq=False)
class _CountedSets(LabelSets):
    """Classes of which only the numbers of rows are known."""

    rows: Floats

    @property
    def counts(self) -> Floats:
        """How many rows have each class."""
        return self.rows


def _fit_supervised(estimator: Any, rows: Blocks, context: FitContext, crew: Crew) -> _Words:
    """Learn code words from the counts of labels here, and the hash function from sums over the rows."""
    nothing = np.empty(0, dtype=np.int64)
    schedule = estimator._schedule(None, nothing, nothing.astype(bool), context.clock)
    limited = not estimator.distinct or getattr(estimator, "nu", 0.0) > 0.0 or isinstance(estimator.alpha, str)
    if limited or estimator.hash_function not in ("linear", "rbf"):
        raise InvalidInput(
            "`estimator`: on a cluster SDH and FSDH need distinct=True, nu=0, alpha as a number and hash_function "
            '"linear" or "rbf".'
        )
    counts: Counter[Any] = crew.reduce("count-labels", _count_labels, rows.blocks, operator.add)
    if estimator.missing_label in counts:
        raise InvalidInput(f"`X`: rows without a label ({estimator.missing_label}) must be left out on a cluster.")
    classes = np.array(sorted(counts))
    numbers = np.array([counts[each] for each in classes.tolist()], dtype=np.float64)
    sets = _CountedSets(np.eye(classes.size), nothing, classes, False, numbers)
    words = _Words(estimator._learned_words(sets, schedule, context).x, classes)
    function: Any = make_function(estimator.hash_function, estimator.hash_options)
    function.prepare(rows, context.rng)
    if estimator.hash_function == "rbf" and len(function.anchors_) > DIRECT:
        raise InvalidInput(f"`hash_options`: at most {DIRECT} anchors on a cluster, got {len(function.anchors_)}.")
    tasks = [(*block, function, words) for block in rows.blocks]
    function._moments = crew.reduce("hash-function-sums", _block_moments, tasks, Moments.joined)
    function.solve(Targets(words.words, np.empty(0, dtype=np.int64)))
    function._moments = None
    estimator.function_ = function
    return words


def _fit_itq(estimator: Any, rows: Blocks, context: FitContext, crew: Crew) -> _Rotation:
    """Learn the axes and the rotation from sums over the rows."""
    if estimator.whitening == "auto" or rows.shape[0] < rows.shape[1]:
        raise InvalidInput("`estimator`: on a cluster ITQ needs a number as `whitening` and more rows than features.")
    total = crew.reduce("feature-sums", _feature_sums, rows.blocks, np.add)
    mean = total / rows.shape[0]
    scatter = crew.reduce("scatter", _block_scatter, [(*block, mean) for block in rows.blocks], np.add)
    wanted = estimator.n_bits if estimator.n_components is None else estimator.n_components
    axes, variances = leading_axes(scatter / rows.shape[0], min(wanted, *rows.shape))
    estimator.whitening_ = float(estimator.whitening)
    axes = estimator.whitened(axes, variances)
    bits = rows.shape[0] * estimator.n_bits
    now = _Rotation(axes, mean @ axes, random_rotation(axes.shape[1], estimator.n_bits, context.rng))
    before = None
    with context.timed_b_step():
        for _ in range(estimator.rounds):
            tasks = [(*block, now, before) for block in rows.blocks]
            cross, moved = crew.reduce("rotate", _block_rotation, tasks, _sum_pairs)
            now, before = now._replace(R=procrustes(cross)), now.R
            if rounds_are_over(estimator.optimizer, moved, bits) or context.clock.expired:
                break
    estimator.b_step_seconds_ = context.b_step_seconds
    estimator.set_rotation(axes, mean, now.R)
    return now


# --- on workers ------------------------------------------------------------------------------------------------------


def _count_labels(*block: Any) -> Counter[Any]:
    """How many rows of a block have each label."""
    counts: Counter[Any] = Counter()
    for y in labels_of(*block):
        if y is None or y.ndim != 1 or (y.dtype.kind == "f" and (y != np.floor(y)).any()):
            raise InvalidInput("`y` must hold one class for each row.")
        counts.update(dict(zip(*(each.tolist() for each in np.unique(y, return_counts=True)), strict=True)))
    return counts


def _block_moments(group: Any, X: Any, y: Any, function: Any, words: _Words) -> Moments:
    """The sums of a block from which the hash function is solved."""
    function = copy.copy(function)
    function._moments = None
    for rows, labels in batches(group, X, y):
        function.add(rows, Targets(words.words, words.rows_of(labels)))
    moments: Moments = function._moments
    return moments


def _feature_sums(*block: Any) -> Floats:
    """The sums of the features of a block."""
    return np.sum([X.sum(axis=0, dtype=np.float64) for X, _ in batches(*block)], axis=0)  # type: ignore[no-any-return]


def _block_scatter(group: Any, X: Any, y: Any, mean: Floats) -> Floats:
    """The scatter matrix of a block around the mean of all rows."""
    C = np.zeros((mean.size, mean.size))
    for rows, _ in batches(group, X, y):
        for at in chunks(len(rows)):
            part = dense(rows[at]) - mean
            C += part.T @ part
    return C


def _block_rotation(group: Any, X: Any, y: Any, now: _Rotation, before: Floats | None) -> tuple[Floats, int]:
    """V'B for B = sgn(VR), and how many bits differ from those of the rotation `before`."""
    cross, moved = np.zeros(now.R.shape), 0
    for rows, _ in batches(group, X, y):
        V = now.components(rows)
        up = V @ now.R >= 0.0
        moved += up.size if before is None else int(np.count_nonzero(up != (V @ before >= 0.0)))
        cross += V.T @ np.where(up, 1.0, -1.0)
    return cross, moved


def _sum_pairs(a: tuple[Floats, int], b: tuple[Floats, int]) -> tuple[Floats, int]:
    """What `_block_rotation` gives for two blocks together."""
    return a[0] + b[0], a[1] + b[1]


def _write_codes(
    group: Any, X: Any, y: Any, folder: str, s: int, learned: _Words | _Rotation | _Hashed
) -> tuple[int, int]:
    """Write the codes of a block to shard s; returns its rows and its checksum."""
    pieces = [Codes.from_signs(values).packed for values in learned.values(group, X, y)]
    return CodeShards.write(Path(folder), s, np.concatenate(pieces))
