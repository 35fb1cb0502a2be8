"""What all estimators share: scikit-learn's contract, outputs, seeds, awkward rows, and a fit as a run."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from flipwise import Status, hashing
from flipwise.engine.solve import solve
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import ARE, ITQ, SDH, Codes
from flipwise.hashing.estimators.base import check_optimizer
from flipwise.hashing.functions.ridge import LinearFunction
from tests.hashing.models import ESTIMATORS

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 20))
Y = RNG.integers(0, 5, 300)
RUNS = [
    hashing.SDH(16),
    hashing.SDH(16, optimizer="mpec-epm"),
    hashing.FSDH(16),
    hashing.FastHash(16, hash_function="linear"),
    hashing.FastHash(16, hash_function="linear", optimizer="blocks"),
    hashing.ITQ(16),
    hashing.ARE(16),
    hashing.ARE(16, optimizer="are"),
    hashing.ARE(16, optimizer="sgm"),
    hashing.SADH(16),
    hashing.SADH(16, optimizer="sadh"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """Every check of check_estimator passes."""
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
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


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_same_seed_same_codes(estimator: Any, digits: Any) -> None:
    """Two fits with one seed are equal bit for bit."""
    X, y, Q, _ = digits
    one, other = clone(estimator).fit(X, y), clone(estimator).fit(X, y)
    assert one.codes_ == other.codes_ and np.array_equal(one.transform(Q), other.transform(Q))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
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


def test_pipelines_sparse_rows_and_frames(digits: Any) -> None:
    """Works behind a scaler, on sparse rows, and with set_output."""
    X, y, Q, yq = digits
    pipeline = make_pipeline(StandardScaler(), SDH(16, random_state=0)).fit(X, y)
    assert pipeline.score(Q, yq) > 0.5
    for model in (SDH(16, random_state=0), ITQ(16, random_state=0), ARE(16, updates=3, random_state=0)):
        dense, sparse = clone(model).fit(X, y), clone(model).fit(sp.csr_array(X), y)
        agree = (dense.encode(Q).signs() == sparse.encode(sp.csr_array(Q)).signs()).mean()
        assert agree > 0.99, type(model).__name__


# --- a fit is a run of the engine -------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", RUNS, ids=str)
def test_no_time_still_gives_a_model(estimator: Any) -> None:
    """With a limit of 0 seconds every estimator makes codes and a hash function."""
    model = clone(estimator).set_params(time_limit=0.0).fit(X, Y)
    assert len(model.codes_) == len(model.encode(X)) == 300
    assert len(model.loss_values_) == model.result_.iterations >= 1


def test_a_limit_ends_the_rounds() -> None:
    """A fit with very many rounds ends soon after its limit, and says why."""
    started = time.perf_counter()
    rows = RNG.standard_normal((2_000, 64))
    model = hashing.ITQ(64, optimizer="itq", rounds=10**9, random_state=0, time_limit=0.3).fit(rows)
    assert time.perf_counter() - started < 60.0  # without the limit it would not end at all
    assert model.result_.status is Status.TIME_LIMIT or model.result_.success


@pytest.mark.parametrize("estimator", RUNS, ids=str)
def test_a_limit_that_is_not_reached_changes_nothing(estimator: Any) -> None:
    """A run with a limit, a callback and a log gives the codes of a plain fit."""
    plain = clone(estimator).set_params(random_state=0).fit(X, Y)
    seen: list[float] = []
    watched = clone(plain).set_params(time_limit=1e6, callback=lambda progress: seen.append(progress.value))
    assert watched.fit(X, Y).codes_ == plain.codes_
    assert seen == watched.loss_values_ == plain.loss_values_


@pytest.mark.parametrize("estimator", RUNS, ids=str)
def test_the_log_has_a_row_for_a_round(estimator: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Verbose fits write the columns of a run's log to standard error, each row once; others write nothing."""
    clone(estimator).fit(X, Y)
    assert capfd.readouterr().err == ""
    clone(estimator).set_params(verbose=True).fit(X, Y)
    lines = capfd.readouterr().err.splitlines()
    assert any(line.split()[:2] == ["iter", "value"] for line in lines)
    rows = [line for line in lines if line.lstrip("* ")[:1].isdigit() and line.endswith("s")]
    assert rows and len(rows) == len(set(rows)) and max(map(len, rows)) <= 80


def test_bad_parameters_of_the_run_are_refused() -> None:
    """A negative or infinite limit, a callback that cannot be called and a folder that is not there are named."""
    for wrong in (-1, float("inf"), "soon"):
        with pytest.raises(InvalidInput, match="`time_limit`"):
            SDH(8, time_limit=wrong).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="`callback`"):
        ITQ(8, callback=3).fit(X)
    with pytest.raises(InvalidInput, match="`checkpoint`"):
        ITQ(8, checkpoint="/no/such/folder/file").fit(X)


