"""`amdjit inspect`: what a kernel became, in a view or stage; nothing is launched."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from amdjit.command_line.commands import Commands
from amdjit.command_line.kernel_files import load_kernel, split_name
from amdjit.command_line.signatures import parse_signature
from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import BackendError, LaunchError

__all__ = ["add"]

_EMITS = ("tree", "llvm", "optimized", "asm", "resources", "object")


def add(commands: Commands) -> None:
    """Add the command."""
    inspect = commands.add_parser(
        "inspect", help="compile a kernel and print one stage of it; nothing is launched"
    )
    inspect.add_argument("kernel", metavar="FILE.py:KERNEL")
    inspect.add_argument(
        "--signature", default="", help='the arguments\' types, such as "f32,f32[:],f32[:, ::1]"'
    )
    inspect.add_argument(
        "--target", default=None, help="the processor (default: AMDJIT_TARGET, else gfx1201)"
    )
    inspect.add_argument(
        "--emit", choices=_EMITS, default="asm", help="the stage to print (default: asm)"
    )
    inspect.add_argument(
        "--output", "-o", type=Path, default=None, help="the object's file (default: KERNEL.hsaco)"
    )
    inspect.set_defaults(run=_inspect)


def _inspect(options: argparse.Namespace) -> int:
    file, name = split_name(options.kernel)
    if options.output is not None and options.emit != "object":
        raise LaunchError(f"--output is for --emit object; --emit {options.emit} prints")
    kernel = load_kernel(file, name)
    compiled = kernel.compile(*parse_signature(options.signature), target=options.target)
    if options.emit != "object":
        print(_stage(compiled, options.emit))
        return 0
    output = options.output or Path(f"{name}.hsaco")
    try:
        output.write_bytes(compiled.code_object)
    except OSError as error:
        raise BackendError(f"{output} cannot be written: {error.strerror}") from error
    print(f"{output}: {len(compiled.code_object)} bytes for {compiled.target}")
    return 0


def _stage(compiled: CompiledKernel, emit: str) -> str:
    if emit == "resources":
        resources = compiled.resources
        return "\n".join(
            f"{name:16} {getattr(resources, name)}" for name in resources.__dataclass_fields__
        )
    stages: dict[str, Any] = {
        "tree": "typed_tree",
        "llvm": "llvm",
        "optimized": "optimized_llvm",
        "asm": "asm",
    }
    return str(getattr(compiled, stages[emit]))
