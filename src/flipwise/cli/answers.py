"""Answers of the solvers as records for machines and tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipwise.graphs.graph import Graph


def nodes_of(graph: Graph, result: Any) -> list[Any]:
    """The nodes of a dense subgraph by their own names, ascending where they are numbers."""
    return [node.item() if hasattr(node, "item") else node for node in result.nodes]


def result_record(result: Any) -> dict[str, Any]:
    """What every result has."""
    return {
        "value": result.value,
        "bound": result.bound,
        "gap": result.gap,
        "status": result.status.name.lower(),
        "message": result.message,
        "method": result.method,
        "seed": result.seed,
        "iterations": result.iterations,
        "seconds": round(result.seconds, 4),
        "peak_memory": result.peak_memory,
    }


def subgraph_record(graph: Graph, result: Any) -> dict[str, Any]:
    """A dense subgraph as a record."""
    nodes = nodes_of(graph, result)
    return {
        "k": len(nodes),
        "density": result.density,
        "edge_density": result.edge_density,
        **{name: value for name, value in result_record(result).items() if name != "value"},
        "optimal": bool(result.optimal),
        "nodes": nodes,
    }


def density_table(title: str, graph: Graph, results: Sequence[Any], *, err: bool = False) -> None:
    """One row a subgraph: density, proven bound, gap."""
    from flipwise.cli.terminal import number, percent, print_table

    rows = []
    for result in results:
        verdict = "optimal" if result.optimal else f"within {percent(result.gap)}" if result.gap is not None else "-"
        rows.append(
            (
                f"{len(result.nodes):,}",
                f"{result.density:.3f}",
                "-" if result.bound is None else f"{result.bound:.3f}",
                verdict,
                f"{100 * result.edge_density:.1f} %",
                number(round(result.seconds, 2)) + " s",
            )
        )
    print_table(
        title,
        ("k", "density", "upper bound", "proven", "pairs joined", "time"),
        rows,
        notes=[
            "density: mean degree inside (x'Wx/k); no k nodes exceed the upper bound.",
        ],
        err=err,
    )


def show_cut(title: str, kind: str, graph: Graph, result: Any, seed: int, output: str | None, as_json: bool) -> int:
    """Write the parts and show the cut; returns the exit code."""
    from flipwise.cli.exits import INTERRUPTED, OK
    from flipwise.cli.inputs import write_lines
    from flipwise.cli.terminal import number, percent, print_facts, print_json

    if output:
        names = range(graph.n) if graph.names is None else graph.names
        write_lines(output, (f"{name}\t{part}" for name, part in zip(names, result.parts)))
    sizes = result.sizes.tolist()
    if as_json:
        record = {"nodes": graph.n, "edges": graph.n_edges, "cut": result.value, "bound": result.bound}
        record |= {"gap": result.gap, "sizes": sizes, "status": result.status.name.lower(), "message": result.message}
        record |= {"seed": seed, "seconds": round(result.seconds, 4), "peak_memory": result.peak_memory}
        print_json({**record, "parts": result.parts})
    else:
        facts = [("cut", number(result.value))]
        if result.bound is not None:
            facts.append((kind, f"{number(result.bound)} (gap {percent(result.gap)})"))
        facts += [("sizes", " + ".join(f"{size:,}" for size in sizes)), ("status", result.message)]
        print_facts(title, [*facts, ("time", f"{result.seconds:.2f} s")], err=output == "-")
    return INTERRUPTED if result.status.name == "INTERRUPTED" else OK
