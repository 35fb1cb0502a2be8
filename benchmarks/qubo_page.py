"""The page of the QUBO and cut benchmarks from their stored rows; no figure is typed by hand.

python benchmarks/qubo_page.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from published import DSB_MACHINE, DSB_MILLISECONDS
from qubo_peers import RIVALS
from recording import stored
from render import table, write_page

Record = dict[str, Any]


def number(value: float | None) -> str:
    """Integers as such, others with a few digits, a dash for none."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"


def peers(record: Record) -> str:
    """Values of all solvers for each instance and limit."""
    rows = record["rows"]
    solvers = [name for name in RIVALS if any({"value", "late"} & set(row.get(name, {})) for row in rows)]
    body, level, compared, worst = [], 0, 0, 0.0
    latest = stored("gset")  # records are corrected: the latest run knows best
    best = {row["instance"]: row["best_known"] for row in (latest["rows"] if latest else [])}
    for row in rows:
        own = row["flipwise"]["value"]
        values = [row.get(name, {}).get("value") for name in solvers]
        in_time = [value for value in values if value is not None]
        if in_time:
            compared += 1
            level += own >= max(in_time)
            worst = max(worst, (max(in_time) - own) / abs(max(in_time)))
        body.append(
            [row["instance"], f"{row['limit']:g}", number(best.get(row["instance"], row["best_known"])), number(own)]
            + [_cell(row.get(name, {})) for name in solvers]
        )
    cores = " or ".join(sorted({str(row["cores"]) for row in rows}))
    absent = {k: v["skipped"] for row in rows for k, v in row.items() if isinstance(v, dict) and "skipped" in v}
    notes = "".join(f"- `{name}` is left out where: {reason}\n" for name, reason in absent.items())
    again = {(row["limit"], row["flipwise"]["commit"]) for row in rows if "commit" in row["flipwise"]}
    later = "".join(
        f" The values of flipwise at {limit:g} s are of commit {commit}, by the processor's clock, beside those that "
        "the rivals had reached before."
        for limit, commit in sorted(again)
    )
    return (
        "## Against other samplers\n\n"
        f"At least as good as the best rival in {level} of {compared} pairs of instance and limit; furthest behind: "
        f"{100 * worst:.3f} %. (In {len(rows) - compared} more every rival was late.) Every solver has {cores} of the "
        "machine's cores. Values are maximised (cut, or minus "
        "the energy); in brackets the seconds a rival really took. Single-threaded rivals run once on every core they "
        "have, the best counts; an answer that comes after one and a half times the limit is marked late and not "
        f"compared.{later}\n\n"
        + table(["instance", "limit (s)", "best known", "flipwise", *solvers], body)
        + f"\n{notes}\n"
        + times_to_target(rows)
    )


def times_to_target(rows: list[Record]) -> str:
    """Where runs with several seeds were made: how soon the best-known value is met with a probability of 99 %."""
    rows = [row for row in rows if "tts99" in row["flipwise"]]
    if not rows:
        return ""
    solvers = ["flipwise", *(name for name in RIVALS if any("tts99" in row.get(name, {}) for row in rows))]
    body = [
        [row["instance"], f"{row['limit']:g}", number(row["best_known"])]
        + [_time_to_target(row.get(name, {})) for name in solvers]
        for row in rows
    ]
    return (
        "### Time to target\n\nSeconds of runs, each as long as the limit, after which the best-known value has been "
        "met with a probability of 99 %, and in brackets the share of ten runs that met it; where all did, the "
        "longest.\n\n" + table(["instance", "limit (s)", "best known", *solvers], body) + "\n"
    )


def _time_to_target(found: Record) -> str:
    if "tts99" not in found:
        return "-"
    seconds = "never" if found["tts99"] is None else f"{found['tts99']:,.3g} s"
    return f"{seconds} ({found['success']:.0%})"


def _cell(found: Record) -> str:
    if "value" in found:
        return f"{number(found['value'])} ({found['seconds']:.1f} s)"
    return f"late: {number(found['late'])} ({found['seconds']:.1f} s)" if "late" in found else "-"


