"""Write the results of README.md from stored runs: one line a job, beside the rival a reader would ask for.

python benchmarks/readme_page.py
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from typing import Any

from recording import ROOT, read, runs, stored

BLOCK = re.compile(r"(<!-- results -->\n).*?(<!-- end of results -->)", re.DOTALL)
Line = tuple[str, str, str]
"""The job, what Flipwise reaches, what others reach."""


def densest(run: dict[str, Any]) -> list[Line]:
    """The paper's two real graphs at the paper's k, beside the methods people use for it."""
    lines = []
    for row in run["rows"]:
        if row["k"] == 1600 and row["graph"] in ("dblp-2010", "uk-2007-05@100000"):
            rivals = f"Frank-Wolfe {row['frank-wolfe']:.2f}, greedy peeling {row['peeling']:.2f}"
            proven = "proven optimal" if row["gap"] <= 0.0 else f"proven: at most {row['bound']:.3f}"
            job = f"mean degree inside the 1,600 densest of {row['nodes']:,} nodes ({row['graph']})"
            lines.append((job, f"**{row['density']:.3f}**, {proven}", rivals))
    return lines


def independent_sets(run: dict[str, Any]) -> list[Line]:
    """Conflict graphs, beside what was submitted for four GPUs."""
    rows = [row for row in run["rows"] if row["family"] == "independent"]
    ours, gpus = (sum(row[key] >= row["best_known"] for row in rows) for key in ("value", "four_gpus"))
    seconds = max(row["limit"] for row in rows)
    job = f"maximum independent sets of QOBLIB, {len(rows)} graphs: best-known size reached"
    return [(job, f"**{ours}**, up to {seconds:g} s of one core each", f"ABS2, two hours of four A40 GPUs: {gpus}")]


def network(run: dict[str, Any]) -> list[Line]:
    """A function of bits in torch, beside what people train such networks with."""
    values: dict[str, list[float]] = {}
    for row in run["rows"]:
        if row["function"] == "network2":
            values.setdefault(row["rival"], []).append(row["value"])
    ours, rival = (statistics.mean(values[name]) for name in ("flipwise", "straight-through Adam"))
    job = "training loss of a network of 1,480 binary weights (torch) after one second"
    return [(job, f"**{ours:.3f}**", f"straight-through Adam {rival:.3f}")]


def proofs(run: dict[str, Any]) -> list[Line]:
    """QUBO and Max-Cut from public generators: proven or not within a minute, and beside exact codes in less."""
    rows = [row for row in run["rows"] if not re.fullmatch(r"G\d+", row["family"])]
    proven, families = sum(row["gap"] == 0.0 for row in rows), len({row["family"] for row in rows})
    sizes = [row["n"] for row in rows]
    job = f"QUBO and Max-Cut of {min(sizes)} to {max(sizes)} variables, {families} public generators: proven optimal"
    ours, others = f"**{proven} of {len(rows)}** within a minute", ""
    rivals = stored("exact_rivals")
    if rivals is not None:
        count: dict[str, int] = {}
        for row in rivals["rows"]:
            count[row["solver"]] = count.get(row["solver"], 0) + row["proven"]
        limit, asked = rivals["rows"][0]["limit"], len({row["family"] for row in rivals["rows"]})
        ours += f"; {count.pop('Flipwise')} of {asked} in {limit:g} s"
        others = f"{', '.join(f'{name} {number}' for name, number in count.items())} of {asked} in {limit:g} s"
    return [(job, ours, others)]


def vectors(run: dict[str, Any]) -> list[Line]:
    """Sentence embeddings in a few bytes, beside the best and the best-known quantiser of faiss."""
    found: dict[str, list[float]] = {}
    for row in run["rows"]:
        if row["kind"] == "quality" and (row["key"]["data"], row["key"]["bytes"]) == ("stackoverflow", 8):
            found.setdefault(row["key"]["method"], []).append(row["recall_10"])
    recall = {name: statistics.mean(values) for name, values in found.items()}
    best = max((name for name in recall if not name.startswith("flipwise")), key=lambda name: recall[name])
    others = dict.fromkeys([best, "faiss PQ"])
    job = "sentence embeddings in 8 bytes each: share of the 10 nearest found"
    return [(job, f"**{recall['flipwise additive']:.3f}**", ", ".join(f"{name} {recall[name]:.3f}" for name in others))]


SECTIONS: dict[str, Callable[[dict[str, Any]], list[Line]]] = {
    "densest_rivals": densest,
    "structured": independent_sets,
    "proofs": proofs,
    "differentiable_one_second": network,
    "embedding_bytes": vectors,
}


def table() -> str:
    """The table, and how many runs are behind it."""
    lines = ["| | Flipwise | others |", "| --- | --- | --- |"]
    for name, section in SECTIONS.items():
        record = stored(name)
        if record is not None:
            lines += [f"| {' | '.join(line)} |" for line in section(record)]
    made = [run for record in read() for run in runs(record)]
    days = sorted(run["date"][:10] for run in made)
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    count = len({run["commit"] for run in made})
    said = f"Stored runs of {count} commits, {when}; every command and commit stands beside its table in "
    return "\n".join(lines) + f"\n\n{said}"


def main() -> None:
    """Write README.md anew."""
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    body = table() + "[docs/benchmarks](docs/benchmarks/index.md).\n"
    path.write_text(BLOCK.sub(lambda match: match[1] + body + match[2], text), encoding="utf-8")


if __name__ == "__main__":
    main()
