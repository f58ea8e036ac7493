"""Numba's modules for CUDA's driver, with the names that programs import from them."""

from amdjit.numba_cuda import device_facts as devices

__all__ = ["devices"]