def known(record: Record) -> str:
    """Gaps to best-known values, what is proven, and what a machine built for it needs."""
    rows = record["rows"]
    small = [row for row in rows if row["n"] <= 1000 and row["behind"] is not None]
    reached = sum(row["behind"] <= 0 for row in small)
    proofs = stored("proofs", lambda row: row["gap"] == 0.0 and re.fullmatch(r"G\d+", row["family"]) is not None)
    optima = {row["family"]: row for row in (proofs["rows"] if proofs else [])}
    body = [
        [row["instance"], number(row["n"]), f"{row['limit']:g}"]
        + [number(row[key]) for key in ("best_known", "value", "behind")]
        + ["-" if row["behind_percent"] is None else f"{row['behind_percent']:.4f}", f"{row['found_after']:.2f}"]
        + [_proven(row, optima.get(row["instance"])), _machine(row["instance"])]
        for row in rows
    ]
    large = [row for row in rows if row["n"] > 1000 and row["instance"].startswith("G")]
    means = []
    for limit in sorted({row["limit"] for row in large}):
        behind = [row["behind_percent"] for row in large if row["limit"] == limit]
        means.append(f"{sum(behind) / len(behind):.3f} % after {limit:g} s ({len(behind)} instances)")
    head = [
        "instance",
        "n",
        "limit (s)",
        "best known",
        "found",
        "behind",
        "behind (%)",
        "found after (s)",
        "proven optimal after (s)",
    ]
    return (
        f"## Best-known values\n\n{reached} of {len(small)} instances with n <= 1000 at their best-known value within "
        f"60 s; those of Gset with more are behind by {' and '.join(means)} on the mean. A run "
        "ends when it reaches the best-known value: one run, one seed, one core. Proofs are ours, in processor "
        "seconds, of [the page of proofs](proofs.md); a dash there: not proven, or not tried. The last column is "
        f"published, not measured here: [a machine]({DSB_MACHINE}) for discrete simulated bifurcation, an FPGA set up "
        "for each instance, and the seconds after which it has met "
        "the best-known cut with a probability of 99 %.\n\n" + table([*head, "FPGA (s)"], body) + "\n"
    )


def _proven(row: Record, proof: Record | None) -> str:
    """The seconds of a proof of the best-known value."""
    return f"{proof['processor_seconds']:.0f}" if proof and proof["value"] == row["best_known"] else "-"


def _machine(instance: str) -> str:
    """Published seconds of special hardware."""
    if instance not in DSB_MILLISECONDS:
        return "-"
    seconds = DSB_MILLISECONDS[instance] / 1000
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"


def bisection(record: Record) -> str:
    """Cuts of exact halves."""
    body, within, better = [], 0, 0
    for row in record["rows"]:
        best = min(row[who]["cut"] for who in ("metis", "kahip") if row[who].get("cut") is not None)
        within += row["flipwise"]["cut"] <= 1.01 * best
        better += row["flipwise"]["cut"] < best
        own, metis, kahip = row["flipwise"], row["metis"], row["kahip"]
        body.append(
            [
                row["graph"],
                number(row["n"]),
                number(row["best_known"]),
                f"{number(own['cut'])} ({own['found_after']} s)",
            ]
            + [f"{number(metis.get('cut'))} ({metis.get('seconds', '-')} s)"]
            + [f"{number(kahip.get('cut'))} ({kahip.get('seconds', '-')} s, {kahip.get('seeds', '-')} seeds)"]
        )
    head = ["graph", "n", "best known", "flipwise (found after)", "METIS, best of 20 seeds", "KaHIP strong"]
    return (
        f"## Bisection into exact halves\n\nAt most 1 % above the better of METIS and KaHIP on {within} of {len(body)} "
        f"graphs, below both on {better}; processor seconds, a limit of {_limits(record)} for flipwise and for KaHIP, "
        "METIS with 20 seeds.\n\n" + table(head, body) + "\n"
    )


def _limits(record: Record) -> str:
    return " or ".join(
        f"{limit:g} s" for limit in sorted({row.get("limit", 10.0) for row in record["rows"]}, reverse=True)
    )


def penalties(record: Record) -> str:
    """An exact count against penalties."""
    body = [
        [row["solver"], number(row["penalty"]), row["feasible"], number(row["density"])]
        + [
            number(row.get("density_after_repair")),
            f"{row['seconds']:.2f}",
            number(row["couplings"]),
            number(row["extra_mb"]),
        ]
        for row in record["rows"]
    ]
    head = ["solver", "penalty", "feasible samples", "density", "after repair", "seconds", "couplings", "memory (MB)"]
    return "## An exact count against penalties\n\n" + table(head, body) + "\n"


