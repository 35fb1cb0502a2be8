"""Write docs/benchmarks/differentiable.md from stored runs: python benchmarks/differentiable_page.py"""

from __future__ import annotations

import json
import statistics
from typing import Any

from recording import RESULTS, ROOT

HEAD = """# Differentiable functions

The least value met, mean over seeds, at equal processor time on one core; the best of a row is bold, a dash: not run.
`flipwise` is `minimize` with nothing but a time limit; the rivals are written after their publications.

How far these figures can be trusted:

- Few seeds, on a heavily loaded machine, which makes every evaluation slower; small differences mean nothing.
- The schemes' settings were chosen while looking at these functions, above all the two-layer network and the mask, with
  some of the same seeds; none was kept aside. The rivals have one setting each, not tuned to a function.
- The first table is one run with the schemes as they were then; it was stopped before its last functions. The second
  has `flipwise` alone after they were changed because of the first, on a machine that was less busy, where a second of
  processor time holds more evaluations. Its figures cannot be set against the rivals' of the first table.
"""
TABLES = (
    ("All methods, one run", "differentiable"),
    ("The same functions, schemes changed", "differentiable_later"),
    ("Digits network, between the two", "differentiable_decisive"),
)


def table(record: dict[str, Any]) -> list[str]:
    """One table, and the command behind it."""
    rows = record["rows"]
    rivals = list(dict.fromkeys(row["rival"] for row in rows))
    lines = ["| function | s | seeds | " + " | ".join(rivals) + " |", "| --- |" + " --- |" * (len(rivals) + 2)]
    for name, seconds in dict.fromkeys((row["function"], row["seconds"]) for row in rows):
        mine = [row for row in rows if (row["function"], row["seconds"]) == (name, seconds)]
        values = {rival: [row["value"] for row in mine if row["rival"] == rival] for rival in rivals}
        means = {rival: statistics.mean(some) for rival, some in values.items() if some}
        least = min(means.values()) if len(means) > 1 else None
        cells = [
            "-" if r not in means else f"**{means[r]:.4g}**" if means[r] == least else f"{means[r]:.4g}" for r in rivals
        ]
        lines.append(
            f"| {mine[0]['title']} | {seconds:g} | {len({r['seed'] for r in mine})} | " + " | ".join(cells) + " |"
        )
    return [
        *lines,
        "",
        f"`{record['command']}`, commit {record['commit']}, load {record['machine']['load_at_start']}.",
        "",
    ]


def main() -> None:
    """Write the page."""
    lines = [HEAD]
    for title, name in TABLES:
        record = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        lines += [f"## {title}", "", *table(record)]
    (ROOT / "docs" / "benchmarks" / "differentiable.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
