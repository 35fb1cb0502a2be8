"""Tables of the documentation from the stored rows of the benchmarks; no figure is typed by hand.

python benchmarks/render.py                # every table whose rows exist
python benchmarks/render.py optima         # one of them
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from recording import ROOT, publish, runs, stored

PAGES = ROOT / "docs" / "benchmarks"
Rows = list[dict[str, Any]]


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def origin(record: dict[str, Any]) -> str:
    """Where the figures come from, as a sentence."""
    versions = record["versions"]
    last, *others = runs(record)
    machine = last["machine"]
    text = (
        f"Measured {last['date'][:10]} with `{last['command']}` at commit {last['commit']} "
        f"on {machine['cores']} cores ({machine['processor']}, load {machine['load_at_start']} at the start), "
        f"Python {machine['python']}, NumPy {versions['numpy']}, SciPy {versions['scipy']}, "
        f"Numba {versions['numba']}."
    )
    rest = [f"`{run['command']}` at commit {run['commit']}" for run in others]
    return text + (f" Other rows are of {', '.join(rest)}." if rest else "") + "\n"


def write_page(name: str, title: str, sections: dict[str, Callable[[dict[str, Any]], str]]) -> None:
    """A page with a section for each stored run that exists."""
    text = f"# {title}\n\n"
    for run, section in sections.items():
        record = stored(run)
        if record is not None:
            text += section(record) + origin(record) + "\n"
    publish(PAGES / f"{name}.md", text)
    print(PAGES / f"{name}.md")


def optima(record: dict[str, Any]) -> str:
    """Share of optima and mean gap by method and family, from one start and from several."""
    rows: Rows = record["rows"]
    once, often = [row for row in rows if row.get("starts", 1) == 1], [row for row in rows if row.get("starts", 1) > 1]
    text = (
        "# Small problems against the optimum\n\n"
        f"{_instances(once)} instances of 8 to 16 variables; every method once with its defaults and the same seeds. A "
        "cell says how many optima were found and, after the slash, the mean gap (value - optimum)/|optimum|; a dash "
        "where a method does not apply. SDP tries 100 roundings an instance, so it does more work than one descent.\n\n"
        + _optima_table(once)
    )
    if often:
        text += (
            f"\n## From {often[0]['starts']} starts each\n\n"
            "Methods whose answer depends on the start or the seed, all given as many starts, the best answer of which "
            f"counts; {_instances(often)} of the same instances.\n\n" + _optima_table(often)
        )
    return text + "\n" + origin(record)


def _instances(rows: Rows) -> int:
    """How many instances all families have together."""
    return sum({row["family"]: len(row["gaps"]) for row in rows}.values())


def _optima_table(rows: Rows) -> str:
    families = list(dict.fromkeys(row["family"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    gaps = {(row["method"], row["family"]): row["gaps"] for row in rows}
    body = []
    for method in methods:
        everything = [gap for family in families for gap in gaps.get((method, family), [])]
        cells = [f"`{method}`", _share(everything), f"{len(everything)}"]
        body.append(cells + [_share(gaps.get((method, family), [])) for family in families])
    return table(["method", "all", "instances", *families], body)


def _share(gaps: list[float]) -> str:
    if not gaps:
        return "-"
    found = sum(gap < 1e-9 for gap in gaps) / len(gaps)
    return f"{100 * found:.0f} % / {100 * sum(gaps) / len(gaps):.2g} %"


PAPER_RATIOS = {"lp": 5.3, "ravi": 3.6, "l2box-admm": 28.0, "mpec-adm": 33.0, "mpec-epm": 97.0}
"""How many times as long as DPCD each method takes on hollywood-2009 in the paper's table of CPU times."""
REFERENCE = "dpcd, first descent"


