"""Write the results of README.md from stored runs: one line a job, beside the rival a reader would ask for.

python benchmarks/readme_page.py
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from typing import Any

from recording import ROOT, runs, stored

BLOCK = re.compile(r"(<!-- results -->\n).*?(<!-- end of results -->)", re.DOTALL)
Line = tuple[str, str, str, str]
"""The job, what Flipwise reaches, what the rival reaches, what is proven."""


def densest(run: dict[str, Any]) -> list[Line]:
    """The paper's two real graphs at the paper's k, beside the methods people use for it."""
    lines = []
    for row in run["rows"]:
        if row["k"] == 1600 and row["graph"] in ("dblp-2010", "uk-2007-05@100000"):
            rivals = f"Frank-Wolfe {row['frank-wolfe']:.2f}, greedy peeling {row['peeling']:.2f}"
            proven = "optimal" if row["gap"] <= 0.0 else f"at most {row['bound']:.3f} is possible"
            job = f"the 1,600 densest of {row['nodes']:,} nodes ({row['graph']}): mean degree inside"
            lines.append((job, f"{row['density']:.3f}", rivals, proven))
    return lines


def independent_sets(run: dict[str, Any]) -> list[Line]:
    """Conflict graphs, beside what was submitted for four GPUs."""
    rows = [row for row in run["rows"] if row["family"] == "independent"]
    ours, gpus = (sum(row[key] >= row["best_known"] for row in rows) for key in ("value", "four_gpus"))
    seconds = max(row["limit"] for row in rows)
    job = f"maximum independent sets of QOBLIB, {len(rows)} graphs: best known size reached"
    return [(job, f"{ours}, within {seconds:g} s of one core", f"ABS2, four A40 GPUs, two hours: {gpus}", "")]


def network(run: dict[str, Any]) -> list[Line]:
    """A function of bits in torch, beside what people train such networks with."""
    values: dict[str, list[float]] = {}
    for row in run["rows"]:
        if row["function"] == "network2":
            values.setdefault(row["rival"], []).append(row["value"])
    ours, rival = (statistics.mean(values[name]) for name in ("flipwise", "straight-through Adam"))
    return [("training loss of a network of 1,480 binary weights on digits, one second (torch)",
             f"{ours:.3f}", f"straight-through Adam {rival:.3f}", "")]  # fmt: skip


def proofs(run: dict[str, Any]) -> list[Line]:
    """QUBO and Max-Cut from public generators, each proven or not."""
    rows = [row for row in run["rows"] if not re.fullmatch(r"G\d+", row["family"])]
    proven = sum(row["gap"] == 0.0 for row in rows)
    families = len({row["family"] for row in rows})
    job = f"QUBO and Max-Cut of 50 to 400 variables from {families} public generators, {len(rows)} instances"
    return [
        (job, f"{proven} solved", "", f"{proven} of {len(rows)} proven optimal, each in less than a minute of one core")
    ]


def exact_rivals(run: dict[str, Any]) -> list[Line]:
    """One instance of a family, beside exact codes."""
    proven: dict[str, int] = {}
    for row in run["rows"]:
        proven[row["solver"]] = proven.get(row["solver"], 0) + row["proven"]
    families = len({row["family"] for row in run["rows"]})
    others = ", ".join(f"{name} {count}" for name, count in proven.items() if name != "Flipwise")
    job = f"one instance of {families} of these generators, {run['rows'][0]['limit']:g} s each: proven optimal"
    return [(job, str(proven["Flipwise"]), others, "")]


SECTIONS: dict[str, Callable[[dict[str, Any]], list[Line]]] = {
    "densest_rivals": densest,
    "structured": independent_sets,
    "differentiable_one_second": network,
    "proofs": proofs,
    "exact_rivals": exact_rivals,
}


def table() -> str:
    """The table, and how many runs are behind it."""
    lines = ["| | Flipwise | others | proven |", "| --- | --- | --- | --- |"]
    made: list[dict[str, Any]] = []
    for name, section in SECTIONS.items():
        record = stored(name)
        if record is not None:
            lines += [f"| {' | '.join(line)} |" for line in section(record)]
            made += runs(record)
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
