"""LLVM's process, started before the compiler is loaded if the disk cache seems to lack the
code."""

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

__all__ = ["code_cache", "sign_of", "start"]


def start(
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
        and cache.get(sign_of(cache, function, arguments, options)) is None
    ):
        with suppress(process.NoProcess):
            process.compiler_process().start()


def code_cache(environment: Environment) -> DiskCache:
    """Return the cache of code objects."""
    return DiskCache(environment.cache_dir, source_version(Path(__file__).parent))


def sign_of(
    cache: DiskCache,
    function: types.FunctionType,
    arguments: Sequence[object],
    options: CompileOptions,
) -> str:
    """Return the key of a sign that this was compiled before.

    It is a guess: what the kernel reads from elsewhere may have changed since.
    """
    code = function.__code__
    place = f"{code.co_filename} {code.co_firstlineno} {function.__qualname__}"
    level = f"{options.target} {options.wave_size} {options.opt_level}"
    return cache.key("compiled", place, code.co_code, " ".join(map(str, arguments)), level)
