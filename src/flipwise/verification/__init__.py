"""Certificates checked anew: in exact arithmetic, by code that shares nothing with what found them."""
