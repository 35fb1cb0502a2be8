"""Other samplers behind one function."""

from __future__ import annotations

import pytest

from flipwise.qubo.models import QuadraticModel
from flipwise_studies.experiments.cells import Skip
from flipwise_studies.studies.qubo_peers import PEERS, solve_with_peer


@pytest.mark.parametrize("peer", PEERS)
def test_peers_solve_a_tiny_model(peer: str) -> None:
    """Each peer that is installed finds the optimum of two variables, evaluated by us."""
    model = QuadraticModel.from_qubo({(0, 0): -1.0, (1, 1): -2.0, (0, 1): 3.0})
    try:
        energy, seconds, history = solve_with_peer(peer, model, 0.2, 0)
    except Skip as reason:
        pytest.skip(str(reason))
    assert energy == -2.0 and seconds < 5 and history[-1][1] == -2.0
