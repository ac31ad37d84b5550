"""The LoopX terminal UI: a projection of the ledger with a write path."""
