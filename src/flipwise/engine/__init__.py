"""The one life of a run: limits, interrupts, seeds, restarts, checkpoint, log, proof, result."""
