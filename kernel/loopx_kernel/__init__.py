"""The LoopX kernel: one ledger per goal, and answers from it."""
