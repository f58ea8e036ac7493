"""builtins."""
