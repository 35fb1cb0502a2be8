"""What must be true of a file that was read: written again, and read once more, it is the same object."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import flipwise
from flipwise.foundation import container
from tests.qubo.programs import qplib_text


def same_graph(format: str) -> Callable[[Any, Path], None]:
    """The compact file has everything; a text format may refuse what it cannot say, and must not change the rest."""

    def check(graph: flipwise.Graph, folder: Path) -> None:
        back = flipwise.read_graph(flipwise.write_graph(graph, folder / "again.flipgraph"))
        assert all(np.array_equal(getattr(graph, name), getattr(back, name)) for name in ("indptr", "indices"))
        assert (graph.weights is None) == (back.weights is None)
        assert graph.weights is None or np.array_equal(graph.weights, back.weights)
        assert graph.names is None or list(graph.names) == list(back.names or ())
        if format == "flipwise":
            return
        with contextlib.suppress(flipwise.InvalidInput, flipwise.InvalidFile):
            path = flipwise.write_graph(graph, folder / "again", format=format)  # type: ignore[arg-type]
            text = flipwise.read_graph(path, format=format)  # type: ignore[arg-type]
            assert _edges(text, format) == _edges(graph, format), (path.read_bytes(), graph.notes)

    return check


def same_listed(format: str) -> Callable[[Any, Path], None]:
    """A format with names and nodes without an edge keeps both, or refuses what it cannot say."""

    def check(graph: flipwise.Graph, folder: Path) -> None:
        with contextlib.suppress(flipwise.InvalidInput, flipwise.InvalidFile):
            path = flipwise.write_graph(graph, folder / "again", format=format)  # type: ignore[arg-type]
            back = flipwise.read_graph(path, format=format)  # type: ignore[arg-type]
            names = [{str(name) for name in (range(g.n) if g.names is None else g.names)} for g in (graph, back)]
            assert names[0] == names[1] and graph.n == back.n, path.read_bytes()
            assert _edges(graph, "edgelist") == _edges(back, "edgelist"), path.read_bytes()

    return check


def _edges(graph: flipwise.Graph, format: str) -> dict[tuple[Any, Any], float]:
    """The edges by their ends: names in an edge list, numbers where a format has no names."""
    named = format == "edgelist" and graph.names is not None
    names: Any = graph.names if named else range(graph.n)  # a header may promise millions of nodes without an edge
    coo = graph.to_scipy().tocoo()
    return {(str(names[i]), str(names[j])): float(w) for i, j, w in zip(coo.row, coo.col, coo.data)}


def same_program(program: flipwise.ConstrainedModel, folder: Path) -> None:
    """Written as text by the tests' own hand, and read again."""
    text = qplib_text(program)
    path = folder / "again.qplib"
    path.write_text(text)
    assert qplib_text(flipwise.read_constrained(path)) == text


def same_model(format: str) -> Callable[[Any, Path], None]:
    """In its own format, or, where that refuses it, in one that can say more."""

    def check(model: flipwise.QuadraticModel, folder: Path) -> None:
        for other in (format, "coo"):
            path = folder / "again"
            try:
                flipwise.write_model(model, path, format=other)
            except flipwise.InvalidInput:
                continue
            back = flipwise.read_model(path, format=other)
            for name in ("linear", "i", "j", "b"):
                assert np.array_equal(getattr(model, name), getattr(back, name)), (name, path.read_bytes()[:500])
            assert model.offset == back.offset and model.variables == back.variables
            assert other == "coo" or model.labels == back.labels

    return check


def same_result(result: flipwise.Result, folder: Path) -> None:
    """All fields."""
    result.save(folder / "again")
    back = flipwise.Result.load(folder / "again")
    assert np.array_equal(result.x, back.x, equal_nan=result.x.dtype.kind == "f")
    assert repr(result.value) == repr(back.value) and result.status is back.status and result.method == back.method


def same_state(state: dict[str, Any], folder: Path) -> None:
    """All values and arrays."""
    back = container.decode("checkpoint", container.encode("checkpoint", state), "again")
    assert back.keys() == state.keys()
    for name, value in state.items():
        alike = (
            value.tobytes() == back[name].tobytes()
            if isinstance(value, np.ndarray)
            else repr(value) == repr(back[name])
        )
        assert alike, name


def same_codes(held: Any, folder: Path) -> None:
    """Codes, or a model that gives the same codes."""
    from flipwise.hashing import Codes, load, save

    save(held, folder / "again.safetensors")
    back = load(folder / "again.safetensors")
    if isinstance(held, Codes):
        assert held == back
    else:
        X = np.random.default_rng(0).standard_normal((3, held.n_features_in_))
        assert np.array_equal(held.function_.decision(X), back.function_.decision(X), equal_nan=True)


def same_index(index: Any, folder: Path) -> None:
    """The same rows, and the same answers."""
    from flipwise.hashing import Index

    index.save(folder / "again.index")
    back = Index.open(folder / "again.index", verify=True)
    assert repr(back) == repr(index) and np.array_equal(back.ids, index.ids)
    for one, other in zip(index._segments, back._segments):
        assert np.array_equal(one.codes, other.codes) and np.array_equal(one.starts, other.starts)
