"""The k densest nodes of a graph: search, bounds, and the published methods for it."""
