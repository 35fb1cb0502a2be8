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