@pytest.mark.parametrize("estimator", RUNS, ids=str)
def test_ctrl_c_gives_the_codes_so_far(estimator: Any) -> None:
    """An interrupt after the first round ends the search there, with the codes and hash function of one round."""
    told: list[float] = []

    def interrupt(progress: Any) -> None:
        told.append(progress.value)
        if len(told) == 1:
            signal.raise_signal(signal.SIGINT)

    model = clone(estimator).set_params(random_state=0, callback=interrupt).fit(X, Y)
    assert model.result_.status is Status.INTERRUPTED and len(told) == 1
    stopped = clone(model).set_params(callback=lambda progress: True).fit(X, Y)
    assert model.codes_ == stopped.codes_ and stopped.result_.status is Status.CALLBACK
    assert np.array_equal(model.transform(X), stopped.transform(X))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_the_hash_function_is_fitted_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once there are codes they get their hash function, whenever the interrupt comes."""
    plain, fit = SDH(8, random_state=0).fit(X, Y), LinearFunction.fit

    def interrupted(self: Any, *arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return fit(self, *arguments)

    monkeypatch.setattr(LinearFunction, "fit", interrupted)
    model = SDH(8, random_state=0).fit(X, Y)
    assert model.codes_ == plain.codes_ and np.array_equal(model.transform(X), plain.transform(X))


def test_ctrl_c_before_there_are_codes_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is returned where there is nothing; the estimator stays unfitted."""
    from flipwise.hashing.label_losses import LabelLoss

    monkeypatch.setattr(LabelLoss, "start", lambda self, rng: signal.raise_signal(signal.SIGINT))
    model = SDH(8, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "function_")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    "tuned", [SDH(8, alpha="cv", random_state=0), ITQ(8, whitening="auto", random_state=0)], ids=str
)
def test_ctrl_c_while_parameters_are_tried_is_an_interrupt(tuned: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The codes of a trial are no answer: neither an interrupt in its search nor one after it is swallowed."""
    from flipwise.hashing.estimators import supervised, unsupervised

    def interrupted(*arguments: Any, **options: Any) -> Any:
        found = solve(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return found

    for module in (supervised, unsupervised):
        monkeypatch.setattr(module, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clone(tuned).fit(X, Y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("estimator", RUNS, ids=str)
def test_a_fit_goes_on_from_its_checkpoint(estimator: Any, tmp_path: Path) -> None:
    """A search that was stopped after a round and goes on ends with the codes and the hash function of one fit."""
    whole = clone(estimator).set_params(random_state=0).fit(X, Y)
    stopped = clone(whole).set_params(checkpoint=tmp_path / "fit", every=0.0, callback=lambda progress: True)
    assert stopped.fit(X, Y).result_.status is Status.CALLBACK
    resumed = clone(whole).set_params(checkpoint=tmp_path / "fit", every=0.0).fit(X, Y)
    assert resumed.codes_ == whole.codes_ and np.array_equal(resumed.transform(X), whole.transform(X))
    assert resumed.result_.iterations == whole.result_.iterations
    assert not (tmp_path / "fit").exists()


def test_a_checkpoint_in_the_refinement_is_resumed(tmp_path: Path) -> None:
    """The refinement of code words goes on inside the alternation around it, with its own state."""
    whole = SDH(24, hash_function="rbf", random_state=3).fit(X, Y)
    rounds = whole.result_.iterations
    for stop in range(1, rounds):
        stopped = clone(whole).set_params(
            checkpoint=tmp_path / "fit", every=0.0, callback=lambda progress, stop=stop: progress.iteration >= stop
        )
        stopped.fit(X, Y)
        resumed = clone(whole).set_params(checkpoint=tmp_path / "fit").fit(X, Y)
        assert resumed.codes_ == whole.codes_ and np.array_equal(resumed.transform(X), whole.transform(X))
        assert resumed.result_.iterations == rounds


def test_another_fit_does_not_take_a_checkpoint(tmp_path: Path) -> None:
    """A file of other rows, or of another optimiser, is refused by name."""
    stopped = ITQ(8, random_state=0, checkpoint=tmp_path / "fit", every=0.0, callback=lambda progress: True)
    stopped.fit(X)
    with pytest.raises(InvalidInput, match="belongs to another run"):
        ITQ(8, random_state=0, checkpoint=tmp_path / "fit").fit(X[::-1] ** 3)
    with pytest.raises(InvalidInput, match="belongs to another run"):
        ITQ(8, optimizer="itq", random_state=0, checkpoint=tmp_path / "fit").fit(X)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, hashing.AdditiveQuantizer(2)], ids=lambda e: type(e).__name__)
def test_features_whose_squares_are_too_large_are_refused(estimator: Any) -> None:
    """With what to do, before any work; tiny ones are taken."""
    for size in (1e300, 1e160, -1e20):
        for features in (
            (size * X, sp.csr_array(size * X)) if estimator.__sklearn_tags__().input_tags.sparse else (size * X,)
        ):
            with pytest.raises(InvalidInput, match=r"`X` is too large.*Scale them down"):
                clone(estimator).fit(features, Y)


def test_unknown_optimizer_is_refused() -> None:
    """The error lists what there is."""
    check_optimizer("dpcd", ("dpcd", "dcc"))
    check_optimizer("sgm", ("dpcd", "dcc"))
    with pytest.raises(InvalidInput, match="dcc"):
        check_optimizer("dcd", ("dpcd", "dcc"))
