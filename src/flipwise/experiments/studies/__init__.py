"""One study a file, each with a `STUDY`."""
