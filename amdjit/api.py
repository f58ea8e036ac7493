"""Kernels as users see them: decorate, launch, compile, inspect."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import threading
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any, overload

from amdjit.checking.sanitizing import ACTIVE
from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.declarations import DeviceFunction
from amdjit.devices import current_device
from amdjit.diagnostics import LaunchError, TypeCheckError
from amdjit.frontend import CompileTime, at_annotation, kernel_annotations
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.language.launch_numbers import TooWideError, python_number
from amdjit.launching.prepared import (
    Loaded,
    PreparedLaunch,
    choose_block,
    parameter_values,
    written_arguments,
)
from amdjit.launching.recompilation import Change, changes
from amdjit.launching.record_arguments import (
    Annotation,
    Leaves,
    assembled,
    is_record_annotation,
    leaves_of,
    type_of_record,
)
from amdjit.launching.specialisation import argument_types, check_type, is_const, widened
from amdjit.options import (
    CompileOptions,
    Environment,
    default_target,
    named_target,
    read_environment,
    spelled_out,
)
from amdjit.runtime.arguments import ArgumentPacker
from amdjit.runtime.device import Device
from amdjit.runtime.host_copies import HostCopies
from amdjit.runtime.staging import Staging
from amdjit.runtime.streams import Stream
from amdjit.target import Target
from amdjit.types import Array, Type, Vector


def compile_kernel(
    function: types.FunctionType,
    arguments: tuple[Argument, ...],
    options: CompileOptions,
    environment: Environment,
) -> CompiledKernel:
    """Compile, as `amdjit.compiler` says: it is loaded with the first compilation, not with
    amdjit."""
    # LLVM is loaded there while the compiler is loaded here.
    importlib.import_module("amdjit.backend.early").start(function, arguments, options, environment)
    compiled: CompiledKernel = importlib.import_module("amdjit.compiler").compile_kernel(
        function, arguments, options, environment
    )
    return compiled


class Kernel:
    """A Python function that runs on a device: `kernel[grid, block](arguments...)`.

    It is compiled at the first launch with each combination of argument types, or ahead of time by
    `compile`.
    """

    is_amdjit_kernel = True
    __name__: str
    __qualname__: str

    def __init__(self, function: types.FunctionType, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._options = options
        self._compiled: dict[tuple[CompileOptions, tuple[Argument, ...]], CompiledKernel] = {}
        self._loaded: weakref.WeakKeyDictionary[
            Device, dict[tuple[tuple[Argument, ...], bool], Loaded]
        ] = weakref.WeakKeyDictionary()
        self._known_annotations: tuple[Annotation, ...] | None = None
        self._changes: tuple[Change, ...] = ()
        self._lock = threading.RLock()
        self._environment = read_environment(os.environ)
        self._host_copies = HostCopies(self.__name__)

    def __getitem__(self, launch: Any) -> Launcher:
        """Configure a launch: `[grid, block]`, `[grid, block, stream]` or `[grid, block, stream,
        dynamic_lds_bytes]`.

        grid counts workgroups, block their work-items; each is an int or a tuple of up to three.
        """
        if not isinstance(launch, tuple) or not 2 <= len(launch) <= 4:
            raise LaunchError(
                f"{self.__name__}[{launch}]: write {self.__name__}[grid, block](...), and behind "
                "these a stream and "
                "the bytes of dynamic LDS where they are needed"
            )
        stream = launch[2] if len(launch) > 2 else None
        dynamic_lds = launch[3] if len(launch) > 3 else 0
        return Launcher(self, launch[0], launch[1], stream, dynamic_lds)

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """A kernel is launched with a grid: LaunchError."""
        raise LaunchError(
            f"write {self.__name__}[grid, block](...), or {self.__name__}.forall(n)(...)"
        )

    def forall(self, n: int, stream: Stream | None = None, dynamic_lds_bytes: int = 0) -> ForAll:
        """Configure a launch of at least `n` work-items in one dimension; the block is chosen for
        occupancy."""
        return ForAll(self, n, stream, dynamic_lds_bytes)

    def compile(self, *arguments: Any, target: str | None = None, **options: Any) -> CompiledKernel:
        """Compile for argument types (values for `Const` parameters), without a device or a launch.

        Annotated parameters may be left out as `None`, or all together. Array types with `[:]` mean
        C-contiguous ones.
        """
        compile_options = self._compile_options(self._target(target), options)
        annotations = self._annotations(compile_options)
        if (
            not arguments
            and annotations
            and all(a is not None and not is_const(a) for a in annotations)
        ):
            arguments = (None,) * len(annotations)
        self._check_count(len(arguments))
        resolved = tuple(self._resolve(i, a, annotations[i]) for i, a in enumerate(arguments))
        return self._compile(compile_options, resolved)

    @property
    def specialisations(self) -> tuple[CompiledKernel, ...]:
        """What this kernel was compiled to so far, for each combination of options and argument
        types."""
        return tuple(self._compiled.values())

    def why_recompiled(self) -> tuple[Change, ...]:
        """Say why the kernel was compiled the last time: what differs from the nearest compilation
        before.

        Argument types, options, and what the kernel and its helpers read from outside, each with
        its old and new value. Nothing for the first compilation.
        """
        return self._changes

    def inspect_types(self) -> dict[str, str]:
        """Return the typed tree of each specialisation so far, by signature."""
        return {c.signature: c.typed_tree for c in self._compiled.values()}

    def inspect_llvm(self) -> dict[str, str]:
        """Return the LLVM IR, before optimisation, of each specialisation so far, by signature."""
        return {c.signature: c.llvm for c in self._compiled.values()}

    def inspect_asm(self) -> dict[str, str]:
        """Return the assembly of each specialisation so far, by signature."""
        return {c.signature: c.asm for c in self._compiled.values()}

    @functools.cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(inspect.signature(self.function, follow_wrapped=False).parameters)

    def _target(self, name: str | None) -> Target:
        return named_target(name) if name is not None else default_target(self._environment)

    def _compile_options(
        self, target: Target, overrides: dict[str, Any] | None = None
    ) -> CompileOptions:
        chosen = {**self._options, **checked_options(overrides or {})}
        if chosen.get("bounds_check") is None:
            chosen["bounds_check"] = self._environment.debug
        return CompileOptions(target, **chosen)

    def _annotations(self, options: CompileOptions) -> tuple[Annotation, ...]:
        if self._known_annotations is None:
            compilation = Compilation(options)
            self._known_annotations = kernel_annotations(
                self.function, compilation, PYTHON_FUNCTIONS
            )
        return self._known_annotations

    def _check_count(self, given: int) -> None:
        names = self.parameter_names
        if given != len(names):
            takes = f"{len(names)} argument{'' if len(names) == 1 else 's'} ({', '.join(names)})"
            raise LaunchError(
                f"{self.__name__} takes {takes}, but {given} {'was' if given == 1 else 'were'} "
                "given"
            )

    def _resolve(self, position: int, argument: Any, annotation: Annotation) -> Argument:
        if is_const(annotation):
            return CompileTime(argument)
        if argument is None and isinstance(annotation, Type):
            argument = annotation
        if argument is None and is_record_annotation(annotation):
            argument = annotation.value  # type: ignore[union-attr]
        if argument is None:
            return CompileTime(None)
        if not isinstance(argument, Type):
            argument = python_number(argument) or type_of_record(argument) or argument
        if not isinstance(argument, Type):
            name = self.parameter_names[position]
            raise LaunchError(
                f"{self.__name__}.compile takes a type for each parameter, such as amdjit.f32[:]; "
                f"for {name} it was given {argument!r}"
            )
        try:
            check_type(self.__name__, self.parameter_names[position], annotation, argument)
        except TypeCheckError as failure:
            raise at_annotation(failure, self.function) from None
        return argument.resolved() if isinstance(argument, Array) else argument

    def _compile(self, options: CompileOptions, arguments: tuple[Argument, ...]) -> CompiledKernel:
        key = (options, arguments)
        with self._lock:
            compiled = self._compiled.get(key)
            if compiled is None or not all(read.is_current() for read in compiled.reads):
                self._changes = changes(
                    self.specialisations, options, arguments, self.parameter_names
                )
                compiled = compile_kernel(self.function, arguments, options, self._environment)
                self._compiled[key] = compiled
                if self._warns(options):
                    for finding in (*compiled.findings, *compiled.slow_parts):
                        finding.warn()
            return compiled

    def _warns(self, options: CompileOptions) -> bool:
        return options.warnings and self._environment.warnings

    def _load(self, device: Device, arguments: tuple[Argument, ...]) -> Loaded:
        """Return the specialisation on the device; a change of what it read from outside compiles
        it again."""
        exact = bool(ACTIVE.get() or self._environment.sanitize or self._options.get("sanitize"))
        on_device = self._loaded.get(device)
        loaded = None if on_device is None else on_device.get((arguments, exact))
        if loaded is not None and all(read.is_current() for read in loaded.compiled.reads):
            return loaded
        with self._lock:
            overrides = {"exact_lines": True} if exact else None
            compiled = self._compile(self._compile_options(device.target, overrides), arguments)
            module = device.load(compiled.code_object)
            metadata = compiled.linked.kernels[compiled.name].metadata
            loaded = Loaded(
                compiled,
                written_arguments(compiled),
                ArgumentPacker(
                    [v.name for v in compiled.parameters], [v.type for v in compiled.parameters]
                ),
                module,
                module.function(compiled.name),
                metadata.group_segment_bytes,
                metadata.max_flat_workgroup_size,
            )
            self._loaded.setdefault(device, {})[arguments, exact] = loaded
            return loaded

    def bind(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """Return a launch's arguments in the order of the parameters, default values filled in."""
        if not keywords and len(arguments) == len(self.parameter_names):
            return arguments
        try:
            bound = inspect.signature(self.function, follow_wrapped=False).bind(
                *arguments, **keywords
            )
        except TypeError as problem:
            if not keywords:
                self._check_count(len(arguments))
            raise LaunchError(
                f"{self.__name__} takes ({', '.join(self.parameter_names)}): {problem}"
            ) from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def prepare(self, arguments: Sequence[Any], stream: Stream | None = None) -> PreparedLaunch:
        """Choose the device and the specialisation of a launch, and stage its arrays; nothing runs
        yet."""
        self._check_count(len(arguments))
        device = stream.device if isinstance(stream, Stream) else current_device()
        annotations = self._known_annotations
        if annotations is None:
            annotations = self._annotations(self._compile_options(device.target))
        try:
            leaves = leaves_of(self.__name__, self.parameter_names, annotations, arguments)
            by_value = {
                i for i, a in enumerate(leaves.annotations) if is_const(a) or isinstance(a, Vector)
            }
            staging = Staging(device, leaves.names, leaves.values, by_value)
            kinds = argument_types(self.__name__, leaves, staging.arguments)
        except TypeCheckError as failure:
            raise at_annotation(failure, self.function) from None
        loaded, values = self._load_for(device, leaves, kinds, staging.arguments)
        if staging.has_host_arrays and self._warns(loaded.compiled.options):
            self._host_copies.note(staging.host_places, callers=3)
        staging.check_writable(loaded.written)
        return PreparedLaunch(device, stream, loaded, staging, values, self._environment)

    def _load_for(
        self, device: Device, leaves: Leaves, kinds: tuple[Argument, ...], arguments: Sequence[Any]
    ) -> tuple[Loaded, tuple[Any, ...]]:
        """Return the specialisation of a launch and the values to pass.

        Where what the kernel computes from Python's integers alone does not fit an i32, they are
        i64.
        """
        loaded = self._load(device, assembled(leaves.shapes, kinds))
        try:
            return loaded, parameter_values(loaded.compiled, leaves.names, kinds, arguments)
        except TooWideError:
            wider = widened(kinds)
            if wider is None:
                raise
        loaded = self._load(device, assembled(leaves.shapes, wider))
        return loaded, parameter_values(loaded.compiled, leaves.names, wider, arguments)

    def __repr__(self) -> str:
        return f"<amdjit kernel {self.__qualname__}>"


