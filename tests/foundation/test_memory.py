"""Memory: refusals before allocation with the numbers, the peak in every result, counts beyond 2^31."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.bounds.sdp import sdp_bound
from flipwise.densest.core import induced
from flipwise.densest.subset import inner_weight
from flipwise.foundation import checks, container, memory
from flipwise.graphs import store
from flipwise.graphs.graph import index_type
from flipwise.hashing.anchor_graph import anchor_weights
from flipwise.hashing.functions.ridge import Moments
from flipwise.hashing.functions.ridge import dense as written_out
from flipwise.model.forms import ising_form
from flipwise.model.quadratic import Quadratic

TRIANGLE = (3, [[0, 1], [1, 2], [2, 0]])
A = np.ones((6, 6))


def _low_rank() -> object:
    objective = Quadratic(flipwise.LowRank(np.ones((6, 2))))
    return ising_form(objective)


LARGE: list[tuple[Callable[[], object], str]] = [
    (lambda: flipwise.densest_subgraph(TRIANGLE, 2), "graph of 3 nodes"),
    (_low_rank, "matrix of 6 variables"),
    (lambda: ising_form(Quadratic(sp.csr_array(A)), dense_from=0.1), "matrix of 6 variables"),
    (lambda: sdp_bound(Quadratic(A)), "bound for 6 variables"),
    (lambda: sdp_bound(Quadratic(sp.csr_array(A))), "semidefinite bound for 6 variables"),
    (lambda: Moments(50, 2), "50 features"),
    (lambda: written_out(sp.csr_array(A)), "6 x 6 entries"),
    (lambda: anchor_weights(A, A[:2], 2), "anchor graph of 6 rows"),
]


@pytest.mark.parametrize(("work", "words"), LARGE, ids=[words for _, words in LARGE])
def test_what_does_not_fit_is_refused_with_both_numbers(
    work: Callable[[], object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where memory is short the error comes before the allocation and says what is needed and what there is."""
    work()
    monkeypatch.setattr(checks, "SMALL", 0)
    monkeypatch.setenv("FLIPWISE_MEMORY", "10")
    with pytest.raises(flipwise.NotEnoughMemory, match=r"needs .* of memory; 10 bytes are available") as caught:
        work()
    assert words in str(caught.value)
    assert isinstance(caught.value, MemoryError)


def test_arcs_are_counted_before_they_are_stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file whose nodes fit but whose arcs do not is refused with the number of arcs."""
    path = tmp_path / "edges.txt"
    path.write_text("".join(f"{i} {j}\n" for i in range(20) for j in range(i)))
    monkeypatch.setattr(checks, "SMALL", 0)
    monkeypatch.setenv("FLIPWISE_MEMORY", "1000")
    with pytest.raises(flipwise.NotEnoughMemory, match="380 arcs"):
        flipwise.read_graph(path)


def test_sizes_are_not_worth_a_look_when_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small requests do not ask the system."""
    monkeypatch.setenv("FLIPWISE_MEMORY", "nonsense")
    checks.check_memory(1000, "this")
    with pytest.raises(flipwise.InvalidInput, match="FLIPWISE_MEMORY"):
        checks.check_memory(1 << 30, "this")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory by Linux means")
