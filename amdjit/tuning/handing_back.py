"""Code that workers compiled, in this process's cache, so that nothing is compiled twice."""

from __future__ import annotations

import os

from amdjit.backend.early import code_cache
from amdjit.compiler import keep_built
from amdjit.options import read_environment
from amdjit.target import Target
from amdjit.tuning.calls import Call
from amdjit.tuning.configurations import Configuration
from amdjit.tuning.tasks import Code, store_of

__all__ = ["keep_code", "own_store"]


def own_store() -> str:
    """Return the name of this process's cache."""
    cache = code_cache(read_environment(os.environ))
    return store_of(cache.directory, cache.version)


def keep_code(code: Code, call: Call, configuration: Configuration, target: Target) -> None:
    """Put code that another machine has compiled into this process's cache."""
    options = call.kernel.complete_options(target, **call.options(configuration))
    keep_built(code.llvm, code.optimized, code.code_object, options, read_environment(os.environ))
