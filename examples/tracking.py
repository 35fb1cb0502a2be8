"""Follow several targets through frames of unlabelled points: which point of each frame belongs to which target.

python examples/tracking.py [picture.png]
"""

import sys

import numpy as np

import flipwise

# %% Four targets on smooth paths; every frame shows their positions with noise, in an order of its own.
rng = np.random.default_rng(4)
targets, frames = 4, 8
time = np.linspace(0.0, 1.0, frames)
origin, speed, bend = rng.uniform(-1.0, 1.0, (3, targets, 2)) * np.array([1.0, 1.2, 0.8])[:, None, None]
paths = origin + speed * time[:, None, None] + bend * time[:, None, None] ** 2
truth = np.array([rng.permutation(targets) for _ in range(frames)])
seen = np.empty_like(paths)
for frame in range(frames):
    seen[frame, truth[frame]] = paths[frame] + 0.01 * rng.standard_normal((targets, 2))

# %% One bit for each (frame, target, point). Each target has one point in each frame: one-hot groups.
shape = (frames, targets, targets)
groups = np.arange(frames * targets).repeat(targets)
constraint = flipwise.GroupCounts(groups, np.ones(frames * targets, dtype=int))


# %% A path should bend little: the sum of squared second differences, and a price for points that two targets claim.
def cost(bits):
    z = bits.reshape(shape)
    position = z @ seen
    curve = position[2:] - 2.0 * position[1:-1] + position[:-2]
    excess = z.sum(axis=1) - 1.0
    slope = np.zeros_like(position)
    slope[2:] += 2.0 * curve
    slope[1:-1] -= 4.0 * curve
    slope[:-2] += 2.0 * curve
    gradient = np.einsum("ftd,fpd->ftp", slope, seen) + 2.0 * excess[:, None, :]
    return float((curve**2).sum() + (excess**2).sum()), gradient.reshape(-1)


f = flipwise.Smooth(cost, frames * targets * targets, variables="binary")
print(flipwise.check_objective(f))

# %% The schemes exchange the points of two targets where that makes both paths smoother.
result = flipwise.minimize(f, constraint=constraint, method="portfolio", restarts=5, effort=3.0, seed=0)
choice = result.bits.reshape(shape).argmax(axis=2)
label = np.argsort(truth, axis=1)  # the target of each point
followed = np.take_along_axis(label, choice, axis=1)
straight = (followed == followed[0]).all(axis=0)
true_bits = np.zeros(shape)
true_bits[np.arange(frames)[:, None], np.arange(targets), truth] = 1.0
print(f"cost {result.value:.4f}, that of the truth {cost(true_bits)[0]:.4f}")
print(f"{straight.sum()} of {targets} targets followed without a mistake")
assert all(sorted(row) == list(range(targets)) for row in choice.tolist())
assert result.value <= cost(true_bits)[0] + 0.05

# %% A picture: points in grey, found paths in colour.
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(0)
figure, axes = plt.subplots(figsize=(6, 5))
axes.scatter(*seen.reshape(-1, 2).T, s=14, color="0.6")
for target in range(targets):
    axes.plot(*seen[np.arange(frames), choice[:, target]].T, linewidth=1.5)
axes.set_title("Four targets followed through eight frames")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "tracking.png", dpi=120)
