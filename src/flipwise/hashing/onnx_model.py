"""A hash function as an ONNX model: codes in a serving path that has no library of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.errors import InvalidInput, MissingDependency

OPSET, IR = 13, 8
"""Old enough for every runtime of the last years."""


def export_onnx(model: Any, path: str | Path) -> None:
    """Write the hash function of a fitted estimator to an ONNX file: float vectors in, values and packed codes out.

    Input `X` is float32 of shape (n, features). Outputs are `values`, those of `decision_function` (float64), and
    `codes`, the bytes of `encode` (uint8, first bit most significant). The hash function must be linear or RBF.

    Examples
    --------
    >>> from flipwise.hashing import ITQ, export_onnx
    >>> export_onnx(ITQ(64).fit(X), "itq.onnx")  # doctest: +SKIP
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise MissingDependency("onnx", "onnx", "export_onnx") from None
    function = getattr(model, "function_", None)
    if function is None or function.kind not in ("linear", "rbf"):
        raise InvalidInput(
            f"`model` must be a fitted estimator with a linear or RBF hash function, got {type(model).__name__}"
            f"{'' if function is None else f' with {function.kind}'}."
        )
    nodes, constants, n_bits = _graph_of(function)
    graph = helper.make_graph(
        nodes,
        "hash function",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n", int(model.n_features_in_)])],
        [
            helper.make_tensor_value_info("values", TensorProto.DOUBLE, ["n", n_bits]),
            helper.make_tensor_value_info("codes", TensorProto.UINT8, ["n", (n_bits + 7) // 8]),
        ],
        [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    made.producer_name = "flipwise"
    checker.check_model(made)
    write_atomically(Path(path), made.SerializeToString())


def _graph_of(function: Any) -> tuple[list[Any], dict[str, Any], int]:
    """The nodes, what is constant in them, and the number of bits."""
    from onnx import TensorProto, helper

    held = function.arrays()
    n_bits = held["P"].shape[1]
    nodes = [helper.make_node("Cast", ["X"], ["X64"], to=TensorProto.DOUBLE)]
    constants = {"P": held["P"], "bias": held["bias"]}
    features = "X64"
    if function.kind == "rbf":
        features = "kernel"
        anchors, twice = held["anchors"], held.get("symmetry")
        if twice is not None:  # the kernel is summed over a symmetry: so many anchors more
            anchors, constants["P"] = np.concatenate([anchors, anchors[:, twice]]), np.tile(held["P"], (2, 1))
        constants |= {
            "scale": held["scale"],
            "anchors": 2.0 * anchors.T,
            "anchor_squares": (anchors * anchors).sum(axis=1),
            "last_axis": np.array([1]),
            "factor": np.array(-1.0 / float(held["width"][0])),
        }
        nodes += [
            helper.make_node("Mul", ["X64", "scale"], ["scaled"]),
            helper.make_node("MatMul", ["scaled", "anchors"], ["products"]),
            helper.make_node("Mul", ["scaled", "scaled"], ["squared"]),
            helper.make_node("ReduceSum", ["squared", "last_axis"], ["squares"], keepdims=1),
            helper.make_node("Sub", ["squares", "products"], ["one_side"]),
            helper.make_node("Add", ["one_side", "anchor_squares"], ["distances"]),
            helper.make_node("Max", ["distances", "zero"], ["positive"]),
            helper.make_node("Mul", ["positive", "factor"], ["exponents"]),
            helper.make_node("Exp", ["exponents"], [features]),
        ]
    constants |= {
        "zero": np.zeros(()),
        "padding": np.array([0, 0, 0, -n_bits % 8]),
        "bytes": np.array([0, (n_bits + 7) // 8, 8]),
        "powers": np.array([[128], [64], [32], [16], [8], [4], [2], [1]], dtype=np.float32),
        "rows_of_bytes": np.array([0, (n_bits + 7) // 8]),
    }
    nodes += [
        helper.make_node("MatMul", [features, "P"], ["projected"]),
        helper.make_node("Add", ["projected", "bias"], ["values"]),
        helper.make_node("GreaterOrEqual", ["values", "zero"], ["signs"]),
        helper.make_node("Cast", ["signs"], ["bits"], to=TensorProto.FLOAT),
        helper.make_node("Pad", ["bits", "padding"], ["padded"]),
        helper.make_node("Reshape", ["padded", "bytes"], ["grouped"]),
        helper.make_node("MatMul", ["grouped", "powers"], ["numbers"]),
        helper.make_node("Reshape", ["numbers", "rows_of_bytes"], ["flat"]),
        helper.make_node("Cast", ["flat"], ["codes"], to=TensorProto.UINT8),
    ]
    return nodes, constants, n_bits
