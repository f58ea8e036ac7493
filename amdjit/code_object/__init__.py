"""code_object."""
