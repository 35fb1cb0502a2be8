"""Cuts of a graph: `maxcut`, `bisect`, `partition`."""