class Launcher:
    """A kernel with a grid and a block: call it with the arguments."""

    def __init__(
        self, kernel: Kernel, grid: Any, block: Any, stream: Stream | None, dynamic_lds: int
    ) -> None:
        self._kernel, self._grid, self._block = kernel, grid, block
        self._stream, self._dynamic_lds = stream, dynamic_lds

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Launch. NumPy arrays are copied to the device and, where the kernel writes them, back.

        With DeviceArrays only, the launch returns before the kernel has ended (on devices that work
        asynchronously).
        """
        prepared = self._kernel.prepare(self._kernel.bind(arguments, keywords), self._stream)
        prepared.launch(self._grid, self._block, self._dynamic_lds)


class ForAll:
    """A kernel over `n` work-items: call it with the arguments."""

    def __init__(self, kernel: Kernel, n: int, stream: Stream | None, dynamic_lds: int) -> None:
        self._kernel, self._n, self._stream, self._dynamic_lds = kernel, n, stream, dynamic_lds

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Launch, as `kernel[grid, block](...)` does; nothing happens for n = 0."""
        if self._n < 0:
            raise LaunchError(
                f"{self._kernel.__name__}.forall({self._n}): n counts work-items and is at least 0"
            )
        prepared = self._kernel.prepare(self._kernel.bind(arguments, keywords), self._stream)
        if self._n == 0:
            return
        block = choose_block(prepared.loaded, prepared.device.target, self._dynamic_lds)
        prepared.launch(-(-self._n // block[0]), block, self._dynamic_lds)


@overload
def kernel(function: Callable[..., None], /) -> Kernel: ...
@overload
def kernel(**options: Any) -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(function: Callable[..., None] | None = None, /, **options: Any) -> Any:
    """Make a kernel of a Python function; `@kernel` or `@kernel(fastmath=True, block=256,
    waves_per_eu=4, ...)`.

    Options: see `amdjit.options.CompileOptions`. A wrong option raises OptionError here.
    """
    if function is None:
        return lambda inner: _kernel(inner, options)
    return _kernel(function, options)


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return a kernel's options as `CompileOptions` takes them; TypeError for unknown ones."""
    options = spelled_out(options)
    known = set(CompileOptions.__dataclass_fields__) - {"target"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise TypeError(
            f"a kernel has no option {unknown[0]!r}; its options are {', '.join(sorted(known))}"
        )
    fastmath = options.get("fastmath")
    return (
        {**options, "fastmath": frozenset(fastmath)}
        if isinstance(fastmath, (set, list, tuple))
        else options
    )


def _kernel(function: Callable[..., None], options: dict[str, Any]) -> Kernel:
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"@amdjit.kernel decorates a Python function, not {function!r}")
    options = checked_options(options)
    made = Kernel(function, options)
    CompileOptions(default_target(made._environment), **options)
    return made


@overload
def device_function(function: Callable[..., Any], /) -> DeviceFunction: ...
@overload
def device_function(*, inline: bool = True) -> Callable[[Callable[..., Any]], DeviceFunction]: ...
def device_function(function: Callable[..., Any] | None = None, /, *, inline: bool = True) -> Any:
    """Mark a function that kernels call. `inline=False` keeps it a function of its own in the
    machine code."""
    if function is None:
        return lambda inner: DeviceFunction(inner, inline)
    return DeviceFunction(function, inline)


__all__ = ["ForAll", "Kernel", "Launcher", "device_function", "kernel"]
