"""Buffer instructions: addresses, bounds and formats of buffer resources."""
