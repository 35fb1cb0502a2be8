"""Choose exactly r features for a logistic model, by minimising the loss over which features are in.

python examples/feature_selection.py

The data is the breast cancer set that comes with scikit-learn: 569 patients, 30 features. Each feature votes with the
sign of its own effect; the selected votes are added and put through the logistic loss. Choosing the votes is a problem
in 30 bits with an exact count, for which the gradient is a matrix product.
"""

import sys
from itertools import combinations

import numpy as np

import flipwise

try:
    from sklearn.datasets import load_breast_cancer
except ImportError:
    sys.exit('The data comes with scikit-learn: pip install "flipwise[hashing]"')

# %% Standardised features, turned so that a large value speaks for class +1.
data = load_breast_cancer()
X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
y = 2.0 * data.target - 1.0
X *= np.sign(X.T @ y)


# %% The objective: mean logistic loss of the votes of the chosen features, with its gradient.
def logistic_loss(chosen):
    margin = y * (X @ chosen)
    slope = -y / (1.0 + np.exp(margin)) / len(y)
    return np.logaddexp(0.0, -margin).mean(), X.T @ slope


objective = flipwise.Smooth(logistic_loss, shape=30, variables="binary")
assert flipwise.check_objective(objective).ok

# %% Exactly 3 features.
r = 3
result = flipwise.minimize(objective, constraint=flipwise.Cardinality(r), seed=0, restarts=10)
chosen = np.flatnonzero(result.x)
accuracy = (np.sign(X @ result.x) == y).mean()
print(f"loss {result.value:.4f}, accuracy {accuracy:.3f} with: {', '.join(data.feature_names[chosen])}")

# %% 4,060 subsets are few enough to try them all: the answer is the best of them.
best = min(combinations(range(30), r), key=lambda subset: np.logaddexp(0.0, -y * X[:, subset].sum(axis=1)).mean())
print(f"best of all subsets: {', '.join(data.feature_names[list(best)])}")
assert result.value <= np.logaddexp(0.0, -y * X[:, best].sum(axis=1)).mean() + 1e-12