def cpu_times(record: dict[str, Any]) -> str:
    """Seconds and density of every method on every graph."""
    rows: Rows = record["rows"]
    names = list(dict.fromkeys(row["graph"] for row in rows))
    runs = list(dict.fromkeys(row["run"] for row in rows))
    cell = {(row["run"], row["graph"]): row for row in rows}
    body = []
    for run in runs:
        line = [f"`{run}`"]
        for name in names:
            row = cell.get((run, name))
            if row is None:
                line += ["-", "-", "-"]
                continue
            over = "> " if row["status"] == "TIME_LIMIT" else ""
            times = row["seconds"] / cell[REFERENCE, name]["seconds"]
            line += [f"{over}{row['seconds']:.2f}", f"{over}{times:.1f}", f"{row['density']:.3f}"]
        body.append(line)
    header = ["run"] + [text for name in names for text in (f"{name}: s", "times first descent", "density")]
    caps = " or ".join(f"{cap:g}" for cap in sorted({row["cap"] for row in rows}, reverse=True))
    return (
        f"# Dense subgraphs, k = {rows[0]['k']}: time and density\n\n"
        "Every method on the same simple undirected graph, in one process, with its defaults; seconds of the method "
        f"alone, kernels compiled beforehand, at most {caps} s each (`>`: stopped there, with the density it had). The "
        "density is x'Wx/k, the average degree inside. `dpcd` searches on after its first descent, which is the run "
        "that times are compared with.\n\n" + table(header, body) + "\n" + _against_paper(cell, names) + origin(record)
    )


def _against_paper(cell: dict[tuple[str, str], dict[str, Any]], names: list[str]) -> str:
    """The ratios on the graph of hollywood-2009's size beside those that the paper's table has for hollywood-2009."""
    large = next((name for name in names if "hollywood" in name), None)
    if large is None:
        return ""
    own = cell[REFERENCE, large]
    body = []
    for run, ratio in PAPER_RATIOS.items():
        row = cell[run, large]
        over = "> " if row["status"] == "TIME_LIMIT" else ""
        times = row["seconds"] / own["seconds"]
        reached = "yes" if times >= ratio else "no"
        body.append([f"`{run}`", f"{over}{times:.1f}", f"{ratio:g}", reached, f"{own['density'] - row['density']:.3f}"])
    header = ["run", "times first descent", "in the paper", "at least the paper's", "density below DPCD's by"]
    return f"On the graph {large}:\n\n" + table(header, body) + "\n"


def neighbourhood(record: dict[str, Any]) -> str:
    """Density with and without the neighbourhood search."""
    rows: Rows = record["rows"]
    searches = list(dict.fromkeys(row["search"] for row in rows))
    keys = list(dict.fromkeys((row["graph"], row["k"], row["start"], row["mode"]) for row in rows))
    cell = {(row["graph"], row["k"], row["start"], row["mode"], row["search"]): row for row in rows}
    body = []
    for graph, k, start, mode in keys:
        found = [cell[graph, k, start, mode, search] for search in searches]
        body.append(
            [graph, str(k), start, mode]
            + [f"{row['density']:.3f}" for row in found]
            + [f"{row['seconds']:.2f}" for row in found]
        )
    header = ["graph", "k", "start", "mode", *[f"density {s}" for s in searches], *[f"seconds {s}" for s in searches]]
    return (
        "# DPCD with and without neighbourhood search\n\n"
        "One descent of DPCD on the densest k-subgraph from the same start, with the paper's neighbourhood search "
        '(m = 5, every 10 updates) and without. "improved" is the default, which ends where no swap improves; '
        '"literal" is Algorithm 1 to the letter'
        ", whose thresholds choose nothing here (see the algorithm's page), so that the "
        "neighbourhood search is all that moves.\n\n" + table(header, body) + "\n" + origin(record)
    )


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "optima": optima,
    "cpu_times": cpu_times,
    "neighbourhood": neighbourhood,
}


def main() -> None:
    """Write the pages."""
    for name in sys.argv[1:] or TABLES:
        record = stored(name)
        if record is not None:
            page = PAGES / f"{name.replace('_', '-')}.md"
            publish(page, TABLES[name](record))
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
