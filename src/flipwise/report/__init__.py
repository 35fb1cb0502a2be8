"""Stored results made visible: tables, figures, pages."""
