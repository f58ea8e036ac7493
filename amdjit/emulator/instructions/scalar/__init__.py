"""scalar."""
