"""GIST descriptors of known images."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.foundation.errors import InvalidInput
from flipwise_studies.data.gist import GIST


def test_mirrored_images_have_permuted_descriptors() -> None:
    """`mirror` is the permutation that reflection makes (up to the asymmetry of even Fourier grids)."""
    images = np.random.default_rng(0).integers(0, 256, (4, 32, 32))
    gist = GIST()
    x, mirrored = gist.fit_transform(images), gist.transform(images[:, :, ::-1])
    assert x.shape == (4, 384)
    assert np.abs(mirrored - x[:, gist.mirror()]).max() < 0.05 * x.mean()
    assert np.array_equal(gist.mirror()[gist.mirror()], np.arange(384))


def test_descriptors_see_orientation_and_place() -> None:
    """Vertical stripes in the left half answer in the left cells, and other filters than horizontal stripes do."""
    stripes = np.zeros((2, 32, 32))
    stripes[0, :, 0:16:2] = 255.0
    stripes[1, 0:32:2, :16] = 255.0
    maps = GIST().fit_transform(stripes).reshape(2, 24, 4, 4)
    assert maps[0, :, :, 0].sum() > 2 * maps[0, :, :, 3].sum()
    assert maps[0, :8].sum(axis=(1, 2)).argmax() != maps[1, :8].sum(axis=(1, 2)).argmax()


def test_wrong_images_are_refused() -> None:
    """Shapes and values are checked."""
    with pytest.raises(InvalidInput, match="shape"):
        GIST().transform(np.zeros((32, 32)))
    with pytest.raises(InvalidInput, match="square"):
        GIST().transform(np.zeros((1, 32, 16)))
    with pytest.raises(InvalidInput, match="negative"):
        GIST().transform(-np.ones((1, 8, 8)))
    with pytest.raises(InvalidInput, match="pixels"):
        GIST().transform(np.zeros((1, 2, 2)))
    assert GIST(size=16).fit_transform(np.ones((2, 20, 30, 3))).shape == (2, 384)
