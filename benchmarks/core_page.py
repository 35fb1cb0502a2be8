"""Write docs/benchmarks/core.md and the results of README.md from stored runs.

python benchmarks/core_page.py
"""

from __future__ import annotations

import re
from typing import Any

from densest_page import source, stored
from recording import ROOT, publish

BLOCK = re.compile(r"(<!-- results -->\n).*?(<!-- end of results -->)", re.DOTALL)


def startup(run: dict[str, Any]) -> str:
    """What a user waits for first."""
    lines = ["| in a fresh process, empty kernel cache | ms | x `import scipy.sparse` |", "| --- | ---: | ---: |"]
    for row in run["rows"]:
        lines.append(f"| {row['what']} | {1000 * row['seconds']:.0f} | {row['ratio_to_scipy_sparse']:.2f} |")
    return "\n".join(lines)


def descent(run: dict[str, Any]) -> str:
    """The cost of a descent in full gradients, and its growth."""
    lines = [
        "| constraint | n | nonzeros | descent / full gradient | iterations | added memory / matrix |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in run["rows"]:
        if row["part"] == "cost":
            lines.append(
                f"| {row['constraint']} | {row['n']:,} | {row['nonzeros']:,} | {row['gradients_per_descent']:.1f} "
                f"| {row['iterations']} | {row['extra_memory_over_matrix']:.2f} |"
            )
    exponent = next(row["exponent"] for row in run["rows"] if row["part"] == "exponent")
    sizes = [f"{row['n']:,}" for row in run["rows"] if row["part"] == "growth"]
    return "\n".join(lines) + f"\n\nOver n = {', '.join(sizes)} the time grows as n to the power {exponent:.2f}."


def variants(run: dict[str, Any]) -> str:
    """The variants against the plain algorithm."""
    lines = ["| family | variant | mean change of f | better | worse | iterations |", "|" + " --- |" * 6]
    for row in run["rows"]:
        lines.append(
            f"| {row['family']} | {row['variant']} | {100 * row['mean_change']:+.2f} ± "
            f"{100 * row['standard_error']:.2f} % | {100 * row['better']:.0f} % | {100 * row['worse']:.0f} % "
            f"| {row['iterations']:.0f} |"
        )
    beyond = [r for r in run["rows"] if abs(r["mean_change"]) > 2 * r["standard_error"]]
    better = [f"{r['variant']} on {r['family']}" for r in beyond if r["mean_change"] < 0]
    worse = [f"{r['variant']} on {r['family']}" for r in beyond if r["mean_change"] > 0]
    verdict = (
        f"Better than plain by more than twice the standard error: {', '.join(better) or 'none'}. "
        f"Worse by as much: {', '.join(worse) or 'none'}. Elsewhere the difference is within the noise."
    )
    return "\n".join(lines) + f"\n\n{verdict}"


def local_search(run: dict[str, Any]) -> str:
    """DPCD against plain local search and the paper's rivals, one line for each family and rival."""
    head = "| family | against | instances | level or better | ours | theirs | seconds | ours took |"
    lines = [head, "|" + " --- |" * 8]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in run["rows"]:
        descents = {None: "", 1: ", one descent"}.get(row["restarts"], f", {row['restarts']} descents")
        groups.setdefault((row["family"], row["against"] + descents), []).append(row)
    for (family, against), rows in groups.items():
        level = sum(row["ours"] <= row["rival"] + 1e-9 * abs(row["rival"]) for row in rows)
        ours, theirs, seconds = (sum(row[key] for row in rows) / len(rows) for key in ("ours", "rival", "seconds"))
        took = sum(row.get("our_seconds", row["seconds"]) for row in rows) / len(rows)
        lines.append(
            f"| {family} | {against} | {len(rows)} | {level} | {ours:.6g} | {theirs:.6g} | {seconds:.3g} | {took:.3g} |"
        )
    return "\n".join(lines)


def ablation(run: dict[str, Any]) -> str:
    """The default without one departure from the paper at a time."""
    families = list(dict.fromkeys(row["family"] for row in run["rows"]))
    cells = {(row["departure"], row["family"]): row for row in run["rows"]}
    lines = ["| | " + " | ".join(families) + " |", "| --- |" + " ---: |" * len(families)]
    for departure in dict.fromkeys(row["departure"] for row in run["rows"]):
        row = [cells[departure, family] for family in families]
        lines.append(
            f"| {departure} | " + " | ".join(f"{100 * c['change']:+.2f} %, {c['time']:.2f} x" for c in row) + " |"
        )
    return "\n".join(lines)


def densities(run: dict[str, Any]) -> str:
    """The headline: densities with their proofs."""
    lines = ["| graph | k | density found | proven upper bound | gap |", "| --- | ---: | ---: | ---: | ---: |"]
    for row in run["rows"]:
        gap = "optimal" if row["gap"] <= 0.0 else f"{100 * row['gap']:.3f} %"
        lines.append(f"| {row['graph']} | {row['k']:,} | {row['density']:.3f} | {row['bound']:.3f} | {gap} |")
    return "\n".join(lines)


def page() -> str:
    """The page of the core benchmarks."""
    runs = {name: stored(name) for name in ("startup", "descent", "local_search", "ablation", "variants")}
    parts = [
        "# The core: start-up, descent, variants",
        "Generated by `benchmarks/core_page.py`.",
        "## Start-up",
        startup(runs["startup"]),
        source(runs["startup"]),
        "## The cost of a descent",
        "Random sparse Gaussian quadratics. One full gradient on all threads is what a method that recomputes it pays "
        "in every iteration. Under an exact count a descent ends only when no exchange of any pair improves, which "
        "takes several searches over all pairs.",
        descent(runs["descent"]),
        source(runs["descent"]),
        "## Against plain local search and the paper's rivals",
        "Equal processor time on one core; mean values. The plain local search, compiled, restarts for as long as DPCD "
        "took; a rival of the paper runs once, and DPCD restarts for as long: it looks at the clock after each step "
        "and each walk, so that it takes 2 ms longer than the shortest of these limits, as the last column says.",
        local_search(runs["local_search"]),
        source(runs["local_search"]),
        "## What each departure is worth",
        "The default without one of its departures from the paper at a time: the mean change of the final value (more "
        "is worse) and the processor time, both against the default.",
        ablation(runs["ablation"]),
        source(runs["ablation"]),
        "## Momentum, Adam-like and Adagrad-like directions",
        "Change of the final value against plain DPCD from the same starts; negative is better.",
        variants(runs["variants"]),
        source(runs["variants"]),
    ]
    return "\n\n".join(parts) + "\n"


def readme(text: str) -> str:
    """README with its results written anew."""
    run = stored("densest")
    body = (
        "Dense subgraphs of real graphs (simple, undirected; density is `x'Wx / k`, the mean degree inside), each with "
        f"the bound that was proven beside it:\n\n{densities(run)}\n\n{source(run)} More in "
        "[docs/benchmarks](docs/benchmarks/index.md).\n"
    )
    return BLOCK.sub(lambda match: match[1] + body + match[2], text)


def main() -> None:
    """Write both."""
    publish(ROOT / "docs" / "benchmarks" / "core.md", page())
    path = ROOT / "README.md"
    path.write_text(readme(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
