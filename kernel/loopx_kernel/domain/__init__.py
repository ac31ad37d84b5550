"""Pure: what is true. No clock, no files, no network, no randomness."""
