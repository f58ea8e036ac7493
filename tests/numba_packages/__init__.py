"""Packages of PyPI that use `numba.cuda`, unchanged, by `amdjit run`: what they compute is compared
with their own versions for the CPU, or with NumPy."""
