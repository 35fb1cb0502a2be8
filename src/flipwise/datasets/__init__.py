"""Graphs to test and measure with: seeded generators, and loaders for local data."""
