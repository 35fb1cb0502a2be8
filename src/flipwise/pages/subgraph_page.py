"""One self-contained HTML page about dense subgraphs: the profile with its proven band, and what was found.

Plain strings and inline SVG, so that it needs no optional package, no network and no script.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from flipwise import __version__
from flipwise.foundation.arrays import Bools, Ints
from flipwise.graphs.selection import core_numbers, induced_subgraph
from flipwise.pages.charts import CHART_STYLE, Band, Chart, Line
from flipwise.pages.network import DRAWN_EDGES, DRAWN_NODES, network_svg

if TYPE_CHECKING:
    from flipwise.densest.result import DensestSubgraph
    from flipwise.graphs.graph import Graph

CORNERS = 160
"""Points of a curve of degrees or core numbers."""
PICTURES = 6
"""Subgraphs whose adjacency is drawn: those of the smallest k."""
PICTURED_NODES = 400
"""Nodes of a drawn subgraph: those with the most neighbours inside."""
LISTED_NODES = 2000
"""Nodes of a subgraph that are listed by name."""


def subgraph_page(graph: Graph, results: Sequence[DensestSubgraph], *, title: str = "Dense subgraphs") -> str:
    """The page as a string.

    Parameters
    ----------
    graph
        The graph that was searched.
    results
        What `densest_subgraph` returned, one or several k.
    title
        The heading.
    """
    ordered = sorted(results, key=lambda result: len(result.nodes))
    style = CHART_STYLE + (resources.files("flipwise.pages") / "assets" / "subgraph.css").read_text(encoding="utf-8")
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{escape(title)}</title><style>{style}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f"<p class='soft'>{graph.n:,} nodes, {graph.n_edges:,} edges. {escape(' '.join(graph.notes))}</p>",
        "<h2>Found, and proven</h2><div class='scroll'>",
        _result_table(ordered),
        "</div><p class='soft'>Density is x'Wx/k, the mean (weighted) degree inside the subgraph. No set of k nodes ",
        "exceeds the upper bound, so the gap is the most by which any other set could be better.</p>",
    ]
    if len(ordered) > 1:
        sizes, densities = [len(r.nodes) for r in ordered], [float(r.density) for r in ordered]
        bounds = [None if r.bound is None or not math.isfinite(r.bound) else float(r.bound) for r in ordered]
        parts += ["<h2>Density against size</h2>", profile_chart(sizes, densities, bounds).html()]
    cores = core_numbers(graph)
    drawn = [result for result in ordered if len(result.nodes) <= DRAWN_NODES][-1:]
    parts += [*(_set_drawing(graph, result) for result in drawn), _place_section(graph, (drawn or ordered)[0], cores)]
    parts.append("<h2>Who is joined to whom</h2><div class='blocks'>")
    for result in ordered[:PICTURES]:
        parts.append(
            f"<div>{adjacency_svg(_adjacency_block(graph, result))}<p class='soft'>{len(result.nodes):,} nodes, "
        )
        parts.append(f"{100 * result.pairs_joined:.1f} % of the pairs joined</p></div>")
    parts.append("</div><h2>The nodes</h2>")
    parts += [_node_table(graph, result, cores) for result in ordered]
    seeds = sorted({str(result.seed) for result in results})
    parts.append(f"<p class='soft'>flipwise {__version__}, seed {', '.join(seeds)}.</p></body></html>")
    return "".join(parts)


def _result_table(results: Sequence[DensestSubgraph]) -> str:
    """A row for each k."""
    rows = [
        "<table><tr><th>k</th><th>density</th><th>upper bound</th><th>gap</th>"
        "<th class='wide'>pairs joined</th><th class='wide'>time</th></tr>"
    ]
    for result in results:
        gap = "-" if result.gap is None else "0 (optimal)" if result.optimal else f"{100 * result.gap:.3g} %"
        bound = "-" if result.bound is None else f"{result.bound:.3f}"
        cells = (
            f"{len(result.nodes):,}",
            f"{result.density:.3f}",
            bound,
            gap,
            f"{100 * result.pairs_joined:.1f} %",
            f"{result.seconds:.2f} s",
        )
        shown = "".join(f"<td>{cell}</td>" for cell in cells[:4]) + "".join(
            f"<td class='wide'>{c}</td>" for c in cells[4:]
        )
        rows.append(f"<tr>{shown}</tr>")
    return "".join([*rows, "</table>"])


def _set_drawing(graph: Graph, result: DensestSubgraph) -> str:
    """A set whose names have room, drawn."""
    inner = induced_subgraph(graph, result.indices)
    svg = network_svg(inner, [str(node) for node in result.nodes])
    said = f"{inner.n:,} nodes, {inner.n_edges:,} edges. Larger dots have more neighbours inside."
    if inner.n_edges > DRAWN_EDGES:
        said += f" The {DRAWN_EDGES:,} heaviest edges are drawn."
    return f"<h2>The subgraph, k = {inner.n:,}</h2><div class='scroll'>{svg}</div><p class='soft'>{said}</p>"


def _place_section(graph: Graph, result: DensestSubgraph, cores: Ints) -> str:
    """What the graph looks like, and where a set sits in it."""
    degrees, chosen = graph.degrees, result.indices
    leaving = int(degrees[chosen].sum()) - induced_subgraph(graph, chosen).n_arcs
    charts = place_charts(degrees, cores, chosen, f"the {chosen.size:,} nodes found")
    said = (
        f"Mean degree {2 * graph.n_edges / max(graph.n, 1):.3g}, largest {int(degrees.max(initial=0)):,}; the largest "
        f"core number is {int(cores.max(initial=0)):,}. The {chosen.size:,} nodes have core numbers from "
        f"{int(cores[chosen].min()):,} to {int(cores[chosen].max()):,}, and {leaving:,} edges lead out of them."
    )
    drawn = "".join(chart.html() for chart in charts)
    return f"<h2>The graph, and where the set sits</h2><p class='soft'>{said}</p><div class='blocks'>{drawn}</div>"


def _node_table(graph: Graph, result: DensestSubgraph, cores: Ints) -> str:
    """The nodes of a set as a table, those with the most neighbours inside first."""
    inner = induced_subgraph(graph, result.indices)
    order = np.argsort(-inner.degrees, kind="stable")[:LISTED_NODES]
    names, degrees = result.nodes, graph.degrees[result.indices]
    own = cores[result.indices]
    rows = "".join(
        f"<tr><td>{escape(str(names[i]))}</td><td>{inner.degrees[i]:,}</td><td>{degrees[i]:,}</td><td>{own[i]:,}</td></tr>"
        for i in order.tolist()
    )
    more = "" if len(names) <= LISTED_NODES else f"<p class='soft'>The first {LISTED_NODES:,} of {len(names):,}.</p>"
    return (
        f"<details><summary>k = {len(names):,}</summary><table class='nodes'><tr><th>node</th><th>inside</th>"
        f"<th>degree</th><th>core</th></tr>{rows}</table>{more}</details>"
    )


def profile_chart(sizes: Sequence[int], densities: Sequence[float], bounds: Sequence[float | None]) -> Chart:
    """Density against k on a logarithmic axis, the room up to the proven bound as a band."""
    proven = [(float(k), d, b) for k, d, b in zip(sizes, densities, bounds, strict=True) if b is not None]
    return Chart(
        "Density and upper bound against k",
        "k, nodes in the subgraph",
        "density",
        [Line("found", list(zip(map(float, sizes), densities, strict=True)), 0, markers=True)],
        [Band("not known: above what was found, below the proven upper bound", proven, 1)] if proven else [],
        x_log=True,
        x_ticks=_far_apart(sizes),
        y_from_zero=True,
    )


def _far_apart(sizes: Sequence[int]) -> list[int]:
    """Sizes far enough apart on the logarithmic axis for their labels."""
    chosen = [sizes[0]]
    room = (math.log(sizes[-1]) - math.log(sizes[0]) or 1.0) / 12
    for k in sizes[1:]:
        if math.log(k) - math.log(chosen[-1]) >= room:
            chosen.append(k)
    return chosen


def _adjacency_block(graph: Graph, result: DensestSubgraph) -> Bools:
    """The adjacency inside the subgraph, its nodes by falling inner degree; at most `PICTURED_NODES` of them."""
    chosen = np.flatnonzero(np.asarray(result.x).reshape(-1) > 0)
    matrix = graph.to_scipy()[chosen][:, chosen].toarray() != 0
    order = np.argsort(-matrix.sum(axis=1), kind="stable")[:PICTURED_NODES]
    block: Bools = matrix[np.ix_(order, order)]
    return block


def adjacency_svg(block: Bools) -> str:
    """A square of cells, one for each joined pair: a picture used as a mask, so that it follows the page's colours."""
    side = max(len(block), 1)
    picture = _mask_png(block)
    mask = f"mask-{zlib.crc32(picture):08x}"  # of its own for each picture of a page
    return (
        f"<svg class='adjacency' viewBox='0 0 {side} {side}' role='img' aria-label='adjacency of the subgraph'>"
        f"<mask id='{mask}'><image width='{side}' height='{side}' style='image-rendering:pixelated' "
        f"href='data:image/png;base64,{base64.b64encode(picture).decode()}'/></mask>"
        f"<rect class='ground' width='{side}' height='{side}'/>"
        f"<rect class='joined' width='{side}' height='{side}' mask='url(#{mask})'/></svg>"
    )


