"""The code of a kernel for each combination of argument types, compiled when it is first needed."""

from __future__ import annotations

import functools
import types
import weakref
from typing import TYPE_CHECKING, Any

from amdjit.abi.launch_shape import LaunchShape, check_launch
from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.forking import Lock
from amdjit.frontend import CompileTime
from amdjit.language.launch_numbers import PythonNumber
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.launching.compiled_bundle import compatible_targets
from amdjit.launching.kernel_options import KernelOptions
from amdjit.launching.recompilation import Change, changes
from amdjit.launching.record_arguments import single_kinds
from amdjit.launching.residence import waits_for_grid
from amdjit.launching.signature import Signature
from amdjit.options import CompileOptions
from amdjit.runtime.arguments import ArgumentPacker
from amdjit.runtime.device import Device, Function, Module
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit import compiler
    from amdjit.backend import prestart
    from amdjit.checking.array_places import ArrayArgument
    from amdjit.runtime import sanitized
else:
    compiler = late("amdjit.compiler")
    prestart = late("amdjit.backend.prestart")
    sanitized = late("amdjit.runtime.sanitized")

__all__ = ["Loaded", "Specialisations", "written_arguments"]


@dataclass(frozen=True)
class Loaded:
    """A specialisation on a device, ready to launch."""

    compiled: CompiledKernel
    written: tuple[bool, ...]
    """Whether the kernel may write each argument, as of `written_arguments`."""
    packer: ArgumentPacker
    module: Module
    """The code on the device, which is unloaded with the last reference to this."""
    function: Function
    static_lds: int
    """Bytes of static LDS."""
    max_workgroup_size: int
    """The most work-items of a workgroup."""

    def check(
        self, grid: Any, block: Any, dynamic_lds: Any, target: Target, cooperative: bool = False
    ) -> LaunchShape:
        """Return the checked shape of a launch; LaunchError if the kernel or the device does not
        allow it.

        It is cooperative if that is asked for, or if the kernel waits for the whole grid.
        """
        return check_launch(
            grid,
            block,
            dynamic_lds,
            target,
            max_flat_workgroup_size=self.max_workgroup_size,
            static_lds=self.static_lds,
            required_block=self.compiled.options.required_workgroup_size,
            cooperative=cooperative or waits_for_grid(self.compiled),
        )

    @functools.cached_property
    def shared_arrays(self) -> list[ArrayArgument]:
        """The static LDS arrays, for reports. Cached, because finding them walks the whole
        program."""
        return sanitized.shared_arrays(self.compiled.program, self.compiled.optimized_llvm)


class Specialisations:
    """The specialisations of a kernel so far, and the code loaded on each device."""

    def __init__(
        self, function: types.FunctionType, signature: Signature, options: KernelOptions
    ) -> None:
        self.options = options
        self.changes: tuple[Change, ...] = ()
        self.function = function
        self._signature = signature
        self._compiled: dict[tuple[CompileOptions, tuple[Argument, ...]], CompiledKernel] = {}
        self._loaded: weakref.WeakKeyDictionary[
            Device, dict[tuple[tuple[Argument, ...], bool], Loaded]
        ] = weakref.WeakKeyDictionary()
        self._lock = Lock()

    @property
    def compiled(self) -> tuple[CompiledKernel, ...]:
        """Every specialisation, in the order in which they were first compiled."""
        return tuple(self._compiled.values())

    def compile(self, options: CompileOptions, arguments: tuple[Argument, ...]) -> CompiledKernel:
        """Return the specialisation for these options and argument types.

        It is compiled again if something that it read from outside the kernel has changed since.
        """
        key = (options, arguments)
        with self._lock:
            compiled = self._compiled.get(key)
            if compiled is None or not all(read.is_current() for read in compiled.reads):
                names = self._signature.names
                self.changes = changes(self.compiled, options, arguments, names)
                compiled = self._compile(options, arguments)
                self._compiled[key] = compiled
                if self.warns(options):
                    for finding in (*compiled.findings, *compiled.slow_parts):
                        finding.warn()
            return compiled

    def load(self, device: Device, arguments: tuple[Argument, ...]) -> Loaded:
        """Return the specialisation for these argument types on a device, compiled for it."""
        exact = self.options.launches_are_checked
        on_device = self._loaded.get(device)
        loaded = None if on_device is None else on_device.get((arguments, exact))
        if loaded is not None and all(read.is_current() for read in loaded.compiled.reads):
            return loaded
        with self._lock:
            overrides = {"exact_lines": True, "local_checks": True} if exact else {}
            loaded = _load(device, self._for_device(device.target, arguments, overrides))
            self._loaded.setdefault(device, {})[arguments, exact] = loaded
            return loaded

    def _for_device(
        self, target: Target, arguments: tuple[Argument, ...], overrides: dict[str, Any]
    ) -> CompiledKernel:
        """Return a specialisation that runs on a device: an existing one, or else one compiled for
        exactly its target id."""
        for each in compatible_targets(target):
            options = self.options.complete(each, **overrides)
            if (options, arguments) in self._compiled:
                return self.compile(options, arguments)
        return self.compile(self.options.complete(target, **overrides), arguments)

    def warns(self, options: CompileOptions) -> bool:
        """Whether to warn about code that is slow by accident."""
        return options.warnings and self.options.environment.warnings

    def _compile(self, options: CompileOptions, arguments: tuple[Argument, ...]) -> CompiledKernel:
        environment = self.options.environment
        # The child process loads LLVM while this one loads the compiler.
        prestart.start_compiler(self.function, arguments, options, environment)
        return compiler.compile_kernel(self.function, arguments, options, environment)


def _load(device: Device, compiled: CompiledKernel) -> Loaded:
    module = device.load(compiled.code_object)
    metadata = compiled.linked.kernels[compiled.name].metadata
    parameters = compiled.parameters
    return Loaded(
        compiled=compiled,
        written=written_arguments(compiled),
        packer=ArgumentPacker([v.name for v in parameters], [v.type for v in parameters]),
        module=module,
        function=module.function(compiled.name),
        static_lds=metadata.group_segment_bytes,
        max_workgroup_size=metadata.max_flat_workgroup_size,
    )


def written_arguments(compiled: CompiledKernel) -> tuple[bool, ...]:
    """Return for each single value of the arguments whether the kernel may write it.

    These include `Const` arguments and Python's numbers, which no kernel writes.
    """
    uses = zip(compiled.written, compiled.launch_uses, strict=True)
    written = iter([may_write for may_write, use in uses if use is None])
    unwritten = (CompileTime, PythonNumber)
    return tuple(
        False if isinstance(kind, unwritten) else next(written)
        for kind in single_kinds(compiled.arguments)
    )
