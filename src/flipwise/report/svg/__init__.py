"""Figures as inline SVG, written without a plotting library: light, and coloured by the page's own style sheet."""
