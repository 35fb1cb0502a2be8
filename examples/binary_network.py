"""Train a small network whose first layer has weights of -1 and +1 only, with torch for the gradients.

python examples/binary_network.py
"""

import sys

import numpy as np

import flipwise

try:
    import torch
except ImportError:
    print('This example needs torch: pip install "flipwise[torch]"')
    sys.exit(0)

# %% Two interleaved half moons.
rng = np.random.default_rng(0)
n = 300
angle = np.pi * rng.random(n)
label = np.repeat([1.0, -1.0], n // 2)
points = np.stack([np.cos(angle) * label + 0.5 * (label < 0), np.sin(angle) * label + 0.25 * (label < 0)], axis=1)
points += 0.1 * rng.standard_normal(points.shape)
inputs = np.concatenate([points, np.ones((n, 1))], axis=1)

# %% 64 hidden units on fixed random features; their weights to the output are binary, so the layer is one bit a weight.
hidden = torch.tensor(np.tanh(2.0 * inputs @ rng.standard_normal((3, 64))))
target = torch.tensor(label)


def loss(weights):
    return torch.nn.functional.softplus(-target * (hidden @ weights) / 4.0).mean()


# %% Minimise over the 64 bits; torch differentiates, Flipwise flips.
result = flipwise.minimize(flipwise.from_torch(loss, shape=64), seed=0, restarts=5)
predicted = np.sign(hidden.numpy() @ result.x)
print(f"loss {result.value:.4f}, accuracy {(predicted == label).mean():.3f} with 64 one-bit weights")

# %% Rounding the real-valued optimum instead loses to choosing bits by their effect.
real = torch.zeros(64, dtype=torch.float64, requires_grad=True)
optimiser = torch.optim.LBFGS([real], max_iter=100)


def closure():
    optimiser.zero_grad()
    value = loss(real)
    value.backward()
    return value


optimiser.step(closure)
rounded = float(loss(torch.sign(real.detach())))
print(f"rounded real weights: loss {rounded:.4f}")
assert result.value <= rounded
