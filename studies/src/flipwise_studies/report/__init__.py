"""Stored results made visible: one section a study, as a page, as Markdown and as a table of all cells."""
