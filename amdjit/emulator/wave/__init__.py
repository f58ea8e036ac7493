"""wave."""
