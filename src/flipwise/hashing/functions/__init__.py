"""Hash functions: from features to the real values whose signs are the bits."""
