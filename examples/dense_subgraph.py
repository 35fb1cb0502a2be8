"""Find a dense group hidden in a graph, prove how good the answer is, and draw it.

python examples/dense_subgraph.py [picture.png]
"""

import sys

import numpy as np

import flipwise
from flipwise.graphs.planted import planted_subgraph

# %% A graph of 3,000 nodes in which 40 are joined far more densely than the rest.
graph, hidden = planted_subgraph(n=3000, k=40, density=0.8, seed=1)
print(graph)

# %% The densest sets of several sizes, each with a bound that no set of that size exceeds.
profile = flipwise.densest_subgraph(graph, [20, 40, 80, 160], seed=0, effort=0)
print(profile)

# %% At k = 40 the hidden group is found, and the bound shows that nothing denser exists.
result = profile[1]
print(f"{np.isin(result.indices, hidden).sum()} of 40 hidden nodes found; gap {100 * result.gap:.2g} %")
assert np.isin(result.indices, hidden).mean() > 0.9

# %% Draw: density against k with the unknown between found and bound; and who is joined to whom inside.
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit('No picture without matplotlib: pip install "flipwise[plot]"')

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(profile.ks, profile.densities, "o-", label="found")
left.fill_between(
    profile.ks, profile.densities, profile.bounds, alpha=0.25, color="tab:red", label="up to the proven bound"
)
left.set(xlabel="k", ylabel="density x'Wx/k", xscale="log")
left.legend(frameon=False)

around = np.union1d(
    result.indices, graph.indices[graph.indptr[result.indices[0]] : graph.indptr[result.indices[0] + 1]]
)
order = np.concatenate([result.indices, np.setdiff1d(around, result.indices)])
right.spy(graph.to_scipy()[order][:, order].toarray(), markersize=3)
right.set_title("the group, and the neighbours of its first node", fontsize=10)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "dense_subgraph.png", dpi=120)
