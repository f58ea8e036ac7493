"""Loads, stores and atomics of global memory, LDS and private memory, and the native functions that
compare each address with the allocations."""
