"""Publish a stored run of the studies: a small results file, and the tables of the documents made from it.

flipwise reproduce --quick --store quick.sqlite
python benchmarks/studies.py quick.sqlite --name studies-quick --command "flipwise reproduce --quick"
python benchmarks/studies.py --run quick           # the same in one
python benchmarks/studies.py                       # only write the tables anew, from the results files

The results file has one line a cell, without curves. The tables stand in README.md and docs/ between the comments that
`flipwise_studies.report.documents` describes; a test fails when they are not what the results files give. The page of
the studies says in its first line of which commits its cells are.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from recording import RESULTS, said_of

from flipwise_studies import fill, reproduce
from flipwise_studies.experiments.results import read_cells, write_results

ROOT = Path(__file__).parent.parent
COMMITS = re.compile(r"(<!-- commits of (.*?) -->\n).*?(\n<!-- end of commits -->)", re.S)


def with_commits(text: str) -> str:
    """The text, each block of commits written anew from the cells of the results files that it names."""

    def written(match: re.Match[str]) -> str:
        cells = [cell for name in match[2].split(", ") for cell in read_cells(RESULTS / name)]
        found = dict.fromkeys(str(cell.environment["commit"]) for cell in cells)
        return match[1] + said_of([f"{c[:7]}-dirty" if c.endswith("+") else c[:7] for c in found]) + match[3]

    return COMMITS.sub(written, text)


def main() -> None:
    """Read the arguments, write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", nargs="?", type=Path, help="what `flipwise reproduce` wrote")
    parser.add_argument("--name", default="studies-quick", help="name of the results file")
    parser.add_argument("--command", default="flipwise reproduce --quick", help="what made the store")
    parser.add_argument("--run", choices=["quick", "full"], help="make the store first, beside the results")
    given = parser.parse_args()
    if given.run:
        given.name, given.command = f"studies-{given.run}", f"flipwise reproduce --{given.run} --threads 1"
        given.store = RESULTS / f"{given.name}.sqlite"
        reproduce(quick=given.run == "quick", store=given.store, threads=1)
    if given.store is not None:
        target = RESULTS / f"{given.name}.json"
        write_results(read_cells(given.store), target, command=given.command)
        print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1000:.0f} kB")
    for document in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if document.is_file():
            text = document.read_text(encoding="utf-8")
            filled = with_commits(fill(text, RESULTS))
            if filled != text:
                document.write_text(filled, encoding="utf-8")
                print(f"{document.relative_to(ROOT)}: tables written")


if __name__ == "__main__":
    main()
