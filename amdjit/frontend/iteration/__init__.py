"""iteration."""
