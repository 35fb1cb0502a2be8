"""A program as the text of a QPLIB file, for round trips."""

from __future__ import annotations

import numpy as np

import flipwise


def qplib_text(program: flipwise.ConstrainedModel) -> str:
    """The lines, with a comment each; the rows' infinity is larger than any of their ends."""
    model, sign = program.model, -1.0 if program.maximised else 1.0
    n, rows = model.n, program.rows
    lines = ["TEST", f"QB{'N' if rows is None else 'L'} # type", "maximize" if sign < 0 else "minimize", f"{n}"]
    lines += [] if rows is None else [f"{rows.m}"]
    pairs = list(zip(model.j.tolist(), model.i.tolist(), (sign * model.b).tolist(), strict=True))
    lines += [f"{len(pairs)} # of Q", *(f"{i + 1} {j + 1} {w!r}" for i, j, w in pairs)]
    lines += ["0.0 # b", f"{n}", *(f"{i + 1} {w!r} % b" for i, w in enumerate((sign * model.linear).tolist()))]
    lines += [f"{sign * model.offset!r} ! q"]
    if rows is not None:
        A = rows.A.tocoo()
        entries = zip(A.row.tolist(), A.col.tolist(), A.data.tolist(), strict=True)
        lines += [f"{A.nnz}", *(f"{i + 1} {j + 1} {w!r}" for i, j, w in entries)]
    lines += ["1.7976931348623157E+308 # infinity"]
    for values, infinite in () if rows is None else ((rows.lower, "-1.7976931348623157E+308"), (rows.upper, None)):
        own = [(i, v) for i, v in enumerate(values.tolist()) if np.isfinite(v)]
        lines += [infinite or "1.7976931348623157E+308", f"{len(own)}", *(f"{i + 1} {v!r}" for i, v in own)]
    lines += ["0.0", "0"] * (2 if rows is None else 3)
    for names in (model.labels, None if rows is None else rows.names):
        lines += ["0"] if names is None else [f"{len(names)}", *(f"{i + 1} {name}" for i, name in enumerate(names))]
    return "\n".join(lines) + "\n"
