"""Numba's modules for CUDA's driver, with the names that programs import from them."""
