"""A launch, from the user's call to the results, as a sequence of stages, each made from the one
before:

    call             arguments as the user wrote them
    bound arguments  one value for each parameter                 Signature.bind
    leaves           records taken apart into single values       leaves_of
    own arrays       in place of those of other libraries         adopted
    staged values    arrays on the device in place of NumPy's     Staging
    types            what the kernel is compiled for              argument_types
    specialisation   the code for these types, on the device      Specialisations.load
    passed values    Python's numbers computed and checked        passed_values
    kernarg          the bytes that the kernel reads              ArgumentPacker.pack
    launch           contents of host arrays copied, code run     PreparedLaunch.launch
    results          what the kernel wrote copied back            Staging.download

`prepare` does the stages up to the passed values, so that mistakes in a call are found before
anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.abi.reports import ReportTable
from amdjit.checking.profiling import RECORDERS
from amdjit.checking.sanitizing import ACTIVE
from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.diagnostics import KernelFault, TypeCheckError
from amdjit.frontend import CompileTime
from amdjit.language.launch_numbers import PythonNumber, TooWideError
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.launching.argument_types import argument_types, widened
from amdjit.launching.array_facts import sharing
from amdjit.launching.capture_checks import refuse_host_arrays, refuse_reports
from amdjit.launching.foreign_arguments import Order, adopted, own_stream, together
from amdjit.launching.outside_arrays import (
    NO_ARRAYS,
    OutsideArrays,
    found_arrays,
    sharing_memory,
)
from amdjit.launching.record_arguments import Leaves, assembled, leaves_of
from amdjit.launching.residence import check_cooperative
from amdjit.launching.signature import Signature
from amdjit.launching.specialisations import Loaded, Specialisations
from amdjit.options import Environment
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import CapturedLaunch, Device
from amdjit.runtime.host_copies import HostCopies
from amdjit.runtime.place import PLACE, Place, is_captured
from amdjit.runtime.reports import make_record, with_record
from amdjit.runtime.staging import Staging
from amdjit.runtime.streams import Stream, handle_of

if TYPE_CHECKING:
    from amdjit.checking import settings
    from amdjit.checking.array_places import ArrayArgument
    from amdjit.launching.explicit_signatures import ExplicitSignatures
    from amdjit.runtime import ranges, recording, sanitized
    from amdjit.runtime.recording import RecordedLaunch
else:
    recording = late("amdjit.runtime.recording")
    ranges = late("amdjit.runtime.ranges")
    # Loaded only if launches are checked or one has failed: most programs need none of it.
    settings = late("amdjit.checking.settings")
    sanitized = late("amdjit.runtime.sanitized")

__all__ = ["LaunchableKernel", "PreparedLaunch", "prepare"]


@dataclass(frozen=True, slots=True)
class LaunchableKernel:
    """What all launches of a kernel share."""

    signature: Signature
    specialisations: Specialisations
    host_copies: HostCopies
    """Counts launches that copied the same host arrays, for warnings."""
    explicit: ExplicitSignatures | None = None
    """The only signatures that launches may have, if the decorator lists some; otherwise None."""


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """The code of a launch and the values to pass to it, before anything is copied or run."""

    device: Device
    stream: Stream | None
    loaded: Loaded
    """The specialisation for the arguments, on the device."""
    staging: Staging
    """The arguments with arrays on the device in place of NumPy's, and what is to be copied."""
    values: tuple[Any, ...]
    """The values that the kernel gets, not yet packed."""
    environment: Environment
    kernel: LaunchableKernel
    order: Order | None
    """The streams of other libraries to synchronise with, if their arrays are arguments."""
    leaves: Leaves
    """The arguments as the user gave them, records taken apart."""
    kinds: tuple[Argument, ...]
    """The types of the arguments. The specialisation may have wider types for Python's integers."""
    outside: OutsideArrays = NO_ARRAYS
    """The arrays outside the kernel that it reads."""

    def __repr__(self) -> str:
        return f"<prepared launch of {self.loaded.compiled.signature} on {self.device.name}>"

    @property
    def only_once(self) -> str:
        """Why the launch cannot be repeated with copies of its arguments, "" if it can."""
        for name, is_written in zip(self.outside.names, self.outside.written, strict=True):
            if is_written:
                return f"it writes {name}, an array from outside the kernel"
        pairs = zip(self.leaves.values, self.staging.arguments, strict=True)
        unlike = {id(given): staged for given, staged in pairs}.values()
        if sharing([*unlike, *self.outside.arrays]):
            return "arrays of it share memory"
        return ""

    def launch(self, shape: LaunchShape) -> None:
        """Copy arrays to the device, run the kernel, copy what it wrote back.

        shape: as `Loaded.check` returns it."""
        if shape.cooperative:
            check_cooperative(self.loaded.compiled, self.device, shape)
        if self.environment.roctx:
            ranges.announce_missing()
            with ranges.named_range(self.kernel.signature.kernel):
                self._launch(shape)
        else:
            self._launch(shape)

    def _launch(self, shape: LaunchShape) -> None:
        loaded = self.loaded
        kernarg = loaded.packer.pack(self.values)
        handle = handle_of(self.stream, self.device)
        if is_captured(handle):
            self._record(shape, kernarg, handle)
            return
        if self.order is not None:
            self.order.wait(handle)
        self.staging.upload(self.stream)
        if RECORDERS.get() or self.environment.record:
            self._write_down(shape, kernarg, handle)
        if loaded.compiled.reports is None:
            self._start(shape, kernarg, handle)
        else:
            self._start_reporting(loaded.compiled.reports, shape, kernarg, handle)
        if self.order is not None:
            self.order.release(handle)
        if self.staging.has_host_arrays:
            self._bring_back(handle)

    def recorded(self, shape: LaunchShape) -> RecordedLaunch:
        """Return the launch as it would start now; nothing runs. Its code keeps the paths of
        files."""
        handle = handle_of(self.stream, self.device)
        self.staging.upload(self.stream)
        compiled = self.loaded.compiled
        return recording.describe(
            compiled.name,
            self.device.name,
            compiled.code_object,
            shape,
            bytes(self.loaded.packer.pack(self.values)),
            statements=_statements(compiled.reports, lambda file: file),
            spans=self._spans(),
            arrays=self.arrays(),
            read=self._reader(handle),
        )

    def _reader(self, handle: Any) -> Callable[[int, int], bytes]:
        def read(address: int, nbytes: int) -> bytes:
            contents = bytearray(nbytes)
            self.device.copy_to_host(memoryview(contents), address, handle)
            return bytes(contents)

        return read

    def _spans(self) -> list[tuple[int, int]]:
        """Return the addresses and sizes of the memory that the launch may access."""
        passed = [each for each in self.staging.arguments if isinstance(each, DeviceArray)]
        return [each.allocation for each in (*passed, *self.outside.arrays)]

    def _write_down(self, shape: LaunchShape, kernarg: bytearray, handle: Any) -> None:
        """Write the launch to files, with the memory that it may access."""
        compiled = self.loaded.compiled
        for recorder in recording.recorders(self.environment.record):
            recorder.launching(
                compiled.name,
                self.device.name,
                compiled.code_object,
                shape,
                bytes(kernarg),
                statements=_statements(compiled.reports, lambda file: PurePath(file).name),
                spans=self._spans(),
                arrays=self.arrays(),
                read=self._reader(handle),
            )

    def _record(self, shape: LaunchShape, kernarg: bytearray, handle: Any) -> None:
        """Record the launch in a stream that is being captured."""
        launch = self._captured(shape, kernarg)
        self.device.launch(self.loaded.function, shape, kernarg, handle)
        handle.capture.note(handle, launch)

    def _captured(self, shape: LaunchShape, kernarg: bytearray) -> CapturedLaunch:
        refuse_reports(self.loaded.compiled, self.environment)
        arguments = dict(zip(self.staging.names, self.staging.arguments, strict=True))
        passed = [value for value in arguments.values() if isinstance(value, DeviceArray)]
        arrays = (*passed, *self.outside.arrays)
        return CapturedLaunch(
            function=self.loaded.function,
            shape=shape,
            kernarg=kernarg,
            arguments=arguments,
            arrays=arrays,
            again=partial(self._again, shape),
            explain=self._explain,
        )

    def _again(self, shape: LaunchShape, arguments: Sequence[Any]) -> CapturedLaunch:
        """Return the launch with other arguments, compiled for their types if necessary."""
        token = PLACE.set(Place(self.device))
        try:
            prepared = prepare(self.kernel, tuple(arguments), {}, None, for_graph=True)
        finally:
            PLACE.reset(token)
        loaded = prepared.loaded
        again = loaded.check(*shape[:3], self.device.target, shape.cooperative)
        return prepared._captured(again, loaded.packer.pack(prepared.values))

    def _explain(self, fault: KernelFault) -> None:
        sanitized.locate(fault, self.arrays())

    def _start(self, shape: LaunchShape, kernarg: bytearray, handle: Any) -> None:
        """Start the kernel, with the checks that are on."""
        device, function = self.device, self.loaded.function
        option = self.loaded.compiled.options.sanitize
        try:
            if option or self.environment.sanitize or ACTIVE.get():
                settings.launch_checked(
                    lambda request: device.launch_sanitized(
                        function, shape, kernarg, request, handle
                    ),
                    option,
                    self.environment,
                    self.arrays(),
                )
            else:
                device.launch(function, shape, kernarg, handle)
        except KernelFault as fault:
            sanitized.locate(fault, self.arrays())
            raise

    def arrays(self) -> list[ArrayArgument]:
        """Return the arrays that the kernel gets, for reports."""
        staging = self.staging
        arguments = sanitized.array_arguments(staging.names, staging.arguments, self.loaded.written)
        outside = self.outside
        arguments += sanitized.array_arguments(outside.names, outside.arrays, outside.written)
        return arguments + self.loaded.shared_arrays

    def _start_reporting(
        self, table: ReportTable, shape: LaunchShape, kernarg: bytearray, handle: Any
    ) -> None:
        """Start a kernel that prints or asserts: it gets a record, which is read afterwards."""
        compiled, device = self.loaded.compiled, self.device
        options = compiled.options
        record = make_record(
            kernel=compiled.name,
            table=table,
            device=device,
            block=shape.block,
            wave_size=options.wave_size,
            print_buffer=options.print_buffer,
            stream=handle,
            # Checks follow allocations, and would report a record that is kept for later as a leak.
            is_kept=not (options.sanitize or self.environment.sanitize or ACTIVE.get()),
        )
        try:
            self._start(shape, with_record(kernarg, record), handle)
        except KernelFault:
            # Print what was printed before the fault. If an assertion failed as well, its message
            # says more than the fault.
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


