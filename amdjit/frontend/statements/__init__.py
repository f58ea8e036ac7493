"""statements."""
