"""The kernels of whole-array work, in the kernel language: each is compiled for the user's function
and the types of the arrays.

`values.py` handles elements of any type; the other modules hold one algorithm each.
Imports: `api`, intrinsics and below, nothing of the host's side of `algorithms`.
"""
