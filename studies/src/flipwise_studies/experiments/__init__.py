"""How studies are planned, run and stored: cells, the store, the runner, `reproduce`."""
