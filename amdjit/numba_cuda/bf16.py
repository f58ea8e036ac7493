"""Numba's `cuda.bf16`: the type, functions of it, and conversions."""

from amdjit.numba_cuda.functions.bf16 import *  # noqa: F403
from amdjit.numba_cuda.functions.bf16_conversions import *  # noqa: F403
