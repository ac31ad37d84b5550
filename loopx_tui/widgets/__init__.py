"""The widgets Textual does not have."""
