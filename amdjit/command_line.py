"""The `amdjit` command: demo, devices, inspect, layout."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import amdjit
from amdjit.api import Kernel
from amdjit.compiled_kernel import CompiledKernel
from amdjit.demo import run_demo
from amdjit.devices import current_device, devices, hip_status, use
from amdjit.diagnostics import AmdjitError, BackendError, LaunchError
from amdjit.intrinsics import matrix
from amdjit.intrinsics.models.matrix_layouts import OPERANDS
from amdjit.language import vector_types
from amdjit.language.launch_numbers import PYTHON_FLOAT, PYTHON_INT
from amdjit.types import SCALARS, Scalar, Type, Vector

_EMITS = ("tree", "llvm", "optimized", "asm", "resources", "object")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code. Errors of amdjit are printed to stderr."""
    options = _parser().parse_args(arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except AmdjitError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the pipe has closed it; Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="amdjit", description="Compile Python functions to AMDGPU kernels."
    )
    parser.add_argument("--version", action="version", version=f"amdjit {amdjit.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    demo = commands.add_parser("demo", help="run the WMMA examples, each compared with NumPy")
    demo.add_argument(
        "--device", default=None, help="such as emulator:gfx1201 (default: see `amdjit devices`)"
    )
    demo.set_defaults(run=_demo)
    listing = commands.add_parser("devices", help="list the devices that kernels can run on")
    listing.set_defaults(run=_devices)
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
    layout = commands.add_parser(
        "layout", help="show which lane of a wave holds which element of a matrix"
    )
    layout.add_argument(
        "instruction", help="such as wmma_f32_16x16x16_f16_w32_gfx12; `_w32_gfx12` may be left out"
    )
    layout.add_argument(
        "--operand", choices=OPERANDS, default="a", help="of D = A B + C, or index (default: a)"
    )
    layout.set_defaults(run=_layout)
    return parser


def _demo(options: argparse.Namespace) -> int:
    if options.device is None:
        return 1 if run_demo(current_device()) else 0
    with use(options.device) as device:
        return 1 if run_demo(device) else 0


def _devices(options: argparse.Namespace) -> int:
    chosen = current_device().name
    for device in devices():
        mark = "*" if device.name == chosen else " "
        print(f"{mark} {device.name:20} {device.target.name:8} {device.description}")
    if hip_status():
        print(f"HIP: {hip_status()}")
    print("* is the default; AMDJIT_DEVICE or `with amdjit.use(name):` chooses another one")
    return 0


def _inspect(options: argparse.Namespace) -> int:
    file, separator, name = options.kernel.rpartition(":")
    if not separator or not name.isidentifier():
        raise LaunchError(f"{options.kernel!r} names no kernel: write FILE.py:KERNEL")
    if options.output is not None and options.emit != "object":
        raise LaunchError(f"--output is for --emit object; --emit {options.emit} prints")
    kernel = _load_kernel(Path(file), name)
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


def _layout(options: argparse.Namespace) -> int:
    try:
        print(matrix.layout_map(matrix.layout(options.instruction, options.operand)))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
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


def _load_kernel(file: Path, name: str) -> Kernel:
    """Import a file as if from its own folder, and return its kernel. Exceptions of the file
    pass."""
    specification = importlib.util.spec_from_file_location(file.stem, file)
    if not file.is_file() or specification is None or specification.loader is None:
        raise LaunchError(f"{file} is not a Python file: write FILE.py:KERNEL")
    module = importlib.util.module_from_spec(specification)
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.parent))
    specification.loader.exec_module(module)
    kernel = getattr(module, name, None)
    if not isinstance(kernel, Kernel):
        kernels = sorted(key for key, value in vars(module).items() if isinstance(value, Kernel))
        raise LaunchError(
            f"{file} has no kernel {name!r}; its kernels are: {', '.join(kernels) or 'none'}"
        )
    return kernel


def parse_signature(text: str) -> list[Type | int | float | bool | None]:
    """Parse types such as `f32,f32[:],f16[:, ::1],f32x4,int`, and constants for `Const`
    parameters."""
    return [_parse_argument(part.strip()) for part in _split(text) if part.strip()]


def _split(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parse_argument(text: str) -> Type | int | float | bool | None:
    constants = {"None": None, "True": True, "False": False}
    if text in constants:
        return constants[text]
    if text in ("int", "float"):
        return PYTHON_INT if text == "int" else PYTHON_FLOAT
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return _parse_type(text)


def _parse_type(text: str) -> Type:
    vectors = (value for value in vars(vector_types).values() if isinstance(value, Vector))
    types: dict[str, Type] = {str(type): type for type in (*SCALARS, *vectors)}
    name, bracket, axes = text.partition("[")
    element = types.get(name.strip())
    if element is None:
        scalars = ", ".join(map(str, SCALARS))
        raise LaunchError(
            f"{text!r} is not a type; there are {scalars}, vectors such as f16x8, arrays such as "
            "f32[:, ::1]"
        )
    if not bracket:
        return element
    parts = [axis.strip() for axis in axes.rstrip("] ").split(",")]
    if (
        any(part not in (":", "::1") for part in parts)
        or "::1" in parts[:-1]
        or not text.endswith("]")
    ):
        raise LaunchError(
            f"{text!r} is not an array type; write one `:` per axis, such as f32[:, ::1]"
        )
    if not isinstance(element, Scalar):
        raise LaunchError(
            f"{text!r} is not an array type: arrays hold scalars; a kernel reads vectors with "
            "`a.load(i, n)`"
        )
    return element[tuple(slice(None, None, 1 if part == "::1" else None) for part in parts)]
