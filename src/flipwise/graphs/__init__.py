"""Graphs: reading them, dense subgraphs, cuts and partitions."""
