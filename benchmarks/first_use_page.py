"""The page of first_use.py: `python benchmarks/first_use_page.py`, from the stored rows."""

from __future__ import annotations

from typing import Any

from first_use import LIMITS, kept
from render import Rows, table, write_page


def section(record: dict[str, Any]) -> str:
    """Every part that is stored."""
    text = ""
    for part, (title, told) in PARTS.items():
        rows = [row for row in record["rows"] if row["part"] == part]
        if rows:
            text += f"## {title}\n\n{told(rows)}\n"
    return text


def first(rows: Rows) -> str:
    """The first ever call, a later process, and the second call inside one process."""
    body = []
    for row in rows:
        allowed = 1.5 * row["second_call"] + 1.0
        more = row["first_ever"] - row["later"]
        body.append([f"`{row['what']}`", *(f"{row[k]:.2f}" for k in ("first_ever", "later", "second_call")),
                     f"{allowed:.2f}", f"{more:.2f} of {row['allowed_more']:g}"])  # fmt: skip
    heads = ["call", "first ever", "later process", "second call", "1.5 x + 1 s", "first ever takes more by"]
    return "Processor seconds of the whole process, on one core.\n\n" + table(heads, body)


def compiling(rows: Rows) -> str:
    """Specialisations and their seconds."""
    jobs = list(dict.fromkeys(row["what"] for row in rows))
    cell = {(row["what"], row["when"]): row for row in rows}
    body = []
    for job in jobs:
        found = [cell.get((job, when)) for when in ("before", "now")]
        body.append([f"`{job}`", *("-" if row is None else f"{row['count']}, {row['seconds']:.1f} s" for row in found)])
    text = table(["job", "specialisations before", "now"], body)
    body = [[row["what"], each["function"], f"{each['seconds']:.2f}", f"`{each['types']}`"]
            for row in rows if row["when"] == "now" for each in row["kernels"]]  # fmt: skip
    return text + "\n" + table(["job", "kernel", "seconds", "types"], body)


def same(rows: Rows) -> str:
    """Cold and warm runs."""
    body = [[f"`{r['what']}`", f"{r['cold']:.6g}", ", ".join(f"{v:.6g}" for v in r["warm"])] for r in rows]
    text = "The same seed and a time limit of one second: the first ever run, and five later ones.\n\n"
    return text + table(["call", "cold", "warm"], body)


def limits(rows: Rows) -> str:
    """Seconds taken for each limit."""
    text = (
        "Seconds taken by a warm call, by the clock that the limit was held against; at most 10 % and 0.2 s more than "
        "the limit are allowed, **bold** is more.\n\n"
    )
    body = [
        [row["what"], row.get("clock", "wall")]
        + [f"{each['taken']:.2f}" if kept(each) else f"**{each['taken']:.2f}**" for each in row["rows"]]
        for row in rows
    ]
    return text + table(["call", "clock", *(f"{limit:g} s" for limit in LIMITS)], body)


PARTS = {
    "first": ("First ever, later, again", first),
    "compiling": ("What is compiled", compiling),
    "same": ("Cold and warm", same),
    "limits": ("Time limits", limits),
}


if __name__ == "__main__":
    write_page("first-use", "First use", {"first_use": section})
