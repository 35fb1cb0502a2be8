"""Densities and proven gaps at six k on dblp-2010 and uk-2007-05@100000, beside the floors they must not fall below.

    python benchmarks/densest.py              # both graphs, all six k
    python benchmarks/densest.py --quick      # k = 800 and above
    python benchmarks/densest.py --table      # print the stored run as a Markdown table

Simple undirected graphs, density x'Wx / k. The floors are what a prototype of 60 balancing passes and one descent
reached; `most` is the largest gap allowed. The graphs are found through FLIPWISE_DATA.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from recording import RESULTS, Recorder

import flipwise
from flipwise_studies.data.local import local_graph

KS = (200, 400, 800, 1600, 3200, 6400)
FLOORS = {
    "dblp-2010": (66.07, 62.890, 54.060, 44.820, 35.715, 27.8955),
    "uk-2007-05@100000": (170.21, 191.245, 188.17, 190.786, 182.9625, 170.537),
}
MOST_GAP = {
    "dblp-2010": (0.068, 0.003, 0.001, 0.001, 0.001, 0.001),
    "uk-2007-05@100000": (0.132, 0.0065, 0.017, 0.0001, 0.0001, 0.001),
}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| graph | k | density | bound | gap | proven by | floor | seconds |", "|" + " --- |" * 8]
    for row in rows:
        gap = "optimal" if row["gap"] == 0.0 else f"{100 * row['gap']:.4f} %"
        lines.append(
            f"| {row['graph']} | {row['k']} | {row['density']:.5f} | {row['bound']:.5f} | {gap} | {row['proven_by']} "
            f"| {row['floor']} | {row['seconds']:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="k = 800 and above only")
    parser.add_argument("--table", action="store_true", help="print the stored run")
    parser.add_argument("--effort", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=None)
    arguments = parser.parse_args()
    if arguments.table:
        print(table(json.loads((RESULTS / "densest.json").read_text(encoding="utf-8"))["rows"]))
        return
    recorder = Recorder("densest")
    failed = False
    for name, floors in FLOORS.items():
        graph = local_graph(name)
        for k, floor, most in zip(KS, floors, MOST_GAP[name], strict=True):
            if arguments.quick and k < 800:
                continue
            begun = time.perf_counter()
            result = flipwise.densest_subgraph(graph, k, seed=0, effort=arguments.effort, threads=arguments.threads)
            seconds = time.perf_counter() - begun
            assert result.gap is not None
            passed = result.density >= floor and result.gap <= most
            failed |= not passed
            recorder.add(
                graph=name, k=k, density=result.density, bound=result.bound, gap=result.gap, floor=floor, most_gap=most,
                proven_by=result.bound_method, bounds=result.bounds, passed=passed, seconds=seconds,
                effort=arguments.effort,
            )  # fmt: skip
            print(
                f"{name:20} k={k:<5} {result.density:.5f} <= {result.bound:.5f}  gap {100 * result.gap:.4f} %  "
                f"by {result.bound_method}, {seconds:.1f} s{'' if passed else '  MISSED'}",
                flush=True,
            )
    print(table(recorder.record["rows"]))
    if failed:
        raise SystemExit("some rows miss their floor or gap")


if __name__ == "__main__":
    main()
