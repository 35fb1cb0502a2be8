"""Files by kind of format: a path becomes a `Graph`, and back. `flipwise.read_graph` finds the right one."""
