"""Binary image denoising: the most probable image under a Markov random field.

    python examples/denoising.py [OUTPUT FOLDER]

The noisy image y has every pixel flipped with probability 0.2. The estimate minimises  -b y'x - a sum over neighbours
x_i x_j  over x in {-1, +1}: agree with what was seen, and with the pixels around. It is a sparse quadratic with one
variable a pixel. Since neighbours only attract each other, one maximum flow (`bounds/persistency.py`) proves nearly
every pixel before any search begins, and its bound shows that the rest is optimal too.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import flipwise


def picture(height: int = 120, width: int = 160) -> np.ndarray:
    """A clean image: a disc, a ring and stripes, -1 and +1."""
    y, x = np.mgrid[0:height, 0:width]
    disc = (y - 40) ** 2 + (x - 45) ** 2 < 27**2
    distance = np.hypot(y - 75, x - 110)
    ring = (distance < 36) & (distance > 22)
    stripes = (x // 10 % 2 == 0) & (y > 95) & (x < 75)
    return np.where(disc | ring | stripes, 1, -1)


def smoothness(height: int, width: int) -> sp.csr_array:
    """The adjacency matrix of the pixel grid, eight neighbours each, the diagonal ones at 0.75."""
    pixels = np.arange(height * width).reshape(height, width)
    rows, columns, weights = [], [], []
    for dy, dx, weight in ((0, 1, 1.0), (1, 0, 1.0), (1, 1, 0.75), (1, -1, 0.75)):
        a = pixels[: height - dy, max(0, -dx) : width - max(0, dx)]
        b = pixels[dy:, max(0, dx) : width + min(0, dx)]
        rows.append(a.ravel())
        columns.append(b.ravel())
        weights.append(np.full(a.size, weight))
    i, j, w = np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)
    return sp.csr_array(sp.coo_array((w, (i, j)), shape=(height * width, height * width)))


def main(folder: Path) -> None:
    """Make noise, remove it, draw the three images."""
    folder.mkdir(parents=True, exist_ok=True)
    clean = picture()
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(clean.shape) < 0.2, -clean, clean)
    J = smoothness(*clean.shape) * -1.0
    result = flipwise.solve_ising(-1.5 * noisy.ravel(), J, seed=0, max_iterations=20)
    found = result.x.reshape(clean.shape)
    wrong = float(np.mean(found != clean))
    proven = result.info.get("fixed", 0)
    print(f"wrong pixels: {np.mean(noisy != clean):.3f} before, {wrong:.3f} after; {proven} of {clean.size} proven")
    print(f"energy {result.value:.1f}, gap to the proven bound {100 * (result.gap or 0.0):.3f} %")
    figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
    titles = ("clean", "20 % of the pixels flipped", f"restored: {100 * wrong:.1f} % wrong")
    for ax, image, title in zip(axes, (clean, noisy, found), titles, strict=True):
        ax.imshow(image, cmap="gray", interpolation="nearest")
        ax.set_title(title, fontsize=10)
        ax.set_axis_off()
    figure.savefig(folder / "denoising.png", dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
