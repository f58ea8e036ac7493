"""Checks of kernels that no AMD GPU offers; each in a module of its own."""
