"""The graph type, and its readers and writers."""
