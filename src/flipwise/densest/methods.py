"""The published methods for dense subgraphs by name."""

from __future__ import annotations

from flipwise.solvers.registry import Method

DENSEST: dict[str, Method] = {
    method.name: method
    for method in (
        Method("ravi", "greedy dispersion (Ravi et al. 1994)", "densest.rivals.Ravi", free=False, needs="densest"),
        Method("tpm", "truncated power method (Yuan & Zhang 2013)", "densest.rivals.TPM", free=False, needs="densest"),
        Method(
            "frank-wolfe",
            "Frank-Wolfe with diagonal loading (Lu et al. 2025)",
            "densest.rivals.FrankWolfe",
            free=False,
            needs="densest",
        ),
        Method(
            "peeling", "greedy peeling (Asahiro et al. 2000)", "densest.rivals.Peeling", free=False, needs="densest"
        ),
    )
}
"""They solve `Quadratic(-W, variables="binary")`, W sparse, with `Cardinality(k)`."""
