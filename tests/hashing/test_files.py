"""Estimators and codes in files: the same answers after loading, other files refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("safetensors")

from sklearn.base import clone

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.hashing import SDH, Codes, load, save
from tests.hashing.models import ESTIMATORS


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_saved_estimators_transform_alike(estimator: Any, digits: Any, tmp_path: Path) -> None:
    """A loaded estimator has the parameters, codes and answers of the saved one."""
    X, y, Q, _ = digits
    model = clone(estimator).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert type(again) is type(model) and again.get_params() == model.get_params()
    assert np.array_equal(again.transform(Q), model.transform(Q)) and again.codes_ == model.codes_


def test_files_are_checked(tmp_path: Path, digits: Any) -> None:
    """Codes round-trip; other files and unfitted estimators are refused."""
    codes = Codes.from_bits(np.eye(5), "little")
    save(codes, tmp_path / "codes.safetensors")
    again = load(tmp_path / "codes.safetensors")
    assert again == codes and again.bit_order == "little"
    (tmp_path / "other").write_bytes(b"not a file of ours")
    with pytest.raises(InvalidFile, match="safetensors"):
        load(tmp_path / "other")
    with pytest.raises(InvalidInput, match="fitted"):
        save(SDH(), tmp_path / "x")


def test_what_belongs_to_one_fit_is_not_saved(tmp_path: Path, digits: Any) -> None:
    """A callback and a checkpoint stay behind; a limit is a parameter like others."""
    model = SDH(8, random_state=0, time_limit=60.0, callback=print, checkpoint=tmp_path / "fit", every=9.0)
    model.set_params(callback=lambda progress: None).fit(digits[0], digits[1]).save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.callback is None and again.checkpoint is None and (again.time_limit, again.every) == (60.0, 9.0)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_forged_models_are_refused(estimator: Any, digits: Any, tmp_path: Path) -> None:
    """An array that is missing, of another shape, not finite or points nowhere: refused when it is loaded."""
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    path, forged = tmp_path / "model.safetensors", tmp_path / "forged.safetensors"
    clone(estimator).fit(digits[0], digits[1]).save(path)
    with safe_open(str(path), framework="numpy") as file:
        about = file.metadata()
    arrays = load_file(path)
    for name, array in arrays.items():
        scales = name.split(".")[-1] in ("width", "scale", "symmetry")  # one number, or one for each feature
        wrong = [] if scales else [array[:-1], array.reshape(-1)[:1], array[None]]
        if array.dtype.kind == "f":
            wrong.append(np.full_like(array, np.nan))
        if name.split(".")[-1] in ("left", "right", "feature", "start"):
            wrong += [array - 1, array + array.size, *([array[::-1]] if name.split(".")[-1] != "feature" else [])]
        if name == "codes":
            wrong = [array[:, :0], array.astype(np.int16)]
        for value in wrong:
            if value.shape == array.shape and np.array_equal(value, array):
                continue
            save_file(arrays | {name: np.ascontiguousarray(value)}, forged, metadata=about)
            with pytest.raises(InvalidFile, match="forged"):
                load(forged)
    for field in ("class", "function", "parameters", "n_features", "feature_names"):
        for value in ("", "x", "-1", "[]", "1" * 40, "[" * 100_000, "{}"):
            if (field, value) in {("feature_names", "[]"), ("parameters", "{}")}:
                continue
            save_file(arrays, forged, metadata=about | {field: value})
            with pytest.raises(InvalidFile, match="forged"):
                load(forged)