def _mask_png(block: Bools) -> bytes:
    """A PNG of one bit a pixel, white where the block is True."""
    side = max(len(block), 1)
    rows = np.packbits(np.asarray(block, dtype=bool).reshape(side, -1), axis=1)
    raw = np.concatenate([np.zeros((side, 1), np.uint8), rows], axis=1).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def place_charts(degrees: Ints, cores: Ints, chosen: Ints, called: str) -> list[Chart]:
    """Two charts: how many nodes have a degree, and a core number, of at least so much."""
    said = "How many nodes have at least this {}: in the graph, and in the set."
    return [
        Chart(
            title,
            label,
            "nodes",
            [Line("all nodes", complementary_counts(values), 7), Line(called, complementary_counts(values[chosen]), 0)],
            x_log=True,
            y_log=True,
            note=said.format(label),
        )
        for title, label, values in (
            ("Degrees", "degree", degrees),
            ("Core numbers", "core number", cores),
        )
    ]


def complementary_counts(values: Ints) -> Sequence[tuple[float, float]]:
    """For each value from 1 on, how many are at least that; at most so many points, evenly by their logarithm."""
    positive = np.sort(values[values > 0])
    if not positive.size:
        return []
    found, first = np.unique(positive, return_index=True)
    if found.size > CORNERS:
        wanted = np.geomspace(found[0], found[-1], CORNERS)
        kept = np.unique(np.minimum(np.searchsorted(found, wanted), found.size - 1))
        found, first = found[kept], first[kept]
    return [(float(value), float(positive.size - at)) for value, at in zip(found, first, strict=True)]
