"""multiply."""
