"""Proven lower bounds of quadratics."""
