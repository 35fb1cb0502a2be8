"""Write docs/benchmarks/distributed.md from the stored runs: what was measured, and what that means at internet scale.

python benchmarks/distributed_page.py
"""

from __future__ import annotations

from typing import Any

from recording import ROOT, publish, stored
from render import origin, table

PAGE = ROOT / "docs" / "benchmarks" / "distributed.md"
NODES_PER_ARC = 0.01
"""Nodes that are assumed for each arc."""


def of_kind(record: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The rows of one kind."""
    return [row for row in record["rows"] if row.get("kind") == kind]


def graphs(record: dict[str, Any]) -> str:
    """What was measured on graphs."""
    body = [
        [
            row["graph"], f"{row['arcs']:,}", f"{row['density']:.4f}", f"{row['bound']:.4f}",
            f"{row['bytes'] / 1e6:.2f}",
        ]
        for row in of_kind(record, "same")
    ]  # fmt: skip
    text = (
        "## Dense subgraphs on two worker processes\n\nThe same seed in one process and on shards; nodes and bound are "
        "compared bit for bit, and the driver stops when they differ. MB sent are all messages of the run, the core "
        "that is fetched among them.\n\n" + table(["graph", "arcs", "density", "bound", "MB sent"], body)
    )
    for row in of_kind(record, "kills"):
        text += (
            f"\nOn {row['graph']} a worker was killed (SIGKILL) {row['kills']} times at random in {row['runs']} "
            f"runs in a row: every run had the nodes and the bound of an undisturbed one; {row['sets_rebuilt']} times "
            "workers were told a set again.\n"
        )
    for row in of_kind(record, "flips"):
        made = sum(each["flips"] for each in row["iterations"])
        total = sum(each["bytes"] for each in row["iterations"])
        text += (
            f"\nDPCD on all shards of {row['graph']}, {row['workers']} workers: {len(row['iterations'])} iterations, "
            f"{made:,} flips, {total:,} bytes of messages. A flip costs {row['bytes_per_flip']:.1f} bytes (the slope "
            f"over iterations), and 64 bytes for each flip with {row['constant']:,.0f} bytes for each worker cover "
            "every iteration with all its questions. With headers, heartbeats and all else that Dask sends the "
            f"loopback device carried {row['loopback']:,} bytes.\n"
        )
    return text + "\n" + origin(record)


def by_workers(plain: str, times: list[tuple[str, float, float, float]], digits: int) -> str:
    """A table of (what, seconds without Dask, on one worker, on two)."""
    body = [
        [what, *(f"{seconds:.{digits}f}" for seconds in (alone, one)), f"{100 * (one / alone - 1):+.0f} %"]
        + [f"{two:.{digits}f}", f"{one / two:.2f}"]
        for what, alone, one, two in times
    ]
    return table(
        ["", f"{plain}, one thread, s", "1 worker, s", "overhead", "2 workers, s", "1 worker / 2 workers"], body
    )


def scaling(record: dict[str, Any]) -> str:
    """Times on one and two workers."""
    (row,) = record["rows"]
    times = [(what, row[f"{what}_plain"], row[f"{what}_1"], row[f"{what}_2"]) for what in ("gradient", "solve")]
    return (
        f"### From one worker to two\n\n{row['graph']}, one whole-graph gradient and one solve (effort 0), workers of "
        "one thread:\n\n" + by_workers("plain function", times, 3) + "\n" + origin(record)
    )


def hashing(record: dict[str, Any]) -> str:
    """What was measured on rows."""
    (row,) = record["rows"]
    return (
        f"## Hashing on two worker processes\n\n{row['rows']:,} rows of {row['features']} features in Parquet, "
        f"{row['bits']} bits, workers limited to {row['limit']}: learned and hashed codes of SDH and ITQ differ from "
        f"those of the fit in memory in {row['SDH_differing_bytes'] + row['ITQ_differing_bytes']} bytes. The largest "
        f"worker took {row['peak_bytes_2'] / 1e6:,.0f} MB; {row['restarts_2']} were restarted.\n\n" + origin(record)
    )


def hashing_scaling(record: dict[str, Any]) -> str:
    """Times on one and two workers."""
    (row,) = record["rows"]
    times = [(name, row[name]["plain"], row[name]["seconds_1"], row[name]["seconds_2"]) for name in ("SDH", "ITQ")]
    return (
        f"### {row['rows']:,} rows, from one worker to two\n\n"
        + by_workers("in memory", times, 1)
        + "\n"
        + origin(record)
    )


def out_of_core(record: dict[str, Any]) -> str:
    """What was measured with little memory."""
    (row,) = record["rows"]
    return (
        f"## Larger than memory\n\n{row['arcs']:,} arcs in a memory-mapped file of {row['bytes'] / 1e6:,.0f} MB, "
        f"solved in a control group of {row['limit'] / 1e6:,.0f} MB, {row['bytes'] / row['limit']:.1f} times less: "
        f"{row['tight']['seconds']:.2f} s, without the limit {row['free']['seconds']:.2f} s, so {row['slowdown']:.2f} "
        "times slower, reading and checking the file included; the same nodes and bound. Both began with nothing of "
        "the file in the page cache.\n\n" + origin(record)
    )


def at_scale(record: dict[str, Any]) -> str:
    """The arithmetic for graphs that were not run."""
    (row,) = record["rows"]
    arc, questions, question = row["gradient_1"] / row["arcs"], row["questions"], row["question"]
    search = row["solve_2"] - row["asking"]
    body = []
    for arcs, workers in ((1e10, 16), (1e10, 128), (1e12, 256), (1e12, 4096)):
        nodes, width = arcs * NODES_PER_ARC, 4 if arcs * NODES_PER_ARC < 2**31 else 8
        scan, overhead = questions * arcs * arc / workers, questions * question
        body.append(
            [
                f"10^{len(str(int(arcs))) - 1}", f"{workers:,}", f"{(width * arcs + 16 * nodes) / 1e12:.2f}",
                f"{width * arcs / workers / 1e9:,.1f}", f"{nodes / 1e9:.2g}", f"{16 * nodes / 1e9:.2g}",
                f"{scan:,.0f}", f"{overhead:.1f}", f"{scan + overhead + search:,.0f}",
            ]
        )  # fmt: skip
    header = [
        "arcs", "worker threads", "storage, TB", "arcs a worker, GB", "mask a worker, GB", "here, GB", "scans, s",
        "messages, s", "together, s",
    ]  # fmt: skip
    return (
        "## What it costs at internet scale\n\nNot run, but computed from the rows above:\n\n"
        f"- one scan of an arc: {row['gradient_1']:.3f} s / {row['arcs']:,} arcs = {1e9 * arc:.2f} ns on one "
        "thread;\n"
        f"- one question to all workers: {1e3 * question:.0f} ms, the mean of an iteration of DPCD on {row['graph']};\n"
        f"- questions in one solve: {questions} (on {row['graph']}), each counted as a full scan;\n"
        f"- the search in the core, in one process, at effort 0: {search:.1f} s, which depends on k, not on arcs;\n"
        f"- a node for each {1 / NODES_PER_ARC:.0f} arcs; 4 bytes an arc, 8 from 2^31 nodes on, and 16 bytes a node "
        "for row starts and degrees; every worker keeps a mask of one byte a node, here two arrays of 8 bytes.\n\n"
        "scans = questions x arcs x ns / worker threads, together = scans + messages + search. Arcs that do not fit "
        "into a worker's memory come from its disk (see *Larger than memory*).\n\n"
        + table(header, body)
        + "\nThe masks and this process grow with the number of nodes: at 10^12 arcs workers of 16 GB and a machine of "
        "200 GB for this process are the least. Reading Parquet into shards is one more pass over the data.\n"
    )


def rows_at_scale(record: dict[str, Any]) -> str:
    """The arithmetic for rows that were not run."""
    (row,) = record["rows"]
    body = []
    for name in ("SDH", "ITQ"):
        each = row[name]["seconds_1"] / row["rows"]
        body += [
            [name, f"{workers:,}", f"{1e6 * each:.2f}", f"{1e9 * each / workers / 60:,.1f}"] for workers in (64, 1024)
        ]
    return (
        f"For 10^9 rows of {row['features']} features ({row['features'] * 4e9 / 1e12:.2f} TB in float32; codes of "
        f"{row['bits']} bits: {row['bits'] / 8:.0f} GB), with the time of one worker thread for a row and the sums, a "
        "few hundred kB, added up in a tree:\n\n" + table(["", "worker threads", "microseconds a row", "minutes"], body)
    )


def main() -> None:
    text = "# Clusters, and graphs larger than memory\n\n"
    for name, section in (
        ("distributed_graphs", graphs), ("distributed_scaling", scaling), ("distributed_hashing", hashing),
        ("distributed_hashing_scaling", hashing_scaling), ("out_of_core", out_of_core),
        ("distributed_scaling", at_scale), ("distributed_hashing_scaling", rows_at_scale),
    ):  # fmt: skip
        record = stored(name)
        if record is not None:
            text += section(record) + "\n"
    publish(PAGE, text)


if __name__ == "__main__":
    main()
