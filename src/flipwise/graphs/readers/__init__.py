"""One file a format; each turns a path into a `Graph`. `flipwise.read_graph` finds the right one."""
