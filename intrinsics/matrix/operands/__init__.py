"""operands."""