def _statements(
    reports: ReportTable | None, named: Callable[[str], str]
) -> tuple[tuple[str, str, int], ...] | None:
    """Return the statements that may stop a kernel, None if it reports nothing. named: returns the
    name of a file."""
    if reports is None:
        return None
    return tuple((each.kind, named(each.file), each.line) for each in reports.faults)


def prepare(
    kernel: LaunchableKernel,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    stream: Stream | None,
    for_graph: bool = False,
) -> PreparedLaunch:
    """Choose the device and the specialisation for a call, and place its arrays; nothing runs yet.

    for_graph: the call is to be made by a graph, as all in a captured stream are. A warning about
    copied arrays names the line three calls above.
    """
    signature, specialisations = kernel.signature, kernel.specialisations
    options = specialisations.options
    bound = signature.bind(arguments, keywords)
    stream, device = own_stream(stream)
    annotations = signature.known_annotations
    if kernel.explicit is not None:
        annotations, bound = kernel.explicit.choose(bound)
    elif annotations is None:
        annotations = signature.annotations(options.complete(device.target))
    try:
        leaves = leaves_of(signature.kernel, signature.names, annotations, bound)
        for_graph = for_graph or is_captured(handle_of(stream, device))
        device, order = adopted(signature.kernel, leaves, device, stream, for_graph)
        if for_graph:
            refuse_host_arrays(leaves.names, leaves.values, leaves.by_value)
        staging = Staging(device, leaves.names, leaves.values, leaves.by_value, stream)
        types = argument_types(signature.kernel, leaves, staging.arguments, options.number_widths)
    except TypeCheckError as failure:
        raise signature.at_annotation(failure) from None
    types, loaded, values, outside = _specialised(
        specialisations, device, leaves, types, staging.arguments, stream, for_graph
    )
    if staging.has_host_arrays and specialisations.warns(loaded.compiled.options):
        kernel.host_copies.note(staging.host_places, callers=4)
    staging.check_writable(loaded.written)
    return PreparedLaunch(
        device=device,
        stream=stream,
        loaded=loaded,
        staging=staging,
        values=values,
        environment=options.environment,
        kernel=kernel,
        order=together(order, outside.order),
        leaves=leaves,
        kinds=types,
        outside=outside,
    )


