"""A compilation from beginning to end, one call per stage:

Python function -> typed tree -> LLVM IR -> optimised IR -> object -> linked code object
"""

from __future__ import annotations

import inspect
import types
from pathlib import Path
from typing import TYPE_CHECKING

import msgpack

from amdjit import backend
from amdjit.backend.prestart import code_cache, compiled_before_key
from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.diagnostics import codes
from amdjit.diagnostics.errors import BackendError
from amdjit.disk_cache import DiskCache
from amdjit.frontend import TypedKernel, definition_span, type_kernel
from amdjit.garbage import collector_paused
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.late import late
from amdjit.launching.array_facts import type_outside
from amdjit.lowering import lower
from amdjit.options import COMPILE_TIME_LIMIT, CompileOptions, Environment
from amdjit.tree.verifier import verify
from amdjit.types import Array

if TYPE_CHECKING:
    from amdjit.inspection import impossible
else:
    impossible = late("amdjit.inspection.impossible")

__all__ = ["compile_kernel", "store_built", "type_arguments"]


def compile_kernel(
    function: types.FunctionType,
    arguments: tuple[Argument, ...],
    options: CompileOptions,
    environment: Environment,
) -> CompiledKernel:
    """Compile a Python function for the types of its arguments.

    CompileError for what is wrong in the function or not in the kernel language, BackendError if
    LLVM or the linker refuses.
    """
    try:
        with collector_paused():
            typed = type_arguments(function, arguments, options, environment)
            verify(typed.program)
            llvm = lower(typed.program, options, _arrays(function, arguments))
    except RecursionError:
        raise codes.error(
            codes.TOO_DEEP, definition_span(function), function=function.__qualname__
        ) from None
    cache = code_cache(environment)
    optimized, code_object = _build(llvm, options, environment, typed.libraries, cache)
    note = compiled_before_key(cache, function, arguments, options)
    if cache.get(note) is None:
        cache.put(note, b"")
    return CompiledKernel(
        typed.program.kernel.name,
        arguments,
        options=options,
        program=typed.program,
        llvm=llvm,
        optimized_llvm=optimized,
        code_object=code_object,
        reads=typed.reads,
        launch_uses=typed.launch_uses,
        findings=typed.findings,
        parameter_names=_parameter_names(function),
    )


def type_arguments(
    function: types.FunctionType,
    arguments: tuple[Argument, ...],
    options: CompileOptions,
    environment: Environment,
    leaves_out_calls: bool = False,
) -> TypedKernel:
    """Type a kernel for its arguments, as it is compiled. CompileError for what is wrong in it.

    leaves_out_calls: as for `type_kernel`.
    """
    return type_kernel(
        function,
        tuple(map(_typed, arguments)),
        compilation=Compilation(options, backend.find_ocml(environment)),
        builtins=PYTHON_FUNCTIONS,
        type_of=type_outside,
        time_limit=environment.compile_time_limit or COMPILE_TIME_LIMIT,
        leaves_out_calls=leaves_out_calls,
    )


def _parameter_names(function: types.FunctionType) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _typed(argument: Argument) -> Argument:
    """Return an argument's type without the promise that its memory is distinct: the type of no
    expression depends on it, and the front end need not distinguish such types."""
    return argument.without_promises() if isinstance(argument, Array) else argument


def _arrays(function: types.FunctionType, arguments: tuple[Argument, ...]) -> dict[str, Array]:
    named = zip(inspect.signature(function).parameters, arguments, strict=True)
    return {name: argument for name, argument in named if isinstance(argument, Array)}


def _build(
    llvm: str,
    options: CompileOptions,
    environment: Environment,
    libraries: tuple[Path, ...],
    cache: DiskCache,
) -> tuple[str, bytes]:
    """Return the optimised IR and the linked code object, from the disk cache where the same IR was
    built before."""
    bitcode = tuple(backend.read_library(file) for file in libraries)
    key = _key_of_built(llvm, options, environment, bitcode, cache)
    built = cache.get(key)
    if built is None:
        optimized = backend.optimise(llvm, options.target, options, bitcode, environment)
        plain = optimized
        if options.debug_variables:
            undescribed = backend.without_records(llvm)
            plain = backend.optimise(undescribed, options.target, options, bitcode, environment)
        built = msgpack.packb(_possible(plain, optimized, options, environment))
        cache.put(key, built)
    text, code_object = msgpack.unpackb(built)
    return text, code_object


def _possible(
    plain: str, optimized: str, options: CompileOptions, environment: Environment
) -> tuple[str, bytes]:
    """Return optimised IR and its code object, all of whose instructions the target has.

    LLVM can merge a move between lanes into an instruction that does not exist on the target
    (`backend.dpp_moves`). Then the object is made again with every move on its own. BackendError
    with the source line if that does not help. A kernel with inline assembly is not refused: its
    text may contain data.
    """
    pair = _linked(plain, optimized, options, environment)
    size = options.wave_size
    if impossible.impossible_instruction(pair[1], options.target, size) is None:
        return pair
    plain, optimized = map(backend.fence_all_moves, (plain, optimized))
    pair = _linked(plain, optimized, options, environment)
    found = impossible.impossible_instruction(pair[1], options.target, size)
    if found is not None and not backend.has_inline_assembly(optimized):
        raise BackendError(str(found))
    return pair


def _linked(
    plain: str, optimized: str, options: CompileOptions, environment: Environment
) -> tuple[str, bytes]:
    linker = backend.find_linker(environment)
    if options.debug_variables:
        return backend.link_with_variables(plain, optimized, options, linker, environment)
    relocatable = backend.emit_object(optimized, options.target, options, environment)
    return optimized, backend.link(relocatable, linker)


def _key_of_built(
    llvm: str,
    options: CompileOptions,
    environment: Environment,
    bitcode: tuple[bytes, ...],
    cache: DiskCache,
) -> str:
    # All other options have left their traces in the IR itself.
    tools = f"{backend.LLVM_VERSION} {backend.find_linker(environment)}"
    level = f"{options.wave_size} {options.opt_level}"
    return cache.key("code object", llvm, options.target.id, level, tools, *bitcode)


def store_built(
    llvm: str, optimized: str, code_object: bytes, options: CompileOptions, environment: Environment
) -> None:
    """Store what another process built from a kernel's IR in the disk cache, where
    `compile_kernel` finds it.

    Kernels that link libraries are not found: their key also has the bitcode.
    """
    cache = code_cache(environment)
    key = _key_of_built(llvm, options, environment, (), cache)
    cache.put(key, msgpack.packb((optimized, code_object)))
