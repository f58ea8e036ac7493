"""Launches as users configure them: a kernel with a grid, or over n work-items."""

from __future__ import annotations

from collections.abc import Sequence
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

import numpy as np

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.profiling import DEBUGGERS, PROFILES, RECORDERS, Calling
from amdjit.checking.sanitizing import ACTIVE
from amdjit.checking.simulating import SIMULATIONS
from amdjit.devices import current_device
from amdjit.diagnostics import KernelFault, LaunchError
from amdjit.late import late
from amdjit.launching import residence, simulated_launches
from amdjit.launching.prepared import PreparedLaunch, prepare
from amdjit.launching.quick_launches import BoundLaunch, ConfiguredCall, QuickCalls
from amdjit.launching.specialisations import Loaded
from amdjit.options import CompileOptions
from amdjit.runtime.device import Device
from amdjit.runtime.place import PLACE, Place, StreamOfDevice, is_captured
from amdjit.runtime.streams import Stream
from amdjit.target import Target

if TYPE_CHECKING:
    from typing_extensions import Self

    from amdjit.code_object import resources
    from amdjit.runtime import sanitized
else:
    resources = late("amdjit.code_object.resources")
    sanitized = late("amdjit.runtime.sanitized")

__all__ = ["ForAll", "Launcher"]

# A program that calls one launcher again and again does so for few specialisations, devices and
# streams.
_MOST_CONFIGURED = 8
# In the order of preference where they allow the same occupancy: 256 work-items suit most kernels.
_BLOCKS = (256, 128, 512, 1024, 64)


