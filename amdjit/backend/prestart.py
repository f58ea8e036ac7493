"""Start LLVM's process ahead of time, if the disk cache seems to lack the code.

Loading the front end and typing a kernel take about as long as the child process needs to load
LLVM: started first, it is ready when the IR is.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.disk_cache import DiskCache, source_version
from amdjit.late import late
from amdjit.options import CompileOptions, Environment

if TYPE_CHECKING:
    from amdjit.backend import process
else:
    process = late("amdjit.backend.process")

__all__ = ["code_cache", "compiled_before_key", "start_compiler"]


def start_compiler(
    function: types.FunctionType,
    arguments: Sequence[object],
    options: CompileOptions,
    environment: Environment,
) -> None:
    """Start the process, so that it is ready when the front end is done.

    If it cannot be started, LLVM's first stage says why.
    """
    cache = code_cache(environment)
    if (
        environment.compile_guard
        and cache.get(compiled_before_key(cache, function, arguments, options)) is None
    ):
        with suppress(process.NoProcess):
            process.compiler_process().start()


def code_cache(environment: Environment) -> DiskCache:
    """Return the cache of code objects."""
    return DiskCache(environment.cache_dir, source_version(Path(__file__).parent))


def compiled_before_key(
    cache: DiskCache,
    function: types.FunctionType,
    arguments: Sequence[object],
    options: CompileOptions,
) -> str:
    """Return the key under which the cache notes that a kernel was compiled for these types.

    The note is only a hint whether LLVM will be needed: what the kernel reads from outside may have
    changed since, and then the IR is another.
    """
    code = function.__code__
    place = f"{code.co_filename} {code.co_firstlineno} {function.__qualname__}"
    level = f"{options.target} {options.wave_size} {options.opt_level}"
    return cache.key("compiled", place, code.co_code, " ".join(map(str, arguments)), level)
