"""The commands that `interrupts.py` interrupts, each in a folder of its own, sized to take about half a second."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from interrupt_functions import FUNCTIONS, Case, Watch, cut_weight, difference, files_here, random_edges, random_matrix


def _command(
    line: str, n: int, degree: float, wrong: Callable[[dict[str, Any], list[list[str]], Any], str | None]
) -> Any:
    """A command in the folder of the worker; it writes `answer.txt` and one JSON object."""

    def build() -> Case:
        import flipwise
        from flipwise.cli import app, exits  # noqa: F401  so that forked processes have them

        edges = random_edges(n, degree)
        Path("graph.txt").write_text("".join(f"{i} {j}\n" for i, j in edges))
        np.save("vectors.npy", np.random.default_rng(0).standard_normal((n, 32)))
        Q = np.triu(random_matrix(n)) if "model" in line else None
        if Q is not None:
            flipwise.write_model(flipwise.QuadraticModel.from_qubo(Q), "model.qubo")
        known = {*files_here(), "answer.txt", "stdout", "stderr"}

        def call(watch: Watch, threads: int | None) -> Any:
            more = [] if threads is None else ["--threads", str(threads)]
            return exits.program([*line.split(), *more, "-o", "answer.txt", "--json", "-v"])

        def checked(code: Any) -> str | None:
            stray = files_here() - known
            if stray:
                return f"left {sorted(stray)}"
            try:
                record = json.loads(Path("stdout").read_text())
                if "hash" in line:
                    return wrong(record, [], None)
                rows = [row.split("\t") for row in Path("answer.txt").read_text().splitlines()]
                return wrong(record, rows, edges if Q is None else Q)
            except (OSError, ValueError, LookupError) as error:
                return f"exit code {code}, but {type(error).__name__}: {error}"

        return Case(call, checked, is_command=True)

    return build


def _wrong_parts(record: dict[str, Any], rows: list[list[str]], edges: Any) -> str | None:
    parts = [0] * len(rows)
    for name, part in rows:
        parts[int(name)] = int(part)
    if len(rows) != record["nodes"] or [int(part) for _, part in rows] != record["parts"]:
        return "file and answer differ"
    return difference(record["cut"], cut_weight(edges, parts))


def _wrong_nodes(record: dict[str, Any], rows: list[list[str]], edges: Any) -> str | None:
    (result,) = record["results"]
    nodes = [int(name) for (name,) in rows]
    if nodes != result["nodes"] or len(nodes) != result["k"]:
        return "file and answer differ"
    return difference(result["density"], 2.0 * np.isin(edges, nodes).all(axis=1).sum() / len(nodes))


def _wrong_values(record: dict[str, Any], rows: list[list[str]], Q: Any) -> str | None:
    x = np.array([int(value) for _, value in rows])
    if x.tolist() != record["x"]:
        return "file and answer differ"
    return difference(record["value"], float(x @ Q @ x))


def _wrong_model(record: dict[str, Any], rows: list[list[str]], nothing: Any) -> str | None:
    from flipwise import hashing

    fitted = hashing.load("answer.txt")
    return None if fitted.n_bits == record["bits"] and len(fitted.codes_) == record["items"] else "another model"


COMMANDS: dict[str, Callable[[], Case]] = {
    "flipwise maxcut": _command("maxcut graph.txt --bound sdp --time-limit 0.5", 400, 8.0, _wrong_parts),
    "flipwise hash fit": _command("hash fit vectors.npy --bits 32", 4000, 2.0, _wrong_model),
    "flipwise subgraph": _command("subgraph graph.txt -k 20 --time-limit 1", 2000, 10.0, _wrong_nodes),
    "flipwise bisect": _command("bisect graph.txt --bound sdp --time-limit 1", 200, 5.0, _wrong_parts),
    "flipwise qubo": _command("qubo model.qubo --bound sdp --time-limit 0.5", 200, 5.0, _wrong_values),
}
CASES = {**FUNCTIONS, **COMMANDS}
"""All calls that are interrupted."""
