"""Write docs/benchmarks/models.md: rows, constrained models, pools, solving again. python benchmarks/models_page.py"""

from __future__ import annotations

from typing import Any

from render import Rows, table, write_page


def cases(record: dict[str, Any]) -> str:
    """Random cases against brute force."""
    row = record["rows"][0]
    kinds = {kind.split(" | ")[0] for kind in row["right"]}
    return (
        "## Every constraint in every function\n\n"
        f"{row['cases']:,} random problems of up to 14 variables against brute force: counts, ranges, groups, columns, "
        f"rows, equalities, fixed variables, alone and together, searched and proven ({', '.join(sorted(kinds))}). "
        f"Infeasible, not optimal where optimal was claimed, or a bound on the wrong side: {row['faults']}.\n\n"
    )


def rows(record: dict[str, Any]) -> str:
    """Knapsacks and assignments."""
    body = []
    for family in dict.fromkeys(row["family"] for row in record["rows"]):
        own: Rows = [row for row in record["rows"] if row["family"] == family]
        worst = max(own, key=lambda row: row["gap"])
        body.append([
            family, str(len(own)), str(sum(row["feasible"] for row in own)), str(sum(row["gap"] <= 0 for row in own)),
            str(sum(row["gap"] <= 0.01 for row in own)), f"{100 * worst['gap']:.2f} % ({worst['instance']})",
        ])  # fmt: skip
    return (
        f"## Knapsacks and assignments against HiGHS\n\nSearch alone, {record['rows'][0]['seconds']:g} s "
        f"each; the best "
        "is HiGHS's optimum, or that of all permutations, once HiGHS's bound.\n\n"
        + table(["family", "instances", "feasible", "at the best", "within 1 %", "largest gap"], body) + "\n"
    )  # fmt: skip


def models(record: dict[str, Any]) -> str:
    """Constrained models beside penalties."""
    body = [
        [row["model"], str(row["seed"])]
        + ["-" if row[key] is None else f"{row[key]:g}" for key in ("flipwise", "penalties")]
        for row in record["rows"]
    ]  # fmt: skip
    return (
        f"## Constrained models beside penalties\n\n`sample_cqm`, {record['rows'][0]['seconds']:g} s, beside dimod's "
        "`cqm_to_bqm` with simulated annealing, which has that time for each of three multipliers; lower is "
        "better. All "
        "answers of `sample_cqm` keep every constraint.\n\n"
        + table(["model", "seed", "sample_cqm", "best feasible read with penalties"], body) + "\n"
    )  # fmt: skip


def pools(record: dict[str, Any]) -> str:
    """Several answers."""
    all_rows: Rows = record["rows"]
    optima = next(row for row in all_rows if row["part"] == "optima")
    right = ", ".join(f"{name} {count} of {optima['instances']}" for name, count in optima["right"].items())
    cost = {row["graph"]: row for row in all_rows if row["part"] == "cost"}
    body = []
    for row in all_rows:
        if row["part"] == "reads":
            sa, same = row["annealing, defaults"], row["annealing, same time"]
            values = (row["mean"], sa["best"], same["best"])
            body.append([row["graph"], f"{cost[row['graph']]['ratio']:.3f}", *(f"{value:g}" for value in values)])
    return (
        f"## Several answers\n\nAll optima of small problems found: {right}. Then the time of a search with "
        f"a pool of ten, "
        "as a share of that without, and the mean of ten distinct cuts of one run beside the best of ten reads of "
        "dwave-samplers' annealing, with its defaults and with as many sweeps as fill the same time.\n\n"
        + table(["graph", "time with a pool", "mean of ten", "annealing, best of ten", "the same, equal time"], body)
        + "\n"
    )


def again(record: dict[str, Any]) -> str:
    """A model that changes."""
    body = [
        [row["model"], row["change"], str(row["seed"]), f"{100 * row['share_of_time']:.1f} %", f"{row['warm']:g}",
         f"{row['cold']:g}", f"{row['cold_in_a_tenth']:g}", f"{row['behind_percent']:.3f} %"]
        for row in record["rows"]
    ]  # fmt: skip
    return (
        "## Solving again\n\n1 % of the weights drawn anew, or with another sign: `Incremental` from the "
        "last points, with "
        "about a tenth of the time, beside the whole time and a tenth of it from nothing; lower is better. Sparse: a "
        "million couplings; dense: 2,000 variables.\n\n"
        + table(["model", "change", "seed", "time", "warm", "cold", "cold in a tenth", "warm behind cold"], body) + "\n"
    )  # fmt: skip


if __name__ == "__main__":
    write_page(
        "models",
        "Constraints, several answers, solving again",
        {"constraint-cases": cases, "rows": rows, "cqm-examples": models, "pools": pools, "solve_again": again},
    )
