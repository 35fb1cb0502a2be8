"""The estimators: scikit-learn's contract, quality on digits, edge cases, files, chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.hashing import ARE, FSDH, ITQ, SADH, SDH, Codes, FastHash, load, mean_average_precision, save

SUPERVISED = [
    SDH(16, random_state=0),
    FSDH(16, random_state=0),
    FastHash(16, hash_options={"rounds": 3}, random_state=0),
]
UNSUPERVISED = [ITQ(16, random_state=0), ARE(16, updates=3, random_state=0), SADH(16, updates=3, random_state=0)]
ALL = [*SUPERVISED, *UNSUPERVISED]


@pytest.fixture(scope="module")
def digits() -> tuple[Any, Any, Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:900], y[:900], X[900:1300], y[900:1300]


@parametrize_with_checks(ALL)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """Every check of check_estimator passes."""
    check(estimator)


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_codes_and_outputs_fit_together(estimator: Any, digits: Any) -> None:
    """`transform` gives packed bytes, bits or signs of the same codes; `codes_` has a code for each training row."""
    X, y, Q, _ = digits
    model = clone(estimator).set_params(n_bits=12).fit(X, y)
    assert model.transform(Q).shape == (len(Q), 2) and model.transform(Q).dtype == np.uint8
    assert len(model.codes_) == len(X) and model.codes_.n_bits == 12
    assert Codes(model.transform(Q), 12) == model.encode(Q)
    for output, dtype in (("bits", np.uint8), ("signs", np.int8)):
        values = clone(model).set_params(output=output).fit(X, y).transform(Q)
        assert values.shape == (len(Q), 12) and values.dtype == dtype
        assert Codes.from_signs(values.astype(int) - (output == "bits") * (values == 0)) == model.encode(Q)
    assert model.get_feature_names_out()[0] == type(model).__name__.lower() + "0"


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_same_seed_same_codes(estimator: Any, digits: Any) -> None:
    """Two fits with one seed are equal bit for bit."""
    X, y, Q, _ = digits
    one, other = clone(estimator).fit(X, y), clone(estimator).fit(X, y)
    assert one.codes_ == other.codes_ and np.array_equal(one.transform(Q), other.transform(Q))


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


def test_dpcd_is_not_worse_than_the_originals_on_their_losses(digits: Any) -> None:
    """FastHash, ARE and SADH: the loss reached by DPCD is at most that of the original's steps, within 2 %."""
    X, y, _, _ = digits
    for dpcd, original in (
        (FastHash(16, hash_function="linear", random_state=0), "blocks"),
        (ARE(16, random_state=0), "are"),
        (SADH(16, random_state=0), "sadh"),
    ):
        reached = clone(dpcd).fit(X, y).loss_values_[-1]
        rival = clone(dpcd).set_params(optimizer=original).fit(X, y).loss_values_[-1]
        assert reached <= rival + 0.02 * abs(rival), type(dpcd).__name__


def test_multilabel_relevance_is_learned() -> None:
    """Multi-hot labels: items that share a label are found more often than by chance."""
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 4)) < 0.35).astype(int)
    X = Y @ rng.standard_normal((4, 10)) + 0.3 * rng.standard_normal((500, 10))
    chance = ((Y[:100] @ Y[100:].T) > 0).mean()
    for model in (
        SDH(24, random_state=0),
        FSDH(24, random_state=0),
        FastHash(24, hash_function="linear", random_state=0),
    ):
        assert model.fit(X[100:], Y[100:]).score(X[:100], Y[:100]) > chance + 0.2, type(model).__name__


def test_missing_labels_are_hashed(digits: Any) -> None:
    """Rows labelled -1 do not take part in learning and get their hashed code; the ambiguous case is an error."""
    X, y, Q, yq = digits
    partly = y.copy()
    partly[::3] = -1
    model = SDH(32, hash_function="rbf", random_state=0).fit(X, partly)
    assert model.score(Q, yq) > 0.8
    assert model.codes_[np.flatnonzero(partly == -1)] == model.encode(X[partly == -1])
    with pytest.raises(InvalidInput, match="missing_label=None"):
        SDH().fit(X[:50], np.where(np.arange(50) % 2, 1, -1))
    SDH(8, missing_label=None).fit(X[:50], np.where(np.arange(50) % 2, 1, -1))


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_awkward_data_gives_codes(estimator: Any) -> None:
    """Constant features, duplicate rows, d > n, more bits than dimensions, a class of one item: codes, no warning."""
    rng = np.random.default_rng(0)
    y = np.array([0] * 10 + [1] * 10 + [2])
    wide = rng.standard_normal((21, 60))
    constant = np.column_stack([rng.standard_normal((21, 3)), np.ones((21, 2))])
    duplicate = np.repeat(rng.standard_normal((7, 4)), 3, axis=0)
    same = np.ones((21, 4))
    for X in (wide, constant, duplicate, same):
        model = clone(estimator).set_params(n_bits=24).fit(X, y)
        assert len(model.encode(X)) == 21


