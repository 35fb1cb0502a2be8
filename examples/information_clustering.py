"""Cluster by information: two groups of a given size whose members tell most about the words they use.

python examples/information_clustering.py [picture.png]
"""

import sys

import numpy as np

import flipwise

# %% Documents of two topics, 60 and 30 of them; counts of 40 words, each drawn from its topic's distribution.
rng = np.random.default_rng(0)
words, sizes = 40, (60, 30)
topics = rng.dirichlet(np.full(words, 0.5), size=2)
topic = np.repeat([0, 1], sizes)
counts = np.array([rng.multinomial(25, 0.5 * topics[t] + 0.5 / words) for t in topic], dtype=float)
p = counts / counts.sum()


# %% The mutual information of cluster and word, minus; b_i = 1 puts document i into the second cluster.
def information(b):
    joint = np.stack([(1.0 - b) @ p, b @ p]) + 1e-12
    cluster, word = joint.sum(axis=1, keepdims=True), joint.sum(axis=0)
    ratio = np.log(joint / (cluster * word))
    return -float((joint * ratio).sum()), -(p @ (ratio[1] - ratio[0]))


f = flipwise.Smooth(information, sum(sizes), variables="binary")
print(flipwise.check_objective(f))

# %% Exactly 30 documents belong to the second cluster. A few starts: which topic is the smaller one is not given.
result = flipwise.minimize(f, count=sizes[1], method="portfolio", restarts=10, seed=0)
found = result.bits
agreement = (found == topic).mean()
true_value = information(topic.astype(float))[0]
print(f"information {-result.value:.5f}, of the true topics {-true_value:.5f}; {100 * agreement:.0f} % as drawn")
assert int(found.sum()) == sizes[1]
assert result.value <= true_value + 1e-9

# %% A picture: documents by their words, sorted by cluster.
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(0)
order = np.argsort(found, kind="stable")
figure, axes = plt.subplots(figsize=(6, 5))
axes.imshow(counts[order][:, np.argsort(topics[0] - topics[1])], aspect="auto", cmap="Greys")
axes.axhline(sizes[0] - 0.5, color="tab:red")
axes.set_xlabel("words, those of the second topic first")
axes.set_ylabel("documents, by cluster")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "information_clustering.png", dpi=120)
