"""Generated and packed features: seeded, shaped, refused when wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise_studies.data.features import embeddings, labelled_features, read_features


def test_the_same_seed_gives_the_same_features() -> None:
    """Bit for bit, and another seed gives others."""
    first, second, other = (labelled_features(50, 8, 4, 5, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.X, second.X)
    assert not np.array_equal(first.X, other.X)


def test_several_labels_are_multi_hot() -> None:
    """Each item has at least one label and at most as many as asked for."""
    data = labelled_features(300, 8, 6, 20, 0, labels=3)
    counts = data.y.sum(axis=1)
    assert data.y.shape == (300, 6) and counts.min() == 1 and 1 < counts.max() <= 3


def test_classes_can_be_told_apart() -> None:
    """With little noise the nearest item nearly always has the query's class."""
    data = labelled_features(800, 32, 5, 50, 0, spread=0.2)
    nearest = ((data.queries[:, None] - data.X[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert (data.y[nearest] == data.query_labels).mean() > 0.9


def test_embeddings_are_unit_vectors() -> None:
    """Rows have length 1."""
    data = embeddings(100, 16, 10, seed=0)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1.0)


def test_wrong_sizes_are_refused() -> None:
    """One class is not enough to tell apart."""
    with pytest.raises(InvalidInput, match="classes"):
        labelled_features(10, 2, 1, 1)


def test_packed_files_are_read_and_split(tmp_path: Path) -> None:
    """Queries are drawn equally from the classes, the rest is the database, features are scaled back."""
    Q = np.arange(60, dtype=np.uint8).reshape(20, 3)
    y = np.repeat([0, 1], 10)
    scale = np.array([1.0, 0.5, 2.0])
    np.savez(tmp_path / "a.npz", Q_train=Q[:16], Q_test=Q[16:], y_train=y[:16], y_test=y[16:], scale=scale)
    data = read_features(tmp_path / "a.npz", n_queries=6)
    assert np.bincount(data.query_labels).tolist() == [3, 3] and len(data.X) == 14
    everything = np.concatenate([data.X, data.queries])
    assert {tuple(row) for row in everything} == {tuple(row) for row in Q * scale}


def test_other_files_are_refused(tmp_path: Path) -> None:
    """The message names the file and what it holds."""
    np.savez(tmp_path / "b.npz", something=np.zeros(3))
    with pytest.raises(InvalidFile, match="something"):
        read_features(tmp_path / "b.npz")
    (tmp_path / "c.npz").write_bytes(b"no archive")
    with pytest.raises(InvalidFile, match=r"c\.npz"):
        read_features(tmp_path / "c.npz")


def test_real_features(data_folder: Path) -> None:
    """The fixture of CIFAR-10 has ten classes of queries."""
    data = read_features(data_folder / "hashing" / "small_cifar10_gist384_u8.npz", n_queries=100)
    assert data.X.shape[1] == 384 and np.unique(data.query_labels).size == 10
