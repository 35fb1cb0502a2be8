"""A custom objective in jax: which 8 of 40 sensors locate an event best? jax differentiates, Flipwise chooses.

python examples/jax_objective.py
"""

import sys

import numpy as np

import flipwise

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    print('This example needs jax: pip install "flipwise[jax]"')
    sys.exit(0)

jax.config.update("jax_enable_x64", True)

# %% 40 sensors measure distances to events in the unit square.
rng = np.random.default_rng(0)
sensors = rng.random((40, 2))
events = rng.random((25, 2))
towards = sensors[None, :, :] - events[:, None, :]
towards /= np.linalg.norm(towards, axis=2, keepdims=True)
rows = jnp.asarray(towards)


# %% The uncertainty of an event's place is the inverse of its information matrix; minimise minus its log determinant.
def uncertainty(chosen):
    information = jnp.einsum("esi,esj,s->eij", rows, rows, chosen) + 1e-3 * jnp.eye(2)
    return -jnp.linalg.slogdet(information)[1].mean()


objective = flipwise.from_jax(uncertainty, 40, variables="binary")
result = flipwise.minimize(objective, constraint=flipwise.Cardinality(8), seed=0, restarts=5)
print(f"uncertainty {result.value:.4f} with sensors {np.flatnonzero(result.x).tolist()}")

# %% Against the best of 500 random choices.
random = []
for _ in range(500):
    x = np.zeros(40)
    x[rng.choice(40, 8, replace=False)] = 1.0
    random.append(float(uncertainty(jnp.asarray(x))))
print(f"best of 500 random choices: {min(random):.4f}")
assert result.value <= min(random)
