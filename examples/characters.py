"""Who belongs together in Les Misérables: dense groups of a real graph, with proofs, a table and drawings.

python examples/characters.py [picture.png]
"""

import sys
from pathlib import Path

import networkx as nx

import flipwise
from flipwise.graphs.convert import as_graph
from flipwise.pages import subgraph_page

# %% The characters of the novel, joined by how many chapters they share (Knuth 1993); networkx brings the graph.
graph = as_graph(nx.les_miserables_graph())
print(graph)

# %% The densest group of any size: a maximum flow proves that no other is denser.
densest = flipwise.densest_subgraph(graph)
print(f"{densest.k} characters, density {densest.density:.3f}, optimal: {densest.optimal}")
assert densest.optimal
print(", ".join(sorted(densest.nodes)))

# %% Groups of given sizes, each with what no group of its size exceeds.
profile = flipwise.densest_subgraph(graph, [5, 10, 20], seed=0, effort=0)
print(profile)

# %% A table of the ten: degree and weight inside, and the core number in the whole graph.
table = profile[1].table(graph)
for row in zip(*table.values()):
    print(*row, sep="\t")

# %% A page for people: the group drawn, density against size, and where the group sits in the graph.
page = Path("characters.html")
page.write_text(subgraph_page(graph, list(profile), title="Les Misérables"), encoding="utf-8")
print(f"{page}: {page.stat().st_size:,} bytes")

# %% The same drawing with matplotlib.
try:
    import matplotlib

    matplotlib.use("Agg")
    from flipwise.pages import plot_subgraph
except ImportError:
    sys.exit('No picture without matplotlib: pip install "flipwise[plot]"')

figure = plot_subgraph(graph, profile[2])
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "characters.png", dpi=120)
