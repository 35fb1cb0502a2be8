"""Choose exactly k of n assets, equally weighted, for low risk and high return; optionally so many of each sector.

python examples/portfolio.py
"""

import numpy as np

import flipwise

# %% 120 assets driven by 6 factors plus noise of their own: risk is F F' + diag(s), never formed as a matrix.
rng = np.random.default_rng(0)
n, k = 120, 15
factors = 0.08 * rng.standard_normal((n, 6))
own = rng.uniform(0.02, 0.10, n)
expected = 0.04 + 0.3 * own + 0.02 * rng.standard_normal(n)


# %% x'(F F' + diag(s^2))x - taste * expected'x over 0/1; diag(s^2) is linear there because x^2 = x.
def portfolio(taste):
    return flipwise.Quadratic(flipwise.LowRank(factors), own**2 - taste * expected, variables="binary")


# %% Along the efficient frontier, always exactly 15 assets.
print("  taste    return      risk")
risks = []
for taste in (0.0, 0.01, 0.03, 0.1, 0.3):
    result = flipwise.minimize(portfolio(taste), constraint=flipwise.Cardinality(k), seed=0, restarts=50)
    chosen = np.flatnonzero(result.x)
    assert chosen.size == k
    gain = expected[chosen].mean()
    risks.append(np.sqrt((factors[chosen].sum(axis=0) ** 2).sum() + (own[chosen] ** 2).sum()) / k)
    print(f"{taste:7.2f} {gain:9.4f} {risks[-1]:9.4f}")
assert risks[0] < risks[-1]

# %% Five from each of three sectors: another constraint, nothing else changes.
sector = np.arange(n) % 3
result = flipwise.minimize(portfolio(0.03), constraint=flipwise.GroupCounts(sector, [5, 5, 5]), seed=0, restarts=50)
print("per sector:", [int(result.x[sector == q].sum()) for q in range(3)])
