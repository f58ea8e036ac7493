"""The typed tree."""
