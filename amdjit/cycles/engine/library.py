"""The host functions of the cycle model, compiled at their first use and kept in the cache."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from amdjit.cycles.engine.memory import ACCESS, access_text
from amdjit.cycles.engine.simulation import RUN, run_text
from amdjit.disk_cache import DiskCache, source_version
from amdjit.emulator.host.jit import HostCompiler
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.options import read_environment

__all__ = ["Engine", "engine"]

_INTEGER, _POINTER = ctypes.c_int64, ctypes.c_void_p
_ACCESS = ctypes.CFUNCTYPE(
    _INTEGER, _POINTER, _INTEGER, _INTEGER, _POINTER, _INTEGER, _INTEGER, _INTEGER
)
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Engine:
    """The host code. run: takes the address of a `layout.Simulation`. access: `memory.ACCESS`.
    library: keeps them alive."""

    run: Callable[[int], int]
    access: Callable[[int, int, int, int, int, int, int], int]
    library: NativeLibrary


@cache
def engine() -> Engine:
    """Return the host code of this process."""
    here = Path(__file__).parent
    directory = read_environment(os.environ).cache_dir
    kept = DiskCache(
        directory, source_version(here, *(here.parents[1] / room for room in ("emulator", "isa")))
    )
    library = NativeLibrary(HostCompiler(), kept, lambda: [NATIVES])
    return Engine(_RUN(library.address(RUN.name)), _ACCESS(library.address(ACCESS.name)), library)


# The native functions of the cycle model.

NATIVES = NativeSources({ACCESS.name: access_text, RUN.name: run_text})
