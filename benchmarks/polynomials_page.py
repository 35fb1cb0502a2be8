"""Write docs/benchmarks/polynomials.md from the stored runs of benchmarks/polynomials.py.

python benchmarks/polynomials_page.py
"""

from __future__ import annotations

import statistics
from typing import Any

from render import Rows, table, write_page


def glasses(record: dict[str, Any]) -> str:
    """The mean value of every solver on every family, the best in bold."""
    rows: Rows = record["rows"]
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    families = list(dict.fromkeys((row["n"], row["degree"], row["weights"]) for row in rows))
    complete = len({row["seed"] for row in rows}) * len(solvers)
    sizes = [(row["n"], row["degree"], row["weights"]) for row in rows]
    families = [family for family in families if sizes.count(family) == complete]
    lines = []
    for family in families:
        here = [row for row in rows if (row["n"], row["degree"], row["weights"]) == family]
        means = {s: statistics.fmean(row["value"] for row in here if row["solver"] == s) for s in solvers}
        late = {s: max(row["cpu_seconds"] for row in here if row["solver"] == s) for s in solvers}
        best = min(means.values())
        cells = [f"**{means[s]:,.1f}**" if means[s] == best else f"{means[s]:,.1f}" for s in solvers]
        budget = here[0]["budget"]
        marks = [f" ({late[s]:.0f} s)" if late[s] > 1.5 * budget + 0.5 else "" for s in solvers]
        weights = "-1/+1" if family[2] == "pm1" else "normal"
        cells = [cell + mark for cell, mark in zip(cells, marks, strict=True)]
        lines.append([f"{family[0]:,}", str(family[1]), weights, *cells])
    seeds = len({row["seed"] for row in rows})
    return (
        "## Glasses of degree 3 and 4\n\n"
        f"Mean value of {seeds} random instances with four products for each spin, after {rows[0]['budget']:g} s of "
        "processor time on one core; lower is better. The rivals sample the quadratic model that dimod makes of the "
        "polynomial (one more variable for each pair that is replaced, held by a penalty of strength 1, the default of "
        "`dimod.HigherOrderComposite`, or 3); the model is made before their clock starts, and reads are scored on the "
        "polynomial. Seconds in brackets: the sampler did not end in time.\n\n"
        + table(["n", "degree", "weights", *solvers], lines)
        + "\n"
    )


def labs(record: dict[str, Any]) -> str:
    """How often and how soon the target was met."""
    rows: Rows = sorted(record["rows"], key=lambda row: row["n"])
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    lines = []
    for n in dict.fromkeys(row["n"] for row in rows):
        cells = [f"{n}", f"{next(row['target'] for row in rows if row['n'] == n):.0f}"]
        for solver in solvers:
            here = [row for row in rows if row["n"] == n and row["solver"] == solver]
            met = [row for row in here if row["value"] <= row["target"]]
            worst = max(here, key=lambda row: row["value"])
            seconds = ", ".join(f"{row['cpu_seconds']:.1f}" for row in met)
            text = f"{len(met)} of {len(here)}" + (f" ({seconds} s)" if met else "")
            cells.append(
                text
                if len(met) == len(here)
                else f"{text}; worst {worst['value']:.0f} after {worst['cpu_seconds']:.0f} s"
            )
        lines.append(cells)
    return (
        "## Low autocorrelation (LABS)\n\n"
        "Runs, one for each seed, that met the least energy (proven by others' exhaustive search; for n = 100 the "
        "target is 834), with their processor seconds on one core. What is given is a polynomial of degree 4 with "
        "about n³/12 terms, of which a flip touches n²/3. The library finds out that it is a sum of squared "
        "autocorrelations and keeps their table instead, in 16-bit integers.\n\n"
        + table(["n", "target", *solvers], lines)
        + "\n"
    )


if __name__ == "__main__":
    write_page("polynomials", "Polynomials", {"polynomials_glasses": glasses, "polynomials_labs": labs})
