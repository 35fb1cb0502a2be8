"""Search past one descent: annealing, tabu search and recombination, chosen by structure."""
