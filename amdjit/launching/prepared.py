"""A launch, from the user's call to the results: one line of stages, each made of the one before.

    call             arguments as the user wrote them
    bound arguments  one value for each parameter                 Signature.bind
    leaves           records taken apart into single values       leaves_of
    staged values    arrays on the device in place of NumPy's     Staging
    types            what the kernel is compiled for              argument_types
    specialisation   the code for these types, on the device      Specialisations.load
    passed values    Python's numbers computed and checked        passed_values
    kernarg          the bytes that the kernel reads              ArgumentPacker.pack
    launch           contents of host arrays copied, code run     PreparedLaunch.launch
    results          what the kernel wrote copied back            Staging.download

`prepare` goes as far as the passed values, so that mistakes in a call are found before anything
runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amdjit.abi.reports import ReportTable
from amdjit.checking.sanitizing import ACTIVE
from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.devices import current_device
from amdjit.diagnostics import KernelFault, TypeCheckError
from amdjit.frontend import CompileTime
from amdjit.language.launch_numbers import PythonNumber, TooWideError
from amdjit.late import late
from amdjit.launching.argument_types import argument_types, widened
from amdjit.launching.record_arguments import Leaves, assembled, leaves_of
from amdjit.launching.signature import Signature
from amdjit.launching.specialisations import Loaded, Specialisations
from amdjit.options import Environment
from amdjit.runtime.device import Device
from amdjit.runtime.host_copies import HostCopies
from amdjit.runtime.launch import LaunchShape, check_launch
from amdjit.runtime.reports import make_record, with_record
from amdjit.runtime.staging import Staging
from amdjit.runtime.streams import Stream, handle_of

if TYPE_CHECKING:
    from amdjit.checking.array_places import ArrayArgument
    from amdjit.runtime import sanitized
else:
    # Loaded where launches are checked, or one has failed.
    sanitized = late("amdjit.runtime.sanitized")

__all__ = ["LaunchableKernel", "PreparedLaunch", "prepare"]


@dataclass(frozen=True, slots=True)
class LaunchableKernel:
    """What all launches of a kernel share."""

    signature: Signature
    specialisations: Specialisations
    host_copies: HostCopies


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """The code of a launch and the values to pass to it; nothing has run, nothing is copied."""

    device: Device
    stream: Stream | None
    loaded: Loaded
    staging: Staging
    values: tuple[Any, ...]
    environment: Environment

    def launch(self, grid: Any, block: Any, dynamic_lds: int) -> None:
        """Check the grid, copy arrays to the device, run the kernel, copy what it wrote back."""
        loaded = self.loaded
        shape = check_launch(
            grid,
            block,
            dynamic_lds,
            self.device.target,
            loaded.max_workgroup_size,
            loaded.static_lds,
            loaded.compiled.options.required_workgroup_size,
        )
        kernarg = loaded.packer.pack(self.values)
        self.staging.upload(self.stream)
        handle = handle_of(self.stream, self.device)
        if loaded.compiled.reports is None:
            self._start(shape, dynamic_lds, kernarg, handle)
        else:
            self._start_reporting(loaded.compiled.reports, shape, dynamic_lds, kernarg, handle)
        if self.staging.has_host_arrays:
            self._bring_back(handle)

    def _start(self, shape: LaunchShape, dynamic_lds: int, kernarg: bytearray, handle: Any) -> None:
        """Start the kernel, with the checks that are on."""
        function = self.loaded.function
        option = self.loaded.compiled.options.sanitize
        try:
            if not (option or self.environment.sanitize or ACTIVE.get()):
                self.device.launch(function, shape.grid, shape.block, dynamic_lds, kernarg, handle)
                return
            call = (function, shape.grid, shape.block, dynamic_lds, kernarg)
            sanitized.launch(self.device, call, option, self.environment, self._arrays(), handle)
        except KernelFault as fault:
            sanitized.locate(fault, self._arrays())
            raise

    def _arrays(self) -> list[ArrayArgument]:
        staging = self.staging
        arguments = sanitized.array_arguments(staging.names, staging.arguments, self.loaded.written)
        return arguments + self.loaded.shared_arrays

    def _start_reporting(
        self,
        table: ReportTable,
        shape: LaunchShape,
        dynamic_lds: int,
        kernarg: bytearray,
        handle: Any,
    ) -> None:
        """Start a kernel that prints or asserts: it gets a record, which is read afterwards."""
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
        try:
            self._start(shape, dynamic_lds, with_record(kernarg, record), handle)
        except KernelFault:
            # What was printed before the fault; an assertion that failed as well says more.
            record.tell(handle)
            raise
        device.when_done(lambda: record.tell(handle), handle)

    def _bring_back(self, handle: Any) -> None:
        """Wait for the launch and copy to the host arrays what the kernel wrote."""
        if handle is None:
            self.device.synchronize()
        elif self.loaded.compiled.reports is not None:
            self.device.synchronize_stream(handle)
        self.staging.download(self.loaded.written, self.stream)


def prepare(
    kernel: LaunchableKernel,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    stream: Stream | None,
) -> PreparedLaunch:
    """Choose the device and the specialisation for a call, and place its arrays; nothing runs yet.

    A warning about copied arrays names the line of the caller's caller.
    """
    signature, specialisations = kernel.signature, kernel.specialisations
    bound = signature.bind(arguments, keywords)
    device = stream.device if isinstance(stream, Stream) else current_device()
    annotations = signature.known_annotations
    if annotations is None:
        annotations = signature.annotations(specialisations.options.complete(device.target))
    try:
        leaves = leaves_of(signature.kernel, signature.names, annotations, bound)
        staging = Staging(device, leaves.names, leaves.values, leaves.by_value)
        types = argument_types(signature.kernel, leaves, staging.arguments)
    except TypeCheckError as failure:
        raise signature.at_annotation(failure) from None
    loaded, values = _specialised(specialisations, device, leaves, types, staging.arguments)
    if staging.has_host_arrays and specialisations.warns(loaded.compiled.options):
        kernel.host_copies.note(staging.host_places, callers=3)
    staging.check_writable(loaded.written)
    environment = specialisations.options.environment
    return PreparedLaunch(device, stream, loaded, staging, values, environment)


def _specialised(
    specialisations: Specialisations,
    device: Device,
    leaves: Leaves,
    types: tuple[Argument, ...],
    staged: Sequence[Any],
) -> tuple[Loaded, tuple[Any, ...]]:
    """Return the specialisation of a launch and the values to pass to it.

    Python's integers are i32, or i64 if a value that is computed from them alone does not fit an
    i32.
    """
    loaded = specialisations.load(device, assembled(leaves.shapes, types))
    try:
        return loaded, passed_values(loaded.compiled, leaves.names, types, staged)
    except TooWideError:
        wider = widened(types)
        if wider is None:
            raise
    loaded = specialisations.load(device, assembled(leaves.shapes, wider))
    return loaded, passed_values(loaded.compiled, leaves.names, wider, staged)


def passed_values(
    compiled: CompiledKernel, names: Sequence[str], types: Sequence[Argument], values: Sequence[Any]
) -> tuple[Any, ...]:
    """Return the values that a launch passes: its arguments, and numbers computed from Python's.

    Those take the place of Python's own numbers. LaunchError for a number that does not fit the
    type in which the kernel uses it.
    """
    pairs = zip(values, types, strict=True)
    passed = [value for value, kind in pairs if not isinstance(kind, (CompileTime, PythonNumber))]
    uses = compiled.launch_uses
    if not any(uses):
        return tuple(passed)
    parts = zip(names, types, values, strict=True)
    numbers = {name: value for name, kind, value in parts if isinstance(kind, PythonNumber)}
    remaining = iter(passed)
    return tuple(
        next(remaining) if use is None else use.argument(compiled.name, numbers) for use in uses
    )
