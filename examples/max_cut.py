"""A maximum cut with a proven upper bound: how many edges of a random graph can two groups have between them?

python examples/max_cut.py
"""

import numpy as np

import flipwise

# %% A random graph with 200 nodes in which each pair is joined with probability 5 %.
rng = np.random.default_rng(0)
pairs = np.stack(np.triu_indices(200, 1), axis=1)
edges = pairs[rng.random(len(pairs)) < 0.05]
graph = (200, edges)

# %% Search for two seconds; the semidefinite bound says how much better a cut could be at all.
result = flipwise.maxcut(graph, seed=0, time_limit=2.0, bound="sdp")
print(f"{len(edges)} edges, {result.value:.0f} cut, no cut exceeds {result.bound:.0f} (gap {100 * result.gap:.1f} %)")
assert result.value <= result.bound

# %% Count by hand: an edge is cut when its ends are on different sides.
side = result.parts
assert (side[edges[:, 0]] != side[edges[:, 1]]).sum() == result.value

# %% With exactly equal halves, and as few edges between them as possible.
halves = flipwise.bisect(graph, seed=0, time_limit=1.0)
print(f"into halves of {halves.sizes.tolist()}: {halves.value:.0f} edges between them")
assert halves.sizes.tolist() == [100, 100]
