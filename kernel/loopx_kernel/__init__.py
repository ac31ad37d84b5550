"""The LoopX kernel: one ledger per goal, and answers from it."""

__version__ = "0.1.0"