def _specialised(
    specialisations: Specialisations,
    device: Device,
    leaves: Leaves,
    types: tuple[Argument, ...],
    staged: Sequence[Any],
    stream: Stream | None,
    for_graph: bool,
) -> tuple[tuple[Argument, ...], Loaded, tuple[Any, ...], OutsideArrays]:
    """Return the types of a launch's arguments, its specialisation, the values to pass to that, and
    the arrays that it reads from outside.

    These may share memory with arguments that were assumed to be distinct. Only the specialisation
    tells that; then another specialisation is used.
    """
    loaded, values = _loaded(specialisations, device, leaves, types, staged)
    outside = found_arrays(loaded.compiled, device, stream, for_graph)
    overlapping = sharing_memory(types, staged, outside)
    if overlapping is None:
        return types, loaded, outside.among(loaded.compiled, values), outside
    loaded, values = _loaded(specialisations, device, leaves, overlapping, staged)
    outside = found_arrays(loaded.compiled, device, stream, for_graph)
    return overlapping, loaded, outside.among(loaded.compiled, values), outside


def _loaded(
    specialisations: Specialisations,
    device: Device,
    leaves: Leaves,
    types: tuple[Argument, ...],
    staged: Sequence[Any],
) -> tuple[Loaded, tuple[Any, ...]]:
    """Return the specialisation for some types and the values to pass to it.

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
