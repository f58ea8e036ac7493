"""A launch whose arguments are on their device: check it, run it, bring back what it wrote and what
it reports."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from amdjit.abi.reports import ReportTable
from amdjit.checking.sanitizing import ACTIVE
from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.diagnostics import KernelFault
from amdjit.frontend import CompileTime
from amdjit.language.launch_numbers import PythonNumber
from amdjit.launching.record_arguments import single_kinds
from amdjit.options import Environment
from amdjit.runtime.arguments import ArgumentPacker
from amdjit.runtime.device import Device, Function, Module
from amdjit.runtime.launch import LaunchShape, check_launch
from amdjit.runtime.reports import make_record, with_record
from amdjit.runtime.staging import Staging
from amdjit.runtime.streams import Stream, handle_of
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.checking.array_places import ArrayArgument

__all__ = ["Loaded", "PreparedLaunch", "choose_block", "parameter_values", "written_arguments"]


@dataclass(frozen=True)
class Loaded:
    """A specialisation on a device, ready to launch. written: as of `written_arguments`."""

    compiled: CompiledKernel
    written: tuple[bool, ...]
    packer: ArgumentPacker
    module: Module
    function: Function
    static_lds: int
    max_workgroup_size: int

    @cached_property
    def shared_arrays(self) -> list[ArrayArgument]:
        """The static LDS arrays, for reports: found by a walk over the whole program, so once."""
        arrays: list[ArrayArgument] = _checks().shared_arrays(
            self.compiled.program, self.compiled.optimized_llvm
        )
        return arrays


@dataclass(frozen=True)
class PreparedLaunch:
    """The arguments of a launch on their device, and the code for them."""

    device: Device
    stream: Stream | None
    loaded: Loaded
    staging: Staging
    values: tuple[Any, ...]
    environment: Environment

    def launch(self, grid: Any, block: Any, dynamic_lds: int) -> None:
        """Check the grid, copy arrays, run, copy back."""
        loaded = self.loaded
        required = loaded.compiled.options.required_workgroup_size
        shape = check_launch(
            grid,
            block,
            dynamic_lds,
            self.device.target,
            loaded.max_workgroup_size,
            loaded.static_lds,
            required,
        )
        kernarg = loaded.packer.pack(self.values)
        self.staging.upload(self.stream)
        handle = handle_of(self.stream, self.device)
        if loaded.compiled.reports is None:
            self._start(shape, dynamic_lds, kernarg, handle)
        else:
            self._launch_reporting(loaded.compiled.reports, shape, dynamic_lds, kernarg, handle)
        if self.staging.has_host_arrays:
            if handle is None:
                self.device.synchronize()
            elif loaded.compiled.reports is not None:
                self.device.synchronize_stream(handle)
            self.staging.download(loaded.written, self.stream)

    def _start(self, shape: LaunchShape, dynamic_lds: int, kernarg: bytearray, handle: Any) -> None:
        """Start the kernel, with the checks that hold here."""
        function = self.loaded.function
        option = self.loaded.compiled.options.sanitize
        try:
            if not (option or self.environment.sanitize or ACTIVE.get()):
                self.device.launch(function, shape.grid, shape.block, dynamic_lds, kernarg, handle)
                return
            call = (function, shape.grid, shape.block, dynamic_lds, kernarg)
            _checks().launch(self.device, call, option, self.environment, self._arrays(), handle)
        except KernelFault as fault:
            _checks().locate(fault, self._arrays())
            raise

    def _arrays(self) -> list[ArrayArgument]:
        staging = self.staging
        arrays: list[ArrayArgument] = _checks().array_arguments(
            staging.names, staging.arguments, self.loaded.written
        )
        return arrays + self.loaded.shared_arrays

    def _launch_reporting(
        self,
        table: ReportTable,
        shape: LaunchShape,
        dynamic_lds: int,
        kernarg: bytearray,
        handle: Any,
    ) -> None:
        compiled, device = self.loaded.compiled, self.device
        options = compiled.options
        record = make_record(
            compiled.name,
            table,
            device,
            shape.block,
            options.wave_size,
            options.print_buffer,
            handle,
        )
        kernarg = with_record(kernarg, record)
        try:
            self._start(shape, dynamic_lds, kernarg, handle)
        except KernelFault:
            record.tell(
                handle
            )  # what was printed until then; an assertion that failed as well says more
            raise
        device.when_done(lambda: record.tell(handle), handle)


def _checks() -> Any:
    # Loaded where checks are made, or a launch has failed: who has neither need not pay for it.
    return importlib.import_module("amdjit.runtime.sanitized")


def written_arguments(compiled: CompiledKernel) -> tuple[bool, ...]:
    """For each single value of the arguments, `Const` ones included, whether the kernel may write
    it."""
    written = iter(
        [
            flag
            for flag, use in zip(compiled.written, compiled.launch_uses, strict=True)
            if use is None
        ]
    )
    passed = (CompileTime, PythonNumber)
    return tuple(
        False if isinstance(a, passed) else next(written) for a in single_kinds(compiled.arguments)
    )


def parameter_values(
    compiled: CompiledKernel, names: Sequence[str], kinds: Sequence[Argument], values: Sequence[Any]
) -> tuple[Any, ...]:
    """Return what a launch passes: its arguments, and in place of Python's numbers what the kernel
    uses of them.

    LaunchError for a number that does not fit the type in which the kernel uses it.
    """
    pairs = list(zip(values, kinds, strict=True))
    passed = iter(
        [value for value, kind in pairs if not isinstance(kind, (CompileTime, PythonNumber))]
    )
    if not any(compiled.launch_uses):
        return tuple(passed)
    parts = zip(names, kinds, values, strict=True)
    numbers = {name: value for name, kind, value in parts if isinstance(kind, PythonNumber)}
    uses = compiled.launch_uses
    return tuple(
        next(passed) if use is None else use.argument(compiled.name, numbers) for use in uses
    )


# In the order of preference where they allow the same occupancy: 256 work-items suit most kernels.
_BLOCKS = (256, 128, 512, 1024, 64)


def choose_block(loaded: Loaded, target: Target, dynamic_lds: int) -> tuple[int, int, int]:
    """Return the one-dimensional block that lets a SIMD hold the most waves of the kernel."""
    required = loaded.compiled.options.required_workgroup_size
    if required is not None:
        return required
    wave = loaded.compiled.options.wave_size
    lds = loaded.static_lds + dynamic_lds
    fitting = [size for size in _BLOCKS if size <= loaded.max_workgroup_size] or [
        loaded.max_workgroup_size
    ]
    resources = importlib.import_module("amdjit.code_object.resources")
    best = max(fitting, key=lambda size: resources.waves_by_lds(lds, -(-size // wave), target))
    return best, 1, 1