def test_the_limit_of_a_process_is_respected() -> None:
    """Under RLIMIT_AS the available memory is what the limit leaves; a huge matrix is refused, not attempted."""
    code = (
        "import resource, numpy as np, flipwise\n"
        "from flipwise.foundation.memory import available_bytes\n"
        "flipwise.minimize(np.eye(3), method='portfolio', seed=0, effort=1 / 30)\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 27), resource.RLIM_INFINITY))\n"
        "assert available_bytes() <= 1 << 27\n"
        "f = flipwise.Quadratic(flipwise.LowRank(np.ones((3200, 1))))\n"
        "try:\n    flipwise.minimize(f, method='portfolio', seed=0, effort=1 / 30)\n"
        "except flipwise.NotEnoughMemory as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "3,200 variables" in done.stdout and "MiB are available" in done.stdout, done.stderr


def test_the_peak_is_part_of_every_result_and_of_its_file(tmp_path: Path) -> None:
    """The peak covers what the process held before, is saved, and old files do without."""
    ballast = np.ones(5_000_000)
    results = [
        flipwise.minimize(A, seed=0),
        flipwise.solve_qubo(A, seed=0, effort=1 / 30),
        flipwise.maxcut(TRIANGLE, seed=0, effort=1 / 30),
        flipwise.densest_subgraph(TRIANGLE, 2, seed=0, effort=0),
        flipwise.partition((6, [[0, 1], [2, 3], [4, 5]]), 3, seed=0, effort=1 / 30),
    ]
    for result in results:
        assert result.peak_memory is not None and result.peak_memory > ballast.nbytes
    path = tmp_path / "result"
    results[0].save(path)
    assert flipwise.Result.load(path).peak_memory == results[0].peak_memory
    state = container.decode("result", path.read_bytes(), "old")
    del state["peak_memory"]
    path.write_bytes(container.encode("result", state))
    with pytest.raises(flipwise.InvalidFile, match="peak_memory"):
        flipwise.Result.load(path)


def test_numbers_of_bytes_are_readable() -> None:
    """Units go up to TiB."""
    assert memory.shown(10) == "10 bytes"
    assert memory.shown(3 << 30) == "3 GiB"
    assert memory.shown(5 << 40) == "5.0 TiB"


FIRST_ROW = 2**31 + 10
"""Arcs of the first node of the graph below, so that all other rows lie beyond 2^31."""


def _huge_file(path: Path) -> None:
    """A compact file of 4 nodes and more than 2^31 arcs. It is all hole but for its ends: it takes no room on disk.

    The row of node 0 is holes (zeros); nodes 1, 2 and 3 are a triangle whose rows lie beyond 2^31.
    """
    indptr = np.array([0, FIRST_ROW, FIRST_ROW + 2, FIRST_ROW + 4, FIRST_ROW + 6], dtype="<i8")
    rows = np.array([2, 3, 1, 3, 1, 2], dtype="<i4")
    arcs = int(indptr[-1])
    sections = {
        "indptr": {"type": "<i8", "size": indptr.size, "at": 0, "crc": zlib.crc32(indptr.tobytes())},
        "indices": {"type": "<i4", "size": arcs, "at": 64, "crc": 0},
    }
    header = {"nodes": 4, "names": "none", "first": 0, "notes": [], "arrays": sections}
    text = json.dumps(header).encode()
    text += b" " * (-(20 + len(text)) % 64)
    with path.open("wb") as file:
        file.write(struct.pack("<8sIII", store.MAGIC, store.VERSION, len(text), zlib.crc32(text)) + text)
        start = file.tell()
        file.write(indptr.tobytes())
        file.seek(start + 64 + 4 * FIRST_ROW)
        file.write(rows.tobytes())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs files with holes")
@pytest.mark.skipif(sys.maxsize < 2**32, reason="needs 64 bits")
def test_rows_beyond_two_to_the_31_are_found(tmp_path: Path) -> None:
    """With more than 2^31 arcs counts are exact, and kernels read the rows beyond, in both tiers."""
    path = tmp_path / "huge.flipgraph"
    _huge_file(path)
    graph = flipwise.read_graph(path, format="flipwise", verify=False)
    assert graph.n_arcs == FIRST_ROW + 6 > 2**31
    assert graph.degrees.tolist() == [FIRST_ROW, 2, 2, 2]
    assert graph.n_edges == graph.n_arcs // 2
    assert inner_weight(graph, np.array([1, 2, 3])) == 6.0
    inner = induced(graph, np.array([1, 2, 3]))
    assert inner.indices.tolist() == [1, 2, 0, 2, 0, 1] and inner.indptr.tolist() == [0, 2, 4, 6]


def test_index_types_change_at_two_to_the_31() -> None:
    """Node numbers are int32 below 2^31 nodes, int64 from there on."""
    assert index_type(2**31 - 1) == np.int32
    assert index_type(2**31) == np.int64


def test_sums_of_huge_degrees_do_not_overflow() -> None:
    """Degrees whose sum passes 2^31 (and 2^32) add up in 64 bits."""
    indptr = np.array([0, 3_000_000_000, 6_000_000_000])
    graph = flipwise.Graph(indptr, np.empty(0, np.int32))
    assert graph.n_arcs == 6_000_000_000 and graph.n_edges == 3_000_000_000
    assert graph.degrees.sum() == 6_000_000_000
