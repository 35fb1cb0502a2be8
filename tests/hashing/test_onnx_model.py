"""Hash functions as ONNX models: the codes of a runtime beside ours, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.hashing import ITQ, SDH, FastHash, export_onnx


@pytest.mark.parametrize("kind", ["linear", "rbf", "symmetric"])
def test_a_runtime_gives_the_same_codes(kind: str, tmp_path: Path) -> None:
    """Values to rounding and every byte, bits that do not fill the last byte included."""
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    X = np.random.default_rng(0).standard_normal((200, 9)).astype(np.float32)
    model: Any = ITQ(13, random_state=0)
    if kind != "linear":
        options = {"anchors": 20} | ({"symmetry": np.arange(9)[::-1].copy()} if kind == "symmetric" else {})
        model = SDH(13, hash_function="rbf", hash_options=options, random_state=0)
    model.fit(X, np.arange(200) % 3)
    export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    values, codes = session.run(["values", "codes"], {"X": X})
    assert np.allclose(values, model.decision_function(X), atol=1e-9)
    assert np.array_equal(codes, model.encode(X).packed)


def test_what_cannot_be_told_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees, models that are not fitted, and a missing package have a message; nothing is written."""
    path = tmp_path / "model.onnx"
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "onnx", None)
        with pytest.raises(MissingDependency, match=r"flipwise\[onnx\]"):
            export_onnx(ITQ(8), path)
    pytest.importorskip("onnx", reason="needs the extra onnx")
    X = np.random.default_rng(0).standard_normal((40, 4))
    trees = FastHash(8, hash_function="trees", random_state=0).fit(X, np.arange(40) % 2)
    for model in (ITQ(8), trees):
        with pytest.raises(InvalidInput, match="model"):
            export_onnx(model, path)
    assert not path.exists()
