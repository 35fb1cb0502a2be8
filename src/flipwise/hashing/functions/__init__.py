"""Hash functions: from features to the real values whose signs are the bits. Fitted to codes that are already known."""
