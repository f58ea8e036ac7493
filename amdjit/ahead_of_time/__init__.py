"""Kernels as files for programs without Python: code object, C header, example."""
