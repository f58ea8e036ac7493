"""Run a hand-built program's machine code on the emulator."""

from __future__ import annotations

import os
from typing import Any

from amdjit.backend import emit_object, find_linker, link, optimise
from amdjit.emulator.running import run
from amdjit.lowering import lower
from amdjit.options import CompileOptions, read_environment
from amdjit.tree import nodes as tree
from tests.tree.trees import GFX1201, program


def run_on_emulator(
    kernel: tree.Function, *arguments: Any, items: int = 1, dynamic_lds: int = 0
) -> None:
    """Run one workgroup. arguments: in kernarg order, that is the arrays, then extents, strides and
    scalars."""
    options = CompileOptions(GFX1201)
    environment = read_environment(os.environ)
    optimised = optimise(lower(program(kernel), options), GFX1201, options)
    relocatable = emit_object(optimised, GFX1201, options, environment)
    run(link(relocatable, find_linker(environment)), kernel.name, 1, items, arguments, dynamic_lds)
