"""The losses of learning to hash as objectives: every optimiser of the library can minimise them over the codes."""
