"""GIST: the energy of Gabor filters in the cells of a grid, a descriptor of a whole image.

Oliva, Torralba: Modeling the shape of the scene, IJCV 2001. The grey image is whitened locally (prefilter) and filtered
at 3 scales with 8 orientations each by transfer functions in the Fourier domain; the magnitude of each answer is
averaged in a 4 x 4 grid: 384 numbers, filter by filter, each a 4 x 4 map by rows.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput

PADDING = 5
"""Pixels mirrored around the image against the wrap-around of the Fourier transform."""


class GIST(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """GIST descriptors of images.

    Parameters
    ----------
    orientations
        Orientations at each scale, finest scale first.
    blocks
        The grid is blocks x blocks.
    size
        Side of the square that images are resampled to; None: images are square already and stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise_studies.data.gist import GIST
    >>> images = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), dtype=np.uint8)
    >>> GIST().fit_transform(images).shape
    (2, 384)
    """

    def __init__(self, orientations: tuple[int, ...] = (8, 8, 8), blocks: int = 4, size: int | None = None) -> None:
        self.orientations = orientations
        self.blocks = blocks
        self.size = size

    def fit(self, images: Any, y: Any = None) -> Self:
        """Only checks the images: there is nothing to learn."""
        del y
        _grey(images)
        self._n_features_out = sum(self.orientations) * self.blocks**2
        return self

    def transform(self, images: npt.ArrayLike) -> Floats:
        """Descriptors of images of shape (n, height, width) or (n, height, width, channels)."""
        grey = _resampled(_grey(images), self.size)
        if grey.shape[1] != grey.shape[2]:
            raise InvalidInput(
                f"images must be square, got {grey.shape[1]} x {grey.shape[2]}; pass `size` to resample."
            )
        side = grey.shape[1]
        if side < self.blocks:
            raise InvalidInput(f"images must have at least {self.blocks} pixels a side, got {side}.")
        filters = gabor_filters(self.orientations, side + 2 * PADDING)
        out = np.empty((len(grey), len(filters), self.blocks, self.blocks))
        edges = np.linspace(0, side, self.blocks + 1).astype(int)
        for start in range(0, len(grey), 256):
            part = _prefiltered(grey[start : start + 256])
            spectrum = np.fft.fft2(np.pad(part, ((0, 0), (PADDING, PADDING), (PADDING, PADDING)), mode="symmetric"))
            for k, transfer in enumerate(filters):
                energy = np.abs(np.fft.ifft2(spectrum * transfer))[:, PADDING:-PADDING, PADDING:-PADDING]
                rows = np.add.reduceat(energy, edges[:-1], axis=1) / np.diff(edges)[None, :, None]
                out[start : start + 256, k] = np.add.reduceat(rows, edges[:-1], axis=2) / np.diff(edges)
        return out.reshape(len(grey), -1)

    def mirror(self) -> Ints:
        """The permutation of the features that a left-right mirrored image has (`x_mirrored = x[:, mirror]`).

        Pass it as `symmetry` of the "rbf" hash function: a mirrored image shows the same thing.
        """
        features = np.arange(sum(self.orientations) * self.blocks**2).reshape(-1, self.blocks, self.blocks)
        order, start = [], 0
        for count in self.orientations:
            order += [start + (-k) % count for k in range(count)]
            start += count
        mirrored: Ints = features[np.array(order)][:, :, ::-1].reshape(-1)
        return mirrored

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.requires_fit = False
        return tags


def gabor_filters(orientations: tuple[int, ...], side: int) -> Floats:
    """Transfer functions (filters x side x side) in numpy's order of frequencies; filter 0 of a scale is upright."""
    f = np.fft.fftfreq(side) * side
    fy, fx = np.meshgrid(f, f, indexing="ij")
    radius, angle = np.hypot(fx, fy), np.arctan2(fy, fx)
    filters = []
    for scale, count in enumerate(orientations):
        centre = 0.3 / 1.85**scale
        sharpness = 16.0 * count**2 / 32.0**2
        for k in range(count):
            turned = angle + np.pi * k / count
            turned = (turned + np.pi) % (2.0 * np.pi) - np.pi
            along = 10.0 * 0.35 * (radius / side / centre - 1.0) ** 2
            filters.append(np.exp(-along - 2.0 * np.pi * sharpness * turned**2))
    return np.array(filters)


def _prefiltered(grey: Floats, cycles: float = 4.0, floor: float = 0.2) -> Floats:
    """log intensities, low frequencies removed, divided by the local contrast."""
    side = grey.shape[1]
    width = cycles / np.sqrt(np.log(2.0))
    padded = np.pad(np.log1p(grey), ((0, 0), (PADDING, PADDING), (PADDING, PADDING)), mode="symmetric")
    f = np.fft.fftfreq(padded.shape[1]) * padded.shape[1]
    low = np.exp(-(f[:, None] ** 2 + f[None, :] ** 2) / width**2)
    high = padded - np.real(np.fft.ifft2(np.fft.fft2(padded) * low))
    contrast = np.sqrt(np.abs(np.real(np.fft.ifft2(np.fft.fft2(high**2) * low))))
    whole: Floats = (high / (floor + contrast))[:, PADDING : PADDING + side, PADDING : PADDING + side]
    return whole


def _grey(images: npt.ArrayLike) -> Floats:
    """Images as intensities (n, height, width); colours are averaged."""
    array = np.asarray(images)
    if array.ndim == 4:
        array = array.mean(axis=3)
    if array.ndim != 3 or array.dtype.kind not in "uifb":
        raise InvalidInput(
            f"images must be numbers of shape (n, height, width) or (n, height, width, channels), got {array.shape}."
        )
    grey = array.astype(np.float64)
    if not np.isfinite(grey).all() or (grey < 0).any():
        raise InvalidInput("images must be finite and not negative (0 to 255).")
    return grey


def _resampled(grey: Floats, size: int | None) -> Floats:
    """Images of side `size` by linear interpolation; None leaves them as they are."""
    if size is None or grey.shape[1:] == (size, size):
        return grey
    from scipy.ndimage import zoom

    return np.asarray(
        zoom(grey, (1, size / grey.shape[1], size / grey.shape[2]), order=1, grid_mode=True, mode="nearest")
    )
