"""Draw the pictures of the documentation. Run it in this folder's parent: python docs/pictures/make.py"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

import flipwise
from flipwise.graphs.planted import planted_subgraph

HERE = Path(__file__).parent
FOUND, BOUND, SOFT = "#0b6e99", "#c0392b", "#5b6875"
plt.rcParams.update({"svg.hashsalt": "flipwise", "font.size": 11, "axes.spines.top": False, "axes.spines.right": False})


def save(name: str) -> None:
    """As SVG with transparent ground, the same bytes on each run."""
    plt.savefig(HERE / f"{name}.svg", transparent=True, metadata={"Date": None, "Creator": None})
    plt.close()


def band() -> None:
    """Found and bound on one axis."""
    _, axes = plt.subplots(figsize=(6.4, 1.5), layout="constrained")
    axes.axvspan(44.0, 45.2, color=BOUND, alpha=0.15)
    axes.plot([44.0, 44.0], [0, 1], color=FOUND, linewidth=3)
    axes.plot([45.2, 45.2], [0, 1], color=BOUND, linewidth=3, linestyle="--")
    axes.text(43.95, 0.5, "found", ha="right", va="center", color=FOUND)
    axes.text(45.25, 0.5, "proven bound", ha="left", va="center", color=BOUND)
    axes.text(44.6, 0.5, "the optimum\nis in here", ha="center", va="center", color=SOFT)
    axes.set(xlim=(41.5, 47.5), yticks=[], xlabel="density")
    axes.spines["left"].set_visible(False)
    save("band")


def balance(n: int, edges: list[tuple[int, int]], passes: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """What the first end of each edge gets after the passes, and the loads after each of them."""
    share = np.full(len(edges), 0.5)
    load = np.zeros(n)
    for (i, j), part in zip(edges, share, strict=True):
        load[i] += part
        load[j] += 1 - part
    history = [load.copy()]
    for _ in range(passes):
        for e, (i, j) in enumerate(edges):
            moved = np.clip((load[j] - load[i]) / 2, -share[e], 1 - share[e])
            share[e] += moved
            load[i] += moved
            load[j] -= moved
        history.append(load.copy())
    return share, history


def loads() -> None:
    """A small graph with a hub: loads before and after balancing."""
    places = np.array(
        [[0, 0], [-1.1, 0.8], [-1.3, -0.2], [-0.8, -1.0], [1.2, 0.6], [2.1, 0.1], [1.4, -0.8], [2.0, 1.0]]
    )
    edges = [(0, 1), (0, 2), (0, 3), (0, 4), (4, 5), (5, 6), (4, 6), (4, 7), (5, 7)]
    _, history = balance(len(places), edges, 40)
    _, both = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
    for axes, load, title in zip(both, (history[0], history[-1]), ("every edge split evenly", "balanced"), strict=True):
        for i, j in edges:
            axes.plot(*zip(places[i], places[j], strict=True), color="#b8c2cc", zorder=1)
        largest = np.argsort(-load, kind="stable")[:4]
        colours = [FOUND if i in largest else "#dfe5ea" for i in range(len(places))]
        axes.scatter(*places.T, s=700, c=colours, zorder=2)
        for i, place in enumerate(places):
            axes.text(*place, f"{load[i]:.2f}", ha="center", va="center", fontsize=9,
                      color="white" if i in largest else "#1c2733")  # fmt: skip
        axes.set_title(f"{title}\n4 largest loads: {load[largest].sum():.2f}", fontsize=11)
        axes.set(xlim=(-1.8, 2.6), ylim=(-1.5, 1.5))
        axes.axis("off")
    save("loads")


def balancing() -> None:
    """The bound after each pass, against the density of the best set known."""
    k = 100
    graph, _ = planted_subgraph(n=2000, k=60, density=0.3, seed=3)
    sources = np.repeat(np.arange(graph.n), graph.degrees)
    edges = [(int(i), int(j)) for i, j in zip(sources, graph.indices, strict=True) if i < j]
    _, history = balance(graph.n, edges, 20)
    bounds = [2 / k * np.sort(load)[-k:].sum() for load in history]
    found = flipwise.densest_subgraph(graph, k, seed=0, effort=0.01).density
    _, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    axes.plot(bounds, color=BOUND, linestyle="--", marker=".", label="proven upper bound")
    axes.axhline(found, color=FOUND, label=f"{k} nodes found")
    axes.fill_between(range(len(bounds)), found, bounds, color=BOUND, alpha=0.12)
    axes.set(xlabel="balancing passes over the edges", ylabel="density", ylim=(0, None), xticks=range(0, 21, 5))
    axes.legend(frameon=False)
    save("balancing")


def densities() -> None:
    """What is found of a real graph, what is proven and what the usual methods find, from the stored run."""
    run = json.loads((HERE.parents[1] / "benchmarks" / "results" / "densest_rivals.json").read_text(encoding="utf-8"))
    rows = [row for row in run["rows"] if row["graph"] == "uk-2007-05@100000" and row["k"] >= 50]
    sizes = [row["k"] for row in rows]
    _, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    grey = "#7d8894"  # readable on white and on black
    for side in ("left", "bottom"):
        axes.spines[side].set_color(grey)
    axes.tick_params(colors=grey, which="both")
    lines = (("bound", "proven bound", BOUND, "--"), ("density", "Flipwise", FOUND, "-"),
             ("frank-wolfe", "Frank-Wolfe", "#c98a1b", "-"), ("peeling", "greedy peeling", "#5a9e6f", "-"),
             ("ravi", "RAVI", "#8e6bbf", "-"))  # fmt: skip
    places = {"bound": (160, 186), "density": (140, 150), "frank-wolfe": (600, 174), "peeling": (600, 139),
              "ravi": (600, 46)}  # fmt: skip
    for key, name, colour, style in lines:
        axes.plot(sizes, [row[key] for row in rows], style, color=colour, linewidth=2.6 if key == "density" else 1.6,
                  marker=".")  # fmt: skip
        axes.text(*places[key], name, color=colour, va="center", ha="right" if key in ("bound", "density") else "left",
                  fontweight="bold" if key == "density" else "normal")  # fmt: skip
    axes.fill_between(sizes, [row["density"] for row in rows], [row["bound"] for row in rows], color=BOUND, alpha=0.15)
    axes.set(xscale="log", xticks=sizes, xticklabels=[f"{k:,}" for k in sizes])
    axes.minorticks_off()
    axes.set_xlabel("number of nodes k (uk-2007-05@100000)", color=grey)
    axes.set_ylabel("density", color=grey)
    save("densities")


if __name__ == "__main__":
    densities()
    band()
    loads()
    balancing()
