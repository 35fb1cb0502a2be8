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
from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise import __version__
from flipwise.foundation.arrays import Bools

if TYPE_CHECKING:
    from flipwise.graphs.graph import Graph

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 14, 38
"""Of the drawing of the profile, and the room around it."""
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6875; --line: #d8dee5; --page: #fff; --found: #0b6e99;
  --bound: #c0392b; --band: #c0392b22; --cell: #0b6e99; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaee; --soft: #9aa7b4; --line: #37424d; --page: #14191f;
  --found: #5cc0ea; --bound: #ff8f7d; --band: #ff8f7d26; --cell: #5cc0ea; } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem } h2 { font-size: 1.1rem; margin: 2.2rem 0 .5rem }
p { margin: .4rem 0 } .soft { color: var(--soft); font-size: .92rem }
svg { width: 100%; height: auto; display: block } svg text { fill: var(--soft); font: 12px system-ui, sans-serif }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: .35rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
th { font-weight: 600; color: var(--soft) } th:first-child, td:first-child { text-align: left }
.blocks { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1.25rem }
@media (max-width: 30rem) { th, td { padding: .3rem .3rem; font-size: .8rem } svg text { font-size: 20px } }
details { margin: .5rem 0 } summary { cursor: pointer } code { overflow-wrap: anywhere; font-size: .85rem }
"""


def subgraph_page(graph: Graph, results: Sequence[Any], *, title: str = "Dense subgraphs") -> str:
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
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f"<p class='soft'>{graph.n:,} nodes, {graph.n_edges:,} edges. {escape(' '.join(graph.notes))}</p>",
        "<h2>Found, and proven</h2><div class='scroll'>",
        _table(ordered),
        "</div><p class='soft'>Density is x'Wx/k, the mean (weighted) degree inside the subgraph. No set of k nodes ",
        "exceeds the upper bound, so the gap is the most by which any other set could be better.</p>",
    ]
    if len(ordered) > 1:
        parts += ["<h2>Density against size</h2>", profile_svg(*_curves(ordered))]
    parts.append("<h2>Who is joined to whom</h2><div class='blocks'>")
    for result in ordered[:6]:
        parts.append(f"<div>{adjacency_svg(_block(graph, result))}<p class='soft'>{len(result.nodes):,} nodes, ")
        parts.append(f"{100 * result.edge_density:.1f} % of the pairs joined</p></div>")
    parts.append("</div><h2>The nodes</h2>")
    for result in ordered:
        names = ", ".join(escape(str(node)) for node in list(result.nodes)[:5000])
        parts.append(f"<details><summary>k = {len(result.nodes):,}</summary><code>{names}</code></details>")
    seeds = sorted({str(result.seed) for result in results})
    parts.append(f"<p class='soft'>flipwise {__version__}, seed {', '.join(seeds)}.</p></body></html>")
    return "".join(parts)


def _table(results: Sequence[Any]) -> str:
    rows = [
        "<table><tr><th>k</th><th>density</th><th>upper bound</th><th>gap</th><th>pairs joined</th><th>time</th></tr>"
    ]
    for result in results:
        gap = "-" if result.gap is None else "0 (optimal)" if result.optimal else f"{100 * result.gap:.3g} %"
        bound = "-" if result.bound is None else f"{result.bound:.3f}"
        cells = (
            f"{len(result.nodes):,}",
            f"{result.density:.3f}",
            bound,
            gap,
            f"{100 * result.edge_density:.1f} %",
            f"{result.seconds:.2f} s",
        )
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "".join([*rows, "</table>"])


def _curves(results: Sequence[Any]) -> tuple[list[int], list[float], list[float | None]]:
    bounds = [None if r.bound is None or not math.isfinite(r.bound) else float(r.bound) for r in results]
    return [len(r.nodes) for r in results], [float(r.density) for r in results], bounds


def _block(graph: Graph, result: Any) -> Bools:
    """The adjacency inside the subgraph, its nodes by falling inner degree; at most 400 of them."""
    chosen = np.flatnonzero(np.asarray(result.x).reshape(-1) > 0)
    matrix = graph.to_scipy()[chosen][:, chosen].toarray() != 0
    order = np.argsort(-matrix.sum(axis=1), kind="stable")[:400]
    block: Bools = matrix[np.ix_(order, order)]
    return block


def profile_svg(sizes: Sequence[int], densities: Sequence[float], bounds: Sequence[float | None]) -> str:
    """Density against k on a logarithmic axis, the room up to the proven bound as a band."""
    highest = 1.05 * max([*densities, *(bound for bound in bounds if bound is not None), 1e-9])
    low, high = math.log(sizes[0]), math.log(sizes[-1])

    def x(k: float) -> float:
        return _LEFT + (math.log(k) - low) / (high - low or 1.0) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - value / highest * (_HEIGHT - _TOP - _BOTTOM)

    parts = [f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='density and upper bound against k'>"]
    for tick in _ticks(highest):
        parts.append(
            f"<line x1='{_LEFT}' x2='{_WIDTH - _RIGHT}' y1='{y(tick):.1f}' y2='{y(tick):.1f}' stroke='var(--line)'/>"
        )
        parts.append(f"<text x='{_LEFT - 8}' y='{y(tick) + 4:.1f}' text-anchor='end'>{tick:g}</text>")
    for k in _thinned(sizes):
        parts.append(f"<text x='{x(k):.1f}' y='{_HEIGHT - _BOTTOM + 18}' text-anchor='middle'>{k:,}</text>")
    parts.append(f"<text x='{_WIDTH - _RIGHT}' y='{_HEIGHT - 4}' text-anchor='end'>k, nodes in the subgraph</text>")
    proven = [(k, d, b) for k, d, b in zip(sizes, densities, bounds) if b is not None]
    if proven:
        upper = [f"{x(k):.1f},{y(b):.1f}" for k, _, b in proven]
        lower = [f"{x(k):.1f},{y(d):.1f}" for k, d, _ in reversed(proven)]
        parts.append(f"<polygon points='{' '.join(upper + lower)}' fill='var(--band)'/>")
        parts.append(f"<polyline points='{' '.join(upper)}' fill='none' stroke='var(--bound)' stroke-dasharray='5 4'/>")
    line = " ".join(f"{x(k):.1f},{y(d):.1f}" for k, d in zip(sizes, densities))
    parts.append(f"<polyline points='{line}' fill='none' stroke='var(--found)' stroke-width='2'/>")
    for k, d in zip(sizes, densities):
        parts.append(
            f"<circle cx='{x(k):.1f}' cy='{y(d):.1f}' r='3.5' fill='var(--found)'>"
            f"<title>k={k}: {d:.3f}</title></circle>"
        )
    parts.append("</svg><p class='soft'><span style='color:var(--found)'>●</span> found &nbsp; ")
    parts.append(
        "<span style='color:var(--bound)'>- -</span> proven upper bound; between them is what is not known</p>"
    )
    return "".join(parts)


def adjacency_svg(block: np.ndarray) -> str:
    """A square of cells, one for each joined pair: a picture used as a mask, so that it follows the page's colours."""
    side = max(len(block), 1)
    picture = base64.b64encode(_mask_png(block)).decode()
    return (
        f"<svg viewBox='0 0 {side} {side}' role='img' aria-label='adjacency of the subgraph'>"
        f"<mask id='m{side}'><image width='{side}' height='{side}' style='image-rendering:pixelated' "
        f"href='data:image/png;base64,{picture}'/></mask>"
        f"<rect width='{side}' height='{side}' fill='var(--line)' opacity='.35'/>"
        f"<rect width='{side}' height='{side}' fill='var(--cell)' mask='url(#m{side})'/></svg>"
    )


def _mask_png(block: np.ndarray) -> bytes:
    """A PNG of one bit a pixel, white where the block is True."""
    side = max(len(block), 1)
    rows = np.packbits(np.asarray(block, dtype=bool).reshape(side, -1), axis=1)
    raw = np.concatenate([np.zeros((side, 1), np.uint8), rows], axis=1).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def _ticks(highest: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(highest))
    for part in (0.1, 0.2, 0.5, 1.0):
        if highest / (step * part) <= 6:
            step *= part
            break
    return [step * i for i in range(int(highest / step) + 1)]


def _thinned(sizes: Sequence[int]) -> list[int]:
    """Sizes far enough apart on the logarithmic axis for their labels."""
    kept = [sizes[0]]
    room = (math.log(sizes[-1]) - math.log(sizes[0]) or 1.0) / 12
    for k in sizes[1:]:
        if math.log(k) - math.log(kept[-1]) >= room:
            kept.append(k)
    return kept
