"""Settings of Numba that programs for CUDA read and set. They change nothing: amdjit's own are in
docs/reference/options.md."""

ENABLE_CUDASIM = 0
"""0: amdjit's emulator runs compiled code, and is no simulator in Python."""
CUDA_LOW_OCCUPANCY_WARNINGS = 0
"""`amdjit.advice` says what few waves cost."""
CUDA_WARN_ON_IMPLICIT_COPY = 0
DISABLE_CUDA = 0
DISABLE_JIT = 0
