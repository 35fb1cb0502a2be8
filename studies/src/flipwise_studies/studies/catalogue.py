"""The studies by name."""

from __future__ import annotations

from collections.abc import Iterable

from flipwise_studies.experiments.study import Study
from flipwise_studies.studies import (
    compression,
    convergence,
    cpu_times,
    densities,
    growth,
    momentum,
    neighbourhood,
    optimisers,
    qubo,
    supervised,
    unsupervised,
)

STUDIES = {
    module.STUDY.name: module.STUDY
    for module in (
        convergence,
        densities,
        cpu_times,
        neighbourhood,
        optimisers,
        unsupervised,
        supervised,
        qubo,
        compression,
        momentum,
        growth,
    )
}
"""The studies by name, in the order of the report."""


def find_studies(names: Iterable[str] = STUDIES) -> list[Study]:
    """The studies of these names.

    Examples
    --------
    >>> from flipwise_studies import find_studies
    >>> find_studies(["convergence"])[0].title
    'Convergence of DPCD against SGM'
    """
    return [STUDIES[name] for name in names]
