"""Signatures: who said it."""
