"""Projections: what is shown, and how old and complete it is."""
