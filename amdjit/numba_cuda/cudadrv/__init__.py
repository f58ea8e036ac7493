"""Numba's modules about CUDA's driver, with the names that programs import from them."""
