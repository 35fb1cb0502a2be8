"""The models of the QUBO study."""

from __future__ import annotations

import hashlib
from pathlib import Path

from flipwise_studies import find_studies
from flipwise_studies.experiments.study import Plan


def test_real_models_are_read_with_their_best_known_values(data_folder: Path) -> None:
    """Gset and Palubeckis: sizes, the best known value, and the file's own checksum."""
    tasks = find_studies(["qubo"])[0].tasks(Plan(quick=False, data=data_folder))
    instances = {task.instance.name: task.instance for task in tasks}
    for name, n, best, file in (("G1", 800, 11624, "gset/G1.txt.xz"), ("p3000.1", 3000, 3931583, "p3000.1.i8triu.xz")):
        case = instances[name].data
        assert (case.model.n, case.best_known) == (n, best)
        assert instances[name].checksum == hashlib.sha256((data_folder / "qubo" / file).read_bytes()).hexdigest()
