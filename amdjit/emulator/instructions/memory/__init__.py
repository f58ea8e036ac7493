"""Accesses of global, flat, private and LDS memory by the lanes of a wave."""
