"""Numba's `cuda.libdevice` as a module that programs can import."""

from amdjit.numba_cuda.functions.libdevice import *  # noqa: F403
from amdjit.numba_cuda.functions.libdevice import __getattr__ as __getattr__
