"""Proven bounds."""