def test_bad_input_is_named(digits: Any) -> None:
    """NaN, one class, wrong parameters: an error that says so."""
    X, y, _, _ = digits
    with pytest.raises(ValueError, match="NaN"):
        SDH().fit(np.where(X == 0, np.nan, X), y)
    with pytest.raises(InvalidInput, match="at least 2 classes"):
        SDH().fit(X, np.zeros(len(X), dtype=int))
    for wrong in (
        SDH(0), SDH(optimizer="dcd"), SDH(hash_function="svm"), SDH(delta=-1.0), SDH(rounds=0), SDH(output="hex"),
        SDH(alpha="best"), SDH(nu=-1.0),
    ):  # fmt: skip
        with pytest.raises(InvalidInput):
            wrong.fit(X, y)
    for wrong in (ITQ(whitening=0.7), ITQ(whitening="all"), ITQ(n_components=0)):
        with pytest.raises(InvalidInput):
            wrong.fit(X)


def test_itq_by_flips_is_itq() -> None:
    """Without the early end both optimisers make the same rounds: the same codes and rotation."""
    from flipwise.hashing.estimators.itq import quantise

    V = np.random.default_rng(3).standard_normal((300, 8)) * np.linspace(2.0, 0.5, 8)
    (B, R), (B_by_flips, R_by_flips) = (
        quantise(V, 8, optimizer, 6, np.random.default_rng(0)) for optimizer in ("itq", "dpcd")
    )
    assert np.array_equal(B, B_by_flips)
    np.testing.assert_allclose(R, R_by_flips, atol=1e-9)


@pytest.mark.parametrize("optimizer", ["sgm", "dcc"])
def test_itq_by_a_method_of_the_library(digits: Any, optimizer: str) -> None:
    """The B-step is linear in B, so every method that solves it exactly gives ITQ's own codes."""
    X = digits[0][:200]
    given = ITQ(8, optimizer=optimizer, rounds=3, random_state=0).fit(X)
    assert given.codes_ == ITQ(8, optimizer="itq", rounds=3, random_state=0).fit(X).codes_


def test_whitening_is_chosen_by_recall(digits: Any) -> None:
    """`whitening="auto"` takes one of the powers and is at least as good as plain ITQ on the sample it looked at."""
    X = digits[0]
    auto = ITQ(16, whitening="auto", random_state=0).fit(X)
    assert 0.0 <= auto.whitening_ <= 0.4
    assert auto.score(X) >= ITQ(16, random_state=0).fit(X).score(X) - 0.05


def test_chunks_equal_the_whole(digits: Any) -> None:
    """`partial_fit` over chunks regresses onto its code words as one fit over all rows does."""
    X, y, Q, yq = digits
    model = SDH(24, random_state=0)
    for start in range(0, 900, 300):
        model.partial_fit(X[start : start + 300], y[start : start + 300], classes=np.arange(10))
    assert len(model.codes_) == 900 and model.score(Q, yq) > 0.75
    whole = SDH(24, random_state=0).partial_fit(X, y)
    assert np.allclose(model.decision_function(Q), whole.decision_function(Q))
    with pytest.raises(InvalidInput, match="classes"):
        model.partial_fit(X[:5], np.full(5, 77))
    assert not hasattr(SDH(hash_function="trees"), "partial_fit")


def test_alpha_is_tuned_on_request(digits: Any) -> None:
    """alpha="cv" takes a value of the paper's grid."""
    from flipwise.solvers.dpcd.options import PAPER_ALPHAS

    X, y, _, _ = digits
    assert SDH(8, alpha="cv", refine=False, random_state=0).fit(X[:300], y[:300]).alpha_ in PAPER_ALPHAS


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_saved_estimators_transform_alike(estimator: Any, digits: Any, tmp_path: Path) -> None:
    """A loaded estimator has the parameters, codes and answers of the saved one."""
    pytest.importorskip("safetensors")
    X, y, Q, _ = digits
    model = clone(estimator).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert type(again) is type(model) and again.get_params() == model.get_params()
    assert np.array_equal(again.transform(Q), model.transform(Q)) and again.codes_ == model.codes_


def test_files_are_checked(tmp_path: Path, digits: Any) -> None:
    """Codes round-trip; other files and unfitted estimators are refused."""
    pytest.importorskip("safetensors")
    codes = Codes.from_bits(np.eye(5), "little")
    save(codes, tmp_path / "codes.safetensors")
    again = load(tmp_path / "codes.safetensors")
    assert again == codes and again.bit_order == "little"
    (tmp_path / "other").write_bytes(b"not a file of ours")
    with pytest.raises(InvalidFile, match="safetensors"):
        load(tmp_path / "other")
    with pytest.raises(InvalidInput, match="fitted"):
        save(SDH(), tmp_path / "x")


def test_pipelines_sparse_rows_and_frames(digits: Any) -> None:
    """Works behind a scaler, on sparse rows, and with set_output."""
    X, y, Q, yq = digits
    pipeline = make_pipeline(StandardScaler(), SDH(16, random_state=0)).fit(X, y)
    assert pipeline.score(Q, yq) > 0.5
    for model in (SDH(16, random_state=0), ITQ(16, random_state=0), ARE(16, updates=3, random_state=0)):
        dense, sparse = clone(model).fit(X, y), clone(model).fit(sp.csr_array(X), y)
        agree = (dense.encode(Q).signs() == sparse.encode(sp.csr_array(Q)).signs()).mean()
        assert agree > 0.99, type(model).__name__


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
