"""Numba's CUDA programs on amdjit: `from amdjit import numba_cuda as cuda`.

It has the names of `numba.cuda` for what amdjit has, so that most programs run unchanged:
docs/numba_cuda.md. Kernels follow Numba's typing rules, with `typing="numba"`.

Start reading at `jit.py`. `functions/` has what kernels call. The other modules are for the host:
`types`, `arrays`, `streams`, `device_facts`, and `vectorised` and `generalised` for functions of
numbers.
"""

from typing import TYPE_CHECKING, Any

from amdjit.intrinsics.cache_hints import *  # noqa: F403
from amdjit.numba_cuda import args as args
from amdjit.numba_cuda import bf16 as bf16
from amdjit.numba_cuda import cg as cg
from amdjit.numba_cuda import config as config
from amdjit.numba_cuda import cudadrv as cudadrv
from amdjit.numba_cuda import libdevice as libdevice
from amdjit.numba_cuda import random as random
from amdjit.numba_cuda import types as types
from amdjit.numba_cuda.absent import AbsentError as AbsentError
from amdjit.numba_cuda.absent import stand_in
from amdjit.numba_cuda.args import In as In
from amdjit.numba_cuda.args import InOut as InOut
from amdjit.numba_cuda.args import Out as Out
from amdjit.numba_cuda.arrays import *  # noqa: F403
from amdjit.numba_cuda.cudadrv import devicearray as devicearray
from amdjit.numba_cuda.cudadrv import driver as driver
from amdjit.numba_cuda.cudadrv.error import CudaSupportError as CudaSupportError
from amdjit.numba_cuda.cudadrv.error import KernelRuntimeError as KernelRuntimeError
from amdjit.numba_cuda.device_facts import *  # noqa: F403
from amdjit.numba_cuda.functions import atomic as atomic
from amdjit.numba_cuda.functions import fp16 as fp16
from amdjit.numba_cuda.functions import vectors as vectors
from amdjit.numba_cuda.functions.arithmetic import *  # noqa: F403
from amdjit.numba_cuda.functions.lanes import *  # noqa: F403
from amdjit.numba_cuda.functions.memories import *  # noqa: F403
from amdjit.numba_cuda.functions.places import *  # noqa: F403
from amdjit.numba_cuda.generalised import guvectorize as guvectorize
from amdjit.numba_cuda.host_arrays import *  # noqa: F403
from amdjit.numba_cuda.installing import install as install
from amdjit.numba_cuda.jit import declare_device as declare_device
from amdjit.numba_cuda.jit import jit as jit
from amdjit.numba_cuda.streams import *  # noqa: F403
from amdjit.numba_cuda.type_classes import as_dtype as as_dtype
from amdjit.numba_cuda.type_classes import from_dtype as from_dtype
from amdjit.numba_cuda.type_classes import typeof as typeof
from amdjit.numba_cuda.types import *  # noqa: F403
from amdjit.numba_cuda.vectorised import Reduce as Reduce
from amdjit.numba_cuda.vectorised import reduce as reduce
from amdjit.numba_cuda.vectorised import vectorize as vectorize

if not TYPE_CHECKING:  # type checkers would accept every name as one of the module

    def __getattr__(name: str) -> Any:
        found = vectors.constructor(name) or stand_in(name)
        if found is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return found
