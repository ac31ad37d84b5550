"""Disk: how the ledger is kept."""
