"""The paper's experiments and our comparisons as runnable studies; results are stored here and rendered in `report`."""

from flipwise.experiments.cells import Cell, Key, Outcome, read_cells
from flipwise.experiments.reproduction import Summary, find_studies, reproduce
from flipwise.experiments.runner import RunnerProgress
from flipwise.experiments.store import Store

__all__ = ["Cell", "Key", "Outcome", "RunnerProgress", "Store", "Summary", "find_studies", "read_cells", "reproduce"]
