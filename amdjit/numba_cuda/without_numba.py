"""The module `numba` of a process in which `install()` has been called, and Numba is not installed.

It has the types, and what else programs for CUDA import from it. Numba's other names say that Numba
is missing.
"""

from __future__ import annotations

from typing import Any, NoReturn

from amdjit.diagnostics import LaunchError
from amdjit.late import load_module
from amdjit.numba_cuda import config as config
from amdjit.numba_cuda import generalised, vectorised
from amdjit.numba_cuda import types as types
from amdjit.numba_cuda.types import *  # noqa: F403

__version__ = "0.68.1"
"""The version of Numba whose names these are."""
__path__: list[str] = []


# What programs ask Numba for besides. Any other name is no attribute: pickle and PyTorch's compiler
# ask all modules for names.
_OF_NUMBA = frozenset(
    {
        "carray", "cfunc", "deferred_type", "experimental", "farray", "from_dtype", "gdb",
        "gdb_breakpoint", "gdb_init", "get_num_threads", "get_parallel_chunksize", "get_thread_id",
        "jit", "jit_module", "literal_unroll", "literally", "njit", "objmode", "optional",
        "parallel_chunksize", "parfors", "pndindex", "prange", "set_num_threads",
        "set_parallel_chunksize", "stencil", "stencils", "threading_layer", "typed", "typeof",
    }
)  # fmt: skip


class NumbaMissingError(LaunchError, ImportError):
    """The program needs Numba's compiler for the CPU, which is not installed: also an
    ImportError."""


def vectorize(*arguments: Any, target: str = "cpu", **options: Any) -> Any:
    """Turn a function of numbers into one of arrays, with `target="cuda"`."""
    if target != "cuda":
        _missing(f"vectorize with the target {target!r}")
    return vectorised.vectorize(*arguments, **options)


def guvectorize(*arguments: Any, target: str = "cpu", **options: Any) -> Any:
    """Turn a function of arrays into one that runs over additional axes, with `target="cuda"`."""
    if target != "cuda":
        _missing(f"guvectorize with the target {target!r}")
    return generalised.guvectorize(*arguments, **options)


def __getattr__(name: str) -> Any:
    """Return a module below this one. NumbaMissingError for Numba's other names; AttributeError for
    names that Numba does not have."""
    if name in ("core", "cuda", "np"):
        return load_module(f"numba.{name}")
    if name in _OF_NUMBA:
        _missing(f"numba.{name}")
    raise AttributeError(f"module 'numba' has no attribute {name!r}")


def _missing(name: str) -> NoReturn:
    raise NumbaMissingError(
        f"{name}: this process has amdjit in the place of numba.cuda, and Numba itself, which "
        "compiles for the CPU, is not installed: pip install numba"
    )
