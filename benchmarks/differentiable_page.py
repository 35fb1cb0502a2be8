"""Write docs/benchmarks/differentiable.md from stored runs: python benchmarks/differentiable_page.py"""

from __future__ import annotations

import statistics
from typing import Any

from recording import ROOT, publish, runs, stored

HEAD = """# Differentiable functions

The least value met, mean over seeds, at equal processor time on one core; the best of a row is bold, a dash: not run.
`flipwise` is `minimize` with nothing but a time limit; the rivals are written after their publications or, from `dpcd`
on, are the library's own methods with restarts.

How far these figures can be trusted:

- The schemes were made while looking at these functions, with other seeds; the rivals have one setting each. The last
  but one table is of instances that nobody had looked at: other random numbers, half of the rows of the data, another
  length of the sequence.
- Processor time on a shared core: a busy neighbour makes evaluations of large functions slower, for everybody alike but
  not always at the same time. The rivals ran first, `flipwise` later; loads stand beside the commands.
- At ten seconds only the two or three rivals that led at one second ran, on one or two seeds each, which says little
  about differences; "level" on one seed is: first.

"Level" is: the mean is the least of all, or not further from it than one standard deviation over seeds (the larger of
the two). "Behind" is the distance of the means as a share of the way from the best mean to that of one random local
optimum: a single descent of plain local search, or how far it came in a second.
"""
TABLES = (
    ("One second", ("differentiable_one_second",)),
    ("Ten seconds", ("differentiable_ten_seconds", "differentiable_ten_seconds_flipwise")),
    ("Instances kept aside, one second", ("differentiable_unseen",)),
)
ALONE = "differentiable_schemes"
OURS, PLAIN = "flipwise", "one local optimum"
Values = dict[str, list[float]]


def by_rival(rows: list[dict[str, Any]], function: str) -> Values:
    """The values of every rival on a function."""
    values: Values = {}
    for row in rows:
        if row["function"] == function:
            values.setdefault(row["rival"], []).append(row["value"])
    return values


def spread(values: list[float]) -> float:
    """The standard deviation, 0 of a single value."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def judged(values: Values, plain: float) -> tuple[bool, float]:
    """Whether ours is level with the best, and how far behind it is as a share of the way to a local optimum."""
    means = {rival: statistics.mean(some) for rival, some in values.items()}
    best = min(means, key=lambda rival: means[rival])
    behind = means[OURS] - means[best]
    level = behind <= max(spread(values[OURS]), spread(values[best])) + 1e-9 * abs(means[best])
    return level, behind / abs(plain - means[best]) if behind > 0.0 else 0.0


def table(records: list[dict[str, Any]], plain: dict[str, float]) -> list[str]:
    """One table, what it says in one sentence, and the commands behind it."""
    rows = [row for record in records for row in record["rows"]]
    rivals = sorted(dict.fromkeys(row["rival"] for row in rows), key=lambda rival: rival != OURS)
    lines = [
        "| function | level | behind | seeds | " + " | ".join(rivals) + " |",
        "| --- |" + " --- |" * (len(rivals) + 3),
    ]
    verdicts = []
    for name in dict.fromkeys(row["function"] for row in rows):
        values = by_rival(rows, name)
        if OURS not in values or len(values) < 2:
            continue
        means = {rival: statistics.mean(some) for rival, some in values.items()}
        least = min(means.values())
        level, behind = judged(values, statistics.mean(values[PLAIN]) if PLAIN in values else plain[name])
        verdicts.append((level, behind, means[OURS] == least))
        cells = [_cell(means.get(rival), least) for rival in rivals]
        title = next(row["title"] for row in rows if row["function"] == name)
        seeds = "/".join(str(len(values.get(rival, []))) for rival in (OURS, min(set(means) - {OURS}, key=means.get)))
        lines.append(
            f"| {title} | {'yes' if level else 'no'} | {100.0 * behind:.1f} % | {seeds} | " + " | ".join(cells) + " |"
        )
    level, first = sum(v[0] for v in verdicts), sum(v[2] for v in verdicts)
    worst = 100.0 * max(v[1] for v in verdicts)
    says = f"Level with the best on {level} of {len(verdicts)} functions, alone or jointly first on {first}; at most "
    says += f"{worst:.1f} % behind. Seeds: of `{OURS}` and of the best rival."
    return [*lines, "", says, "", *_sources(records), ""]


def schemes(record: dict[str, Any]) -> list[str]:
    """What each scheme reaches that has all the time to itself."""
    rows = record["rows"]
    names = list(dict.fromkeys(row["rival"] for row in rows))
    lines = ["| function | " + " | ".join(names) + " |", "| --- |" + " --- |" * len(names)]
    for name in dict.fromkeys(row["function"] for row in rows):
        means = {scheme: statistics.mean(some) for scheme, some in by_rival(rows, name).items()}
        title = next(row["title"] for row in rows if row["function"] == name)
        lines.append(f"| {title} | " + " | ".join(_cell(means.get(n), min(means.values())) for n in names) + " |")
    return [*lines, "", f"Seeds: {len({row['seed'] for row in rows})}.", "", *_sources([record]), ""]


def _cell(mean: float | None, least: float) -> str:
    text = "-" if mean is None else f"{mean:.4g}"
    return f"**{text}**" if mean == least else text


def _sources(records: list[dict[str, Any]]) -> list[str]:
    """The commands, each with its commit and load."""
    made = [run for record in records for run in reversed(runs(record))]
    lines = [f"- `{r['command']}`, commit {r['commit']}, load {r['machine']['load_at_start']}" for r in made]
    return list(dict.fromkeys(lines))


def main() -> None:
    """Write the page."""
    records = {name: stored(name) for _, names in TABLES for name in names}
    rows = records[TABLES[0][1][0]]["rows"]
    functions = dict.fromkeys(row["function"] for row in rows)
    plain = {name: statistics.mean(by_rival(rows, name)[PLAIN]) for name in functions}
    lines = [HEAD]
    for title, names in TABLES:
        lines += [f"## {title}", "", *table([records[name] for name in names], plain)]
    lines += ["## Each scheme alone, one second", "", *schemes(stored(ALONE))]
    publish(ROOT / "docs" / "benchmarks" / "differentiable.md", "\n".join(lines))


if __name__ == "__main__":
    main()