def structured(record: Record) -> str:
    """Independent sets beside four GPUs, and weights of many scales."""
    rows = [row for row in record["rows"] if row["family"] == "independent"]
    reached = sum(row["value"] >= row["best_known"] for row in rows)
    wide = [row for row in record["rows"] if row["family"] == "scales"]
    above = sum(row["value"] >= row["best_known"] for row in wide)
    head = ["instance", "n", "couplings", "best known", "found", "processor seconds"]
    return (
        "## Structure that single flips do not see\n\n"
        f"Maximum independent sets of the Quantum Optimization Benchmarking Library as QUBOs: the best-known size on "
        f"{reached} of {len(rows)}, one core, one seed, up to {rows[0]['limit']:g} s; a run ends where it reaches it. "
        "Sizes that others have proven are marked. The last column is what was submitted to the library "
        "for the program ABS2 on four A40 GPUs with two hours.\n\n"
        + table(
            [*head, "four GPUs"],
            [[*_structured_row(row), number(row["four_gpus"])] for row in rows],
        )
        + f"\nMax-Cut with weights of many scales that no single heuristic of MQLib solves: {above} of {len(wide)} at "
        f"or above the largest cut known to us, in {wide[0]['limit']:g} s.\n\n"
        + table(head, [_structured_row(row) for row in wide])
        + "\n"
    )


def _structured_row(row: Record) -> list[str]:
    shown = [number(row[key]) for key in ("n", "couplings", "best_known", "value")]
    shown[2] += " (proven)" if row.get("proven") else ""
    return [row["instance"], *shown, f"{row['cpu_seconds']:.2f}"]


def reads(record: Record) -> str:
    """The sampler and D-Wave's annealer at an equal number of reads."""
    rows = record["rows"]
    ratios = [row["ours"]["seconds"] / row["annealer"]["seconds"] for row in rows]
    better = sum(row["ours"]["mean"] <= row["annealer"]["mean"] for row in rows)
    body = [
        [row["instance"], str(row["reads"]), f"{ratio:.2f}"]
        + [f"{row[who]['mean']:,.1f}" for who in ("ours", "annealer")]
        + [number(row[who][key]) for key in ("best", "distinct") for who in ("ours", "annealer")]
        for row, ratio in zip(rows, ratios, strict=True)
    ]
    head = ["instance", "reads", "processor time", "mean energy", "SA's", "best", "SA's", "distinct", "SA's"]
    return (
        "## Reads of the sampler\n\n"
        "`FlipwiseSampler` and D-Wave's `SimulatedAnnealingSampler` with nothing but `num_reads`, one core; the third "
        f"column is ours as a multiple of the annealer's processor time, at most {max(ratios):.2f}. The mean energy is "
        f"at least as low in {better} of {len(rows)} rows. Where every read is the optimum, one is distinct.\n\n"
        + table(head, body)
        + "\n"
    )


def plain(title: str) -> Callable[[Record], str]:
    """A page section that shows the keys and values of every row."""

    def section(record: Record) -> str:
        text = f"## {title}\n\n"
        for row in record["rows"]:
            shown = [
                [k, number(v) if isinstance(v, int | float) else str(v)]
                for k, v in row.items()
                if not isinstance(v, list)
            ]
            text += table(["quantity", "value"], shown) + "\n"
        return text

    return section


def bounds(record: Record) -> str:
    """Upper bounds of Max-Cut."""
    body = [
        [
            row["instance"],
            number(row["n"]),
            number(row["best_known"]),
            f"{row['sdp_bound']:.2f}",
            f"{row['sdp_primal']:.2f}",
        ]
        + [f"{row['above_sdp_percent']:.4f}", f"{row['above_best_percent']:.2f}", f"{row['seconds']:.1f}"]
        for row in record["rows"]
    ]
    wrong = sum(row["below_best_known"] for row in record["rows"])
    head = ["instance", "n", "best known", "proven bound", "primal", "above primal (%)", "above best (%)", "seconds"]
    return (
        f"## Max-Cut bounds\n\n{wrong} bounds below a best-known value (it must be 0).\n\n" + table(head, body) + "\n"
    )


SECTIONS: dict[str, Callable[[Record], str]] = {
    "qubo_peers": peers,
    "gset": known,
    "structured": structured,
    "sampler_reads": reads,
    "bisection": bisection,
    "penalties": penalties,
    "qubo_scale": plain("A million variables"),
    "dimod_conversion": plain("Conversion of a BQM"),
    "maxcut_bounds": bounds,
}


def main() -> None:
    """Write the page from the files that exist."""
    write_page("qubo", "QUBO, Max-Cut and bisection", SECTIONS)


if __name__ == "__main__":
    main()
