"""Write docs/benchmarks/robustness.md from the stored runs of the long checks.

python benchmarks/robustness_page.py
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from recording import ROOT, publish, stored
from render import origin, table

PAGE = ROOT / "docs" / "benchmarks" / "robustness.md"
_SIGNS = "entries of x are -1 and +1, never 0"
_SHAPE = "to NumPy reshape(-2) is reshape(-1)"
_STRICT = "a strict zip of lists that are always equally long"
_WIDER = "a wider margin of rounding: still a bound, by a last bit weaker"
_NARROWER = "a part of the margin of rounding; the others cover what arithmetic did on every problem tried"
EXPLAINED: dict[tuple[str, str, str], str] = {
    ("dpcd/algorithm.py", "x > 0", "x >= 0"): _SIGNS,
    ("dpcd/algorithm.py", "x < 0", "x <= 0"): _SIGNS,
    ("dpcd/algorithm.py", "0", "1"): "x < 1 is x < 0: " + _SIGNS,
    (
        "dpcd/neighbourhood.py",
        "best_change > -1e-12 * float(np.abs(g.reshape(-1)[best]).sum())",
        "best_change >= -1e-12 * float(np.abs(g.reshape(-1)[best]).sum())",
    ): "differs only for a change that equals the limit of rounding to the last bit",
    ("dpcd/neighbourhood.py", "1", "2"): _SHAPE + "; one group more is an empty one, which is left out",
    ("dpcd/neighbourhood.py", "-1", "1"): "a larger initial adds at most an empty group, which is left out",
    ("dpcd/neighbourhood.py", "flat > 0", "flat >= 0"): _SIGNS,
    ("dpcd/neighbourhood.py", "flat < 0", "flat <= 0"): _SIGNS,
    ("dpcd/neighbourhood.py", "0", "1"): "flat < 1 is flat < 0: " + _SIGNS,
    ("dpcd/tuning.py", "1", "2"): "the default number of threads, on which the outcome does not depend",
    ("dpcd/tuning.py", "31", "32"): "the range from which seeds are drawn; any will do",
    ("dpcd/tuning.py", "True", "False"): _STRICT,
    (
        "dpcd/updates.py",
        "x.reshape(-1)[moves.reshape(-1)] *= -1.0",
        "x.reshape(-1)[moves.reshape(-1)] /= -1.0",
    ): "dividing by -1 is multiplying by -1",
    ("dpcd/updates.py", "1", "2"): _SHAPE,
    ("constraints/counts.py", "True", "False"): _STRICT,
    (
        "certify/spectral_quadratic.py",
        "float(np.abs(u).sum()) + form.N * abs(least)",
        "float(np.abs(u).sum()) - form.N * abs(least)",
    ): _NARROWER,
    ("certify/eigenvalues.py", "np.abs(y).max(initial=0.0)", "np.abs(y).min(initial=0.0)"): _NARROWER,
    ("certify/loads.py", "2.0", "3.0"): _WIDER,
    ("certify/linearised.py", "16.0", "17.0"): _WIDER,
    ("certify/linearised.py", "1", "2"): "a group more has no member and asks for a sum of 0, which is what it has",
    ("certify/linearised.py", "0", "1"): "where there are no inequalities, an empty right side says the same as none",
    ("certify/eigenvalues.py", "True", "False"): "another ordering, which changes the width of a band, not the proof",
    ("certify/eigenvalues.py", "1", "2"): "a flag of LAPACK: anything but 0 is yes",
    ("certify/persistency.py", "a < 0", "a <= 0"): "adds zeros to a sum",
    ("certify/choice.py", "30.0", "31.0"): "seconds for a bound where no limit is given",
    ("certify/pairs.py", "0", "1"): "gives up one proof sooner after progress: patience, not proof",
    ("constraints/counts.py", "1", "2"): _SHAPE + "; a partition at r - 2 and r leaves one entry between them",
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
