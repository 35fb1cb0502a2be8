"""Make the notebooks from the examples: python examples/make_notebooks.py

A `# %%` comment becomes a text cell, the lines under it a code cell; the docstring becomes the heading.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
CHOSEN = ("characters", "dense_subgraph", "hashing_digits", "max_cut")


def notebook(source: str) -> str:
    """The notebook of one example, as JSON."""
    docstring = ast.get_docstring(ast.parse(source)) or ""
    body = source.split('"""', 2)[2]
    # Where a program takes a file name from its arguments and draws without a screen, a notebook does neither.
    body = re.sub(r"sys\.argv\[1\] if len\(sys\.argv\) > 1 else ", "", body)
    body = body.replace('    matplotlib.use("Agg")\n', "").replace("    import matplotlib\n\n", "")
    title, *rest = [line for line in docstring.splitlines() if not line.startswith("python ")]
    cells = [_cell("markdown", "# " + title + "\n" + "\n".join(rest).rstrip())]
    head, *parts = re.split(r"^# %% ?", body, flags=re.M)
    if head.strip():
        cells.append(_cell("code", head))
    for part in parts:
        text, _, code = part.partition("\n")
        cells += [_cell("markdown", text), _cell("code", code)]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 4}, indent=1) + "\n"


def _cell(kind: str, text: str) -> dict[str, object]:
    cell: dict[str, object] = {"cell_type": kind, "metadata": {}, "source": text.strip().splitlines(keepends=True)}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


if __name__ == "__main__":
    (HERE / "notebooks").mkdir(exist_ok=True)
    for name in CHOSEN:
        made = notebook((HERE / f"{name}.py").read_text(encoding="utf-8"))
        (HERE / "notebooks" / f"{name}.ipynb").write_text(made, encoding="utf-8")
