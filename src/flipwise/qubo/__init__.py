"""QUBO and Ising models: conventions, files, solving."""
