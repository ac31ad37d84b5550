"""How long a test waits for what should come at once, before it calls it lost."""

PATIENCE = 300.0
"""Seconds. Far beyond the slowest machine: no test passes or fails by how fast it was."""
