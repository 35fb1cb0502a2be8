"""SDH and FSDH: retrieval, optimisers on one loss, refinement, coupling, closed forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from flipwise.hashing import FSDH, SDH, mean_average_precision


@pytest.mark.parametrize("function", ["linear", "rbf", "trees"])
def test_supervised_codes_retrieve(function: str, digits: Any) -> None:
    """SDH finds the digits' classes, with every hash function, far above chance (0.1)."""
    X, y, Q, yq = digits
    assert SDH(32, hash_function=function, random_state=0).fit(X, y).score(Q, yq) > 0.75


@pytest.mark.parametrize("optimizer", ["dpcd", "dcc", "sgm"])
@pytest.mark.parametrize("distinct", [True, False])
def test_optimisers_share_the_loss(optimizer: str, distinct: bool, digits: Any) -> None:
    """Every optimiser of SDH ends with codes that fit the labels, on items as on label sets."""
    X, y, Q, yq = digits
    model = SDH(24, optimizer=optimizer, distinct=distinct, random_state=1).fit(X, y)
    assert model.score(Q, yq) > 0.7
    assert model.loss_values_[-1] < 0.2 * len(X)


def test_refinement_lowers_the_loss_and_separates_classes(digits: Any) -> None:
    """Refined code words are farther apart at the closest pair than unrefined ones."""
    X, y, _, _ = digits

    def closest(model: Any) -> int:
        words = np.unique(model.codes_.signs(), axis=0).astype(int)
        products = words @ words.T
        return int(((words.shape[1] - products[~np.eye(len(words), dtype=bool)]) // 2).min())

    plain = [closest(SDH(32, refine=False, random_state=s).fit(X, y)) for s in range(3)]
    refined = [closest(SDH(32, random_state=s).fit(X, y)) for s in range(3)]
    assert min(refined) > max(plain)


def test_coupled_sdh_runs_on_items(digits: Any) -> None:
    """With nu > 0 the features take part: items of a class may have different codes, and retrieval holds."""
    X, y, Q, yq = digits
    model = SDH(16, nu=1e-3, random_state=0).fit(X, y)
    assert model.score(Q, yq) > 0.6


def test_original_optimisers_agree_where_the_loss_is_linear(digits: Any) -> None:
    """FSDH by DPCD and by its closed form are the same codes (Lemma 1)."""
    X, y, _, _ = digits
    for distinct in (True, False):
        one = FSDH(16, distinct=distinct, random_state=0).fit(X, y)
        assert one.codes_ == FSDH(16, optimizer="fsdh", distinct=distinct, random_state=0).fit(X, y).codes_


@pytest.mark.data
def test_gist_codes_reach_the_expected_map(data_folder: Path) -> None:
    """On 2,000 GIST rows of CIFAR-10, SDH with the mirror symmetry is well above linear SDH."""
    from flipwise_studies.data.gist import GIST

    file = np.load(data_folder / "hashing" / "small_cifar10_gist384_u8.npz")
    X, Q = file["Q_train"] * file["scale"], file["Q_test"] * file["scale"]
    y, yq = file["y_train"], file["y_test"]
    linear = SDH(32, random_state=0).fit(X, y)
    options = {"anchors": 500, "symmetry": GIST().mirror()}
    kernel = SDH(32, hash_function="rbf", hash_options=options, random_state=0).fit(X, y)
    assert kernel.score(Q, yq) > linear.score(Q, yq) + 0.03
    hashed = mean_average_precision(kernel.encode(Q), kernel.encode(X), yq, y)
    assert 0.3 < hashed < kernel.score(Q, yq)
