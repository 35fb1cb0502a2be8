"""Write docs/benchmarks/robustness.md from the stored runs of the long checks.

python benchmarks/robustness_page.py
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from recording import ROOT, publish, stored
from render import origin, table

PAGE = ROOT / "docs" / "benchmarks" / "robustness.md"
_WORK = "how much a proof may take, or which is tried first; not what it proves"
_SEARCH = "a number of the search: other points are looked at, and none is wrong"
_NARROWER = "a part of the margin of rounding; the others cover what arithmetic did on every problem tried"
_SINCE = "has a test since"
EXPLAINED: dict[tuple[str, str, str], str] = {
    (
        "bounds/hypermetric.py",
        "np.bincount(cuts.products.indices, minlength=1).max(initial=0)",
        "np.bincount(cuts.products.indices, minlength=1).min(initial=0)",
    ): _NARROWER,
    ("bounds/hypermetric.py", "1.0", "2.0"): "a wider margin of rounding: still a bound, weaker by a last bit",
    ("bounds/hypermetric.py", "N * _EPS", "N / _EPS"): _SINCE + ", as the sign of this bound has",
    (
        "bounds/hypermetric.py",
        "-float(np.abs(M).sum(axis=1).max(initial=0.0))",
        "float(np.abs(M).sum(axis=1).max(initial=0.0))",
    ): _SINCE + ": where no factorisation succeeds",
    ("bounds/rows.py", "value < best", "value <= best"): _SINCE + ": all least points under rows",
    (
        "bounds/closing.py",
        "self.work if run.limits.time_limit is None else math.inf",
        "self.work if not run.limits.time_limit is None else math.inf",
    ): _WORK,
    ("bounds/closing.py", "self.left <= CLOSED", "self.left < CLOSED"): _WORK,
    ("bounds/closing.py", "self.parts is None", "self.parts is not None"): _WORK,
    (
        "bounds/closing.py",
        "max(1.0, objective.coefficients.size / max(1, self.problem.n))",
        "min(1.0, objective.coefficients.size / max(1, self.problem.n))",
    ): _WORK,
    ("bounds/hypermetric_tree.py", "N ** 3", "N * 3"): _WORK,
    ("bounds/hypermetric_tree.py", "3e-09 * N ** 3", "3e-09 / N ** 3"): _WORK,
    ("bounds/ascent.py", "taken >= evaluations", "taken > evaluations"): _WORK,
    (
        "bounds/odd_cycles.py",
        "max(int(self.highs.getInfo().ipm_iteration_count), 1)",
        "min(int(self.highs.getInfo().ipm_iteration_count), 1)",
    ): _WORK,
    (
        "bounds/odd_cycles.py",
        "np.zeros((3, states + 1), np.int64)",
        "np.ones((3, states + 1), np.int64)",
    ): "room to write in, which is read only where it has been written",
    ("bounds/rows.py", "self.wanted == 'best'", "self.wanted != 'best'"): _WORK,
    ("bounds/rows.py", "form.N <= 1000", "form.N < 1000"): _WORK,
    ("bounds/eigenvalues.py", "6", "7"): _WORK,
    ("bounds/enumeration.py", "1e+300", "1e+300"): "the same number",
    ("bounds/cycle_tree.py", "away.max(initial=0.0)", "away.min(initial=0.0)"): _WORK + ": another edge is split",
    ("model/feasibility.py", "128", "129"): _SEARCH,
    ("solvers/dpcd/momentum.py", "1.0", "2.0"): "the largest share that is taken: more than all is all",
    ("solvers/dpcd/budget.py", "0.0", "1.0"): _SEARCH,
    ("solvers/dpcd/budget.py", "max(cost, 1e-06)", "min(cost, 1e-06)"): _SEARCH,
    ("solvers/dpcd/nonmonotone.py", "1", "2"): _SEARCH,
    ("solvers/dpcd/nonmonotone.py", "0.0", "1.0"): _SEARCH,
    (
        "solvers/dpcd/nonmonotone.py",
        "2.0 * float(np.abs(d).max(initial=0.0)) + _TINY",
        "2.0 * float(np.abs(d).max(initial=0.0)) - _TINY",
    ): _SEARCH,
    ("solvers/dpcd/relaxation.py", "-1.0", "1.0"): _SEARCH,
    ("solvers/dpcd/schemes.py", "12 * rota.length < left", "12 * rota.length <= left"): _SEARCH,
    ("solvers/dpcd/walks.py", "at += change", "pass"): _SEARCH + ": when a walk is given up",
    ("solvers/dpcd/finish.py", "if flips.size:", "if not flips.size:"): _SEARCH,
}
"""(file, before, after) of a surviving mutant -> why no test can or should notice it."""


def kills(record: dict[str, Any]) -> str:
    """Runs ended by SIGKILL or SIGTERM and resumed."""
    rows = record["rows"]
    body = [
        [r.get("signal", "SIGKILL"), r["kind"], str(r["runs"]), str(r["kills"]), str(r["resumed"])]
        + [f"{r['same_answer']} of {r['runs']}"]
        for r in rows
    ]
    total = sum(r["runs"] for r in rows)
    return (
        f"## Killed and resumed\n\n{total} runs in processes of their own, each ended by a signal up to three times at "
        "random moments (also before the first checkpoint) and started again with the same checkpoint file until it "
        "comes to its end; then its point is compared with that of a run nobody ended. Runs that SIGKILL ends write a "
        "checkpoint every hundredth of a second; those that SIGTERM ends leave one when it comes, and no other.\n\n"
        + table(["signal", "run", "runs", "ended", "resumed from a file", "same point"], body)
        + f"\n{origin(record)}"
    )


def interrupts(record: dict[str, Any]) -> str:
    """Signals at random moments of every function."""
    rows = record["rows"]
    body = [
        [r["function"], r["signal"], str(r["moments"]), str(r["best_so_far"]), str(r["clean"]), str(r["faults"])]
        + [f"{r['slowest_answer_seconds']:.2f}"]
        for r in rows
    ]
    moments, faults = sum(r["moments"] for r in rows), sum(r["faults"] for r in rows)
    return (
        f"## Signals\n\n{moments:,} signals at random moments of {len({r['function'] for r in rows})} functions and "
        f"commands, their proofs included: {faults} faults. A fault is an answer that is lost, wrong or late, a hang, "
        "a file that is missing or damaged, or a handler or a thread that is not put back. Otherwise the best answer "
        "so far comes back, or, before there is one, a clean interrupt. Seconds are those that the process itself took "
        "from the signal to its end, without those in which a busy machine let it wait.\n\n"
        + table(["function", "signal", "moments", "best so far", "clean", "faults", "slowest (s)"], body)
        + f"\n{origin(record)}"
    )


def cluster(record: dict[str, Any]) -> str:
    """Workers, schedulers and shards that fail."""
    body = [
        [r["fault"], str(sum(r["outcomes"].values())), ", ".join(f"{n} x {what}" for what, n in r["outcomes"].items())]
        for r in record["rows"]
    ]
    return (
        "## A failing cluster\n\nCalls of `densest_subgraph` on shards whose workers, scheduler or files fail at "
        "random moments: the nodes, value and bound of one process, or an error that says what is wrong.\n\n"
        + table(["fault", "times", "outcome"], body)
        + f"\n{origin(record)}"
    )


def soak(record: dict[str, Any]) -> str:
    """Mixed problems from several threads."""
    row = record["rows"][0]
    body = [[name, f"{count:,}"] for name, count in sorted(row["jobs"].items())]
    return (
        f"## Soak\n\n{row['minutes']:g} minutes of mixed problems from {row['threads']} threads at once: "
        f"{sum(row['jobs'].values()):,} jobs, {len(row['wrong'])} answers that differ from those of a single thread. "
        f"After warm-up (the first fifth) resident memory rose by {row['slope_mb_per_minute']:g} MB a minute (the line "
        f"through all readings; allowed: {row['most_allowed']:g}), to {row['peak_mb']:g} MB at most.\n\n"
        + table(["kind", "jobs"], body)
        + f"\n{origin(record)}"
    )


def fuzz(record: dict[str, Any]) -> str:
    """Hostile files."""
    rows = sorted(record["rows"], key=lambda r: str(r["reader"]))
    body = [
        [
            r["reader"],
            f"{r['seconds']:g}",
            f"{r['processor_seconds']:,}" if "processor_seconds" in r else "-",
            f"{r['inputs']:,}",
            f"{r['accepted']:,}",
            "survived" if r["exit_code"] == 0 else f"exit code {r['exit_code']}",
        ]
        for r in rows
    ]
    bad = sum(r["exit_code"] != 0 for r in rows)
    return (
        f"## Hostile files\n\n{len(rows)} readers, each in a process with 1 GiB of address space to spare and 5 "
        "seconds for a file, given mutations of valid files (`tests/fuzz`). A reader may answer with a result or an "
        f"error of this library; anything else ends its process: {bad} did.\n\n"
        + table(["reader", "seconds", "of a processor", "files", "accepted", "outcome"], body)
        + f"\n{origin(record)}"
    )


def mutation(record: dict[str, Any]) -> str:
    """Faults put into the code, noticed or not."""
    rows = record["rows"]
    rooms: Counter[tuple[str, str]] = Counter((_room(r["file"]), r["outcome"]) for r in rows)
    names = sorted({room for room, _ in rooms})
    body = [[f"`{room}`", str(rooms[room, "caught"]), str(rooms[room, "survived"])] for room in names]
    survived = [r for r in rows if r["outcome"] == "survived"]
    listed = [
        [
            f"`{r['file'].removeprefix('src/flipwise/')}`:{r['line']}",
            f"`{_cell(r['before'])}`",
            f"`{_cell(r['after'])}`",
            EXPLAINED.get(_key(r), "not explained: a gap in the tests"),
        ]
        for r in survived
    ]
    caught = len(rows) - len(survived)
    return (
        f"## Mutants\n\n{len(rows)} of the {record['mutants']:,} faults that `benchmarks/mutation.py` can put into "
        f"{', '.join(f'`{name}`' for name in names)}, drawn with a fixed seed: {caught} "
        f"({100 * caught / len(rows):.0f} %) make a test of their room fail.\n\n"
        + table(["room", "caught", "survived"], body)
        + ("\nSurvivors:\n\n" + table(["place", "before", "after", "why"], listed) if listed else "")
        + f"\n{origin(record)}"
    )


def _room(file: str) -> str:
    """A folder of the library, or of the model the module; a solver's own folder."""
    first, *rest = file.removeprefix("src/flipwise/").removesuffix(".py").split("/")
    return f"{first}/{rest[0]}" if first in ("model", "solvers") else first


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["file"].removeprefix("src/flipwise/"), row["before"], row["after"]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page() -> str:
    """The whole page."""
    parts = [
        "# Robustness: stored runs\n\nGenerated by `benchmarks/robustness_page.py` from the long checks, which run on "
        "demand; shorter versions of most of them are part of every run of the tests. Faults of the disk "
        "(full, read-only, interrupted, short writes, two writers) are injected in `tests/engine`.\n"
    ]
    sections = {"interrupts": interrupts, "kills": kills, "cluster": cluster, "soak": soak, "fuzz": fuzz}
    for check, write in (sections | {"mutation": mutation}).items():
        record = stored(f"robustness-{check}")
        if record is not None:
            parts.append(write(record))
    return "\n".join(parts)


if __name__ == "__main__":
    publish(PAGE, page())