class _Launches:
    """A kernel with a stream and a configuration: the base of both kinds of launchers.

    is_constant: whether the grid cannot change. configured: earlier calls, the newest first.

    A call is first offered to this launcher's earlier calls (`ConfiguredCall`), which decline
    unless they are certain that it is like them, and then to those of the kernel's other launchers
    (`QuickCalls`). If all decline, the call is prepared in full (`prepared.prepare`), and later
    calls like it are quick.
    """

    __slots__ = ("_calls", "_configured", "_cooperative", "_dynamic_lds", "_is_constant", "_stream")

    def __init__(
        self,
        calls: QuickCalls,
        stream: Stream | None,
        dynamic_lds: int,
        cooperative: bool,
        is_constant: bool,
        configured: list[ConfiguredCall] | None = None,
    ) -> None:
        self._calls, self._stream = calls, stream
        self._dynamic_lds, self._cooperative = dynamic_lds, cooperative
        self._is_constant = (
            is_constant and not cooperative and (stream is None or isinstance(stream, Stream))
        )
        self._configured = [] if configured is None else configured

    @classmethod
    def of_kernel(cls, kernel: Any, *configuration: Any) -> Self:
        """Return a launcher of a kernel: what `configuration` of one says."""
        return cls(kernel.quick_calls, *configuration)

    def configuration(self) -> tuple[Any, ...]:
        """Return the arguments that make such a launcher, after the kernel's calls."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it in another process, where the kernel is found or made.

        PicklingError for a launch in a stream, which is of this process.
        """
        if self._stream is not None:
            raise PicklingError(f"{self!r} cannot be pickled: its stream is of this process")
        return self.of_kernel, (self._calls.owner, *self.configuration())

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Launch the kernel.

        NumPy arrays are copied to the device and, where the kernel writes them, back. Where all
        arrays are DeviceArrays, the call may return before the kernel has ended.
        """
        is_watched = (
            ACTIVE.get()
            or PROFILES.get()
            or RECORDERS.get()
            or DEBUGGERS.get()
            or SIMULATIONS.get()
        )
        may_be_quick = self._is_constant and not (keywords or is_watched)
        if may_be_quick:
            stream: StreamOfDevice | None = self._stream
            place = PLACE.get()
            if place is None:
                device = current_device() if stream is None else stream.device
            else:
                device, current = place  # refused in functions that streams call
                if stream is None:
                    stream = current
                else:
                    device = stream.device
            target = device if stream is None else stream
            may_be_quick = stream is None or not is_captured(stream.handle)
        if may_be_quick:
            try:
                for configured in self._configured:
                    if configured.place() is target and configured.launch(device, arguments):
                        return
                if self._launch_as_known(device, target, arguments):
                    return
            except KernelFault as fault:
                self._locate(fault, arguments)
                raise
        self._launch(arguments, keywords, may_be_quick)

    def bind(self, *arguments: Any, **keywords: Any) -> BoundLaunch:
        """Fix the arguments as well: `launch = kernel[grid, block].bind(...)`, then `launch()`.

        The call is checked and the kernel compiled here. The arrays are DeviceArrays, which the
        result keeps alive; LaunchError for NumPy arrays, which each launch would have to copy.
        """
        if simulated_launches.is_simulated(self._calls.kernel):
            raise simulated_launches.refuse("bind(...)")
        place = PLACE.get() or Place(current_device())
        stream: Any = self._stream if self._stream is not None else place.stream

        def prepare_again() -> tuple[PreparedLaunch, LaunchShape]:
            token = PLACE.set(place)
            try:
                prepared = prepare(self._calls.kernel, arguments, keywords, stream)
            finally:
                PLACE.reset(token)
            return prepared, self._shape(prepared.loaded, prepared.device)

        def launch_on(another: Stream | None) -> None:
            self._on(another)(*arguments, **keywords)

        return BoundLaunch(prepare_again, launch_on)

    def _shape(self, loaded: Loaded, device: Device) -> LaunchShape:
        """Return the checked shape of a launch of a specialisation."""
        raise NotImplementedError

    def _extents(self, options: CompileOptions) -> tuple[Any, Any]:
        """Return the grid and block of a launch that runs no compiled code."""
        raise NotImplementedError

    def _on(self, stream: Stream | None) -> _Launches:
        """Return the same launches on another stream."""
        raise NotImplementedError

    def _launch(self, arguments: tuple[Any, ...], keywords: dict[str, Any], learns: bool) -> None:
        """Prepare the call in full, which finds all mistakes, and launch."""
        kernel = self._calls.kernel
        if simulated_launches.is_simulated(kernel):
            call = arguments, keywords, self._stream
            simulated_launches.launch(kernel, *call, self._extents, self._dynamic_lds)
            return
        prepared = prepare(self._calls.kernel, arguments, keywords, self._stream)
        shape = self._shape(prepared.loaded, prepared.device)
        for block in (*PROFILES.get(), *DEBUGGERS.get()):
            block.calling(self._calling(arguments, keywords, shape, prepared))
        prepared.launch(shape)
        if learns:
            self._calls.learn(prepared, arguments)

    def calling(self, *arguments: Any, **keywords: Any) -> Calling:
        """Return what a launch with these arguments would be. Nothing runs."""
        if simulated_launches.is_simulated(self._calls.kernel):
            raise simulated_launches.refuse("amdjit.debug(...)")
        prepared = prepare(self._calls.kernel, arguments, keywords, self._stream)
        shape = self._shape(prepared.loaded, prepared.device)
        return self._calling(arguments, keywords, shape, prepared)

    def _calling(
        self,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        shape: LaunchShape,
        prepared: PreparedLaunch,
    ) -> Calling:
        kernel = self._calls.kernel
        bound = kernel.signature.bind(arguments, keywords)
        return Calling(
            kernel.specialisations.function,
            kernel.specialisations.options.given,
            arguments=dict(zip(kernel.signature.names, bound, strict=True)),
            shape=shape,
            device=prepared.device,
            inspect=prepared.loaded.compiled.inspect,
            only_once=prepared.only_once,
        )

    def _launch_as_known(
        self, device: Device, target: Device | StreamOfDevice, arguments: Sequence[Any]
    ) -> bool:
        """Launch if the call is like one of another launcher; return whether it was launched."""
        for quick in self._calls.known:
            if quick.device() is not device:
                continue
            try:
                shape = self._shape(quick.loaded, device)
            except LaunchError:
                return False  # `prepare` reports mistakes in the arguments before those in the grid
            configured = ConfiguredCall(quick, target, shape)
            if configured.launch(device, arguments):
                self._configured.insert(0, configured)
                del self._configured[_MOST_CONFIGURED:]
                return True
        return False

    def _locate(self, fault: KernelFault, arguments: tuple[Any, ...]) -> None:
        prepared = prepare(self._calls.kernel, arguments, {}, self._stream)
        sanitized.locate(fault, prepared.arrays())


class Launcher(_Launches):
    """A kernel with a grid and a block: call it with the arguments."""

    __slots__ = ("_block", "_grid")

    def __init__(
        self,
        calls: QuickCalls,
        grid: Any,
        block: Any,
        stream: Stream | None = None,
        dynamic_lds: int = 0,
        cooperative: bool = False,
        configured: list[ConfiguredCall] | None = None,
    ) -> None:
        is_constant = configured is not None or all(map(_is_constant, (grid, block, dynamic_lds)))
        super().__init__(
            calls,
            stream,
            dynamic_lds=dynamic_lds,
            cooperative=cooperative,
            is_constant=is_constant,
            configured=configured,
        )
        self._grid, self._block = grid, block

    def __repr__(self) -> str:
        name = self._calls.kernel.signature.kernel
        size = f"grid {self._grid}, block {self._block}"
        return f"<launch of {name}, {size}, to be called with its arguments>"

    def configuration(self) -> tuple[Any, ...]:
        """Return the grid, the block, no stream, the dynamic LDS, and whether it is cooperative."""
        return self._grid, self._block, None, self._dynamic_lds, self._cooperative

    def _on(self, stream: Stream | None) -> Launcher:
        extents = self._grid, self._block
        return Launcher(self._calls, *extents, stream, self._dynamic_lds, self._cooperative)

    def _extents(self, options: CompileOptions) -> tuple[Any, Any]:
        return self._grid, self._block

    def _shape(self, loaded: Loaded, device: Device) -> LaunchShape:
        extents = self._grid, self._block
        return loaded.check(*extents, self._dynamic_lds, device.target, self._cooperative)


class ForAll(_Launches):
    """A kernel over `n` work-items: call it with the arguments, as `kernel[grid, block]`.

    Nothing runs for n = 0.
    """

    __slots__ = ("_grid_stride", "_n")

    def __init__(
        self,
        calls: QuickCalls,
        n: int,
        stream: Stream | None = None,
        dynamic_lds: int = 0,
        grid_stride: bool = False,
    ) -> None:
        is_constant = _is_constant(n) and _is_constant(dynamic_lds) and n > 0
        super().__init__(calls, stream, dynamic_lds, False, is_constant)
        self._n, self._grid_stride = n, grid_stride

    def __repr__(self) -> str:
        name = self._calls.kernel.signature.kernel
        return f"<launch of {name} over {self._n} work-items, to be called with its arguments>"

    def _launch(self, arguments: tuple[Any, ...], keywords: dict[str, Any], learns: bool) -> None:
        kernel = self._calls.kernel
        if self._n < 0:
            name = kernel.signature.kernel
            raise LaunchError(f"{name}.forall({self._n}): n counts work-items and is at least 0")
        if self._n > 0:
            super()._launch(arguments, keywords, learns)
        elif not simulated_launches.is_simulated(kernel):
            prepare(kernel, arguments, keywords, self._stream)  # finds mistakes in the call

    def configuration(self) -> tuple[Any, ...]:
        """Return the number of work-items, no stream, the dynamic LDS, and whether the grid may be
        smaller."""
        return self._n, None, self._dynamic_lds, self._grid_stride

    def _on(self, stream: Stream | None) -> ForAll:
        return ForAll(self._calls, self._n, stream, self._dynamic_lds, self._grid_stride)

    def _extents(self, options: CompileOptions) -> tuple[Any, Any]:
        required = options.required_workgroup_size
        block = required or (min(_BLOCKS[0], options.max_workgroup_size), 1, 1)
        return -(-self._n // block[0]), block

    def _shape(self, loaded: Loaded, device: Device) -> LaunchShape:
        block = _choose_block(loaded, device.target, self._dynamic_lds)
        grid = -(-self._n // block[0])
        if self._grid_stride:
            compiled = loaded.compiled
            residence.check_strides(compiled)
            most = residence.resident_workgroups(compiled, device, block, self._dynamic_lds)
            grid = min(grid, most)
        return loaded.check(grid, block, self._dynamic_lds, device.target)


def _is_constant(extent: object) -> bool:
    """Whether a grid or block cannot change after it was given."""
    entries = extent if isinstance(extent, tuple) else (extent,)
    return all(isinstance(entry, (int, np.integer)) for entry in entries)


def _choose_block(loaded: Loaded, target: Target, dynamic_lds: int) -> tuple[int, int, int]:
    """Return the one-dimensional block that lets a SIMD hold the most waves of the kernel."""
    required = loaded.compiled.options.required_workgroup_size
    if required is not None:
        return required
    wave_size = loaded.compiled.options.wave_size
    lds = loaded.static_lds + dynamic_lds
    fitting = [size for size in _BLOCKS if size <= loaded.max_workgroup_size]
    best = max(
        fitting or [loaded.max_workgroup_size],
        key=lambda size: resources.waves_by_lds(lds, -(-size // wave_size), target),
    )
    return best, 1, 1
