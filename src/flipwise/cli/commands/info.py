"""`flipwise info`: what a graph or model file holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from flipwise.cli.inputs import is_model, load_model
from flipwise.cli.options import graph_options, input_argument, json_option
from flipwise.cli.terminal import print_facts, print_json, size

if TYPE_CHECKING:
    from flipwise.cli.inputs import Reading
    from flipwise.foundation.arrays import Floats
    from flipwise.graphs.graph import Graph
    from flipwise.qubo.models import QuadraticModel


@click.command("info")
@input_argument()
@graph_options
@json_option
def info(file: str, reading: Reading, as_json: bool) -> None:
    """Say what is in a graph or QUBO file: what was taken for what, sizes, weights, symmetry, cores, memory.

    \b
    Examples:
      $ flipwise info graph.txt
      $ flipwise info model.qubo
      $ cat graph.txt | flipwise info - --json
    """
    if reading.file_format is None and is_model(file):
        facts = _model_facts(load_model(file, None))
    else:
        facts = _graph_facts(reading.graph(file, quiet=True))
    if as_json:
        print_json({"file": file, **facts})
    else:
        print_facts(file, [(name.replace("_", " "), _fact_in_words(name, value)) for name, value in facts.items()])


def _graph_facts(graph: Graph) -> dict[str, Any]:
    """What is worth knowing of a graph before it is searched."""
    import numpy as np
    from scipy.sparse.csgraph import connected_components

    degrees = graph.degrees
    facts: dict[str, Any] = {"nodes": graph.n, "edges": graph.n_edges, "arcs": graph.n_arcs}
    if graph.weights is None:
        facts["weights"] = "none (all 1)"
    elif graph.weights.size:
        facts["weights"] = _range_in_words(graph.weights)
    if graph.n:
        facts["degrees"] = f"{degrees.min()} to {degrees.max()}, mean {degrees.mean():.3g}"
        facts["isolated_nodes"] = int(np.count_nonzero(degrees == 0))
        facts["components"] = int(connected_components(graph.to_scipy(), directed=False)[0])
        core, inside = _innermost_core(graph)
        facts["innermost_core"] = f"{core}-core with {inside:,} nodes"
    facts["node_names"] = "numbers 0, 1, 2, ..." if graph.names is None else f"{graph.names[0]!r}, ..."
    facts |= _memory_facts(graph)
    facts["done_to_the_input"] = list(graph.notes) or ["nothing: it was simple and undirected"]
    return facts


def _innermost_core(graph: Graph) -> tuple[int, int]:
    """The largest k for which a k-core exists, and its number of nodes."""
    import numpy as np

    from flipwise.graphs.selection import core_numbers

    cores = core_numbers(graph)
    return int(cores.max()), int(np.count_nonzero(cores == cores.max()))


def _memory_facts(graph: Graph) -> dict[str, Any]:
    """The bytes of a graph, and whether solving fits into the memory that is free."""
    needed = graph.indptr.nbytes + graph.indices.nbytes + (0 if graph.weights is None else graph.weights.nbytes)
    facts: dict[str, Any] = {"bytes": int(needed)}
    try:
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return facts
    facts["fits_in_memory"] = bool(2 * needed < free)
    return facts


def _model_facts(model: QuadraticModel) -> dict[str, Any]:
    """What is worth knowing of a quadratic model."""
    pairs = model.n * (model.n - 1) / 2
    facts: dict[str, Any] = {
        "model": "QUBO (0/1)" if model.variables == "binary" else "Ising (-1/+1)",
        "variables": model.n,
        "couplings": int(model.b.size),
        "filled": f"{100 * model.b.size / pairs if pairs else 0:.3g} % of all pairs",
    }
    for name, values in (("linear", model.linear), ("quadratic", model.b)):
        if values.size:
            facts[name] = _range_in_words(values)
    facts["offset"] = float(model.offset)
    return facts


def _range_in_words(values: Floats) -> str:
    """The least and the largest of some numbers, and whether all are whole."""
    whole = bool((values == values.round()).all())
    return f"{values.min():g} to {values.max():g}{', whole numbers' if whole else ''}"


def _fact_in_words(name: str, value: Any) -> str:
    """A fact as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "NO: solving wants about twice its size"
    if name == "bytes":
        return size(value)
    if isinstance(value, list):
        return "\n".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
