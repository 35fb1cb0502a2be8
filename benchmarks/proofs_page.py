"""Write docs/benchmarks/proofs.md from the stored runs of the proofs: python benchmarks/proofs_page.py"""

from __future__ import annotations

import densest_proofs
import proofs
from recording import stored
from render import Rows, table, write_page


def families(record: dict[str, object]) -> str:
    """QUBO and Max-Cut by families, then graphs of the Gset."""
    return (
        "## QUBO and Max-Cut\n\n"
        "Instances of public generators with seeds of our own, one core; proven: bound and value are equal within 60 s "
        "of the processor. Families: Beasley's QUBO by variables and density in per cent, graphs without weights and "
        "half of all edges (g05), weights -1 and 1 (pm1s) and -10 to 10 (w01) at a tenth of all edges, tori in two and "
        "three dimensions, chains whose couplings fall with a power of the distance; then graphs of the Gset.\n\n"
        + proofs.table(record["rows"], 60.0) + "\n\n"  # type: ignore[arg-type]
    )  # fmt: skip


def rivals(record: dict[str, object]) -> str:
    """Who proves what, side by side."""
    rows: Rows = record["rows"]  # type: ignore[assignment]
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    cells = {(row["family"], row["solver"]): row for row in rows}
    body = []
    for family in dict.fromkeys(row["family"] for row in rows):
        line = [family]
        for solver in solvers:
            row = cells.get((family, solver))
            gap = "no bound" if row is None or row["gap"] is None else f"{100 * row['gap']:.3g} %"
            line.append(f"proven, {row['seconds']:.1f} s" if row is not None and row["proven"] else gap)
        body.append(line)
    return (
        "## Beside HiGHS and CP-SAT\n\n"
        f"The first instance of a family, {rows[0]['limit']:g} s each, one core: the seconds of a proof, or "
        f"the gap that "
        "is left. The rivals solve the problem with a variable for each product.\n\n"
        + table(["family", *solvers], body) + "\n"
    )  # fmt: skip


def subgraphs(record: dict[str, object]) -> str:
    """Gaps of dense subgraphs beside those of the first version."""
    before = stored("densest_proofs_before")
    return (
        "## Dense subgraphs\n\n"
        "Seconds of the processor: at most 60 in `small`, 20 in `dense`, 8 in `social`, 30 in `large`, 10 in `cliques` "
        "(hidden cliques of the known size; 60 for brock800_4). Before: version 0.1.\n\n"
        + densest_proofs.table(record["rows"], before["rows"] if before else [])  # type: ignore[arg-type]
        + "\n\n"
    )


if __name__ == "__main__":
    write_page("proofs", "Proofs", {"proofs": families, "exact_rivals": rivals, "densest_proofs": subgraphs})
