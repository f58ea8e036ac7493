"""Numba's whole-array functions in `numba.cuda.kernels`: `transpose`; `reduction` is
`vectorised.Reduce`."""
