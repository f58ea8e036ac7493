"""Launches that repeat an earlier one, which need not be prepared again.

A launch consists of a configuration (grid, block, stream, dynamic LDS), the types of its arguments,
for which there is a specialisation, and the arguments. The more of these are the same, the less is
left to do:

    the same as before       stored as                          what is left to do
    the configuration        a launcher, by `LauncherCache`     prepare the call
    the types                a `QuickCall`, by `QuickCalls`     recognise and pack it, in a new slot
    both                     a `ConfiguredCall`, by a launcher  recognise and pack it
    both, and the arguments  the user's `BoundLaunch`           check what the kernel read outside

A slot is a launch that is complete on its device except for the arguments
(`amdjit.runtime.device.LaunchSlot`). Two functions that are generated for a specialisation
(`quick_source`) compare a launch with the earlier one: `pack` compares the arguments of a call, and
`is_current` what the kernel read from outside when it was compiled. Both return False unless they
are certain. Then the launch is prepared in full (`prepared.prepare`), which finds all mistakes.
Therefore nothing has to be invalidated when something changes. The number of stored launches is
limited, and they refer to devices and streams weakly.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.profiling import PROFILES, RECORDERS
from amdjit.checking.sanitizing import ACTIVE
from amdjit.diagnostics import KernelFault, LaunchError
from amdjit.forking import Lock
from amdjit.frontend import OutsideArray
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.launching.dropped_launchers import warn_if_dropped
from amdjit.launching.prepared import LaunchableKernel, PreparedLaunch
from amdjit.launching.quick_source import NotQuickError, is_current_source, pack_source
from amdjit.launching.residence import waits_for_grid
from amdjit.launching.specialisations import Loaded
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device, LaunchSlot
from amdjit.runtime.place import PLACE, Place, StreamOfDevice, is_captured
from amdjit.runtime.streams import Stream, handle_of

if TYPE_CHECKING:
    from amdjit.runtime import sanitized
else:
    sanitized = late("amdjit.runtime.sanitized")

__all__ = ["BoundLaunch", "ConfiguredCall", "LauncherCache", "QuickCalls"]

# The kernel's two kinds of launchers, `launchers.Launcher` and `launchers.ForAll`, or those of a
# class of kernels that has its own.
Launcher = TypeVar("Launcher")
ForAll = TypeVar("ForAll")

# Programs have few grids, or another one each time.
_MOST_LAUNCHERS = 256
# Kernels have few combinations of argument types. Of more than this many, the oldest are prepared
# in full again.
_MOST_CALLS = 8
# How many of a kernel's first launches are examined for a forgotten call (`dropped_launchers`):
# programs repeat their lines, and examining costs time.
_WATCHED = 64

# Prepares the call and checks its grid; launches it on a stream.
Prepare = Callable[[], tuple[PreparedLaunch, LaunchShape]]
LaunchOn = Callable[[Stream | None], None]


@dataclass(frozen=True, slots=True)
class QuickCall:
    """The calls of one specialisation on one device, with the same arrays sharing memory."""

    device: weakref.ref[Device]
    loaded: Loaded
    pack: Callable[..., bool]
    """The function of `quick_source`. It returns True if the call is one of these, after writing
    the arguments to the slot."""


class QuickCalls:
    """The calls of a kernel that are recognised. owner: the kernel as users have it."""

    def __init__(self, kernel: LaunchableKernel, owner: Any) -> None:
        self.kernel = kernel
        self.owner = owner
        self.known: tuple[QuickCall, ...] = ()
        """The newest first."""
        self._lock = Lock()

    def learn(self, prepared: PreparedLaunch, arguments: Sequence[Any]) -> None:
        """Make later calls like this one quick, if possible. It has been launched."""
        values = prepared.leaves.values
        is_as_given = len(arguments) == len(values) and all(map(operator.is_, arguments, values))
        if not is_as_given or needs_full_launch(prepared):
            return  # other libraries' arrays, records, default values
        try:
            pack = _pack(prepared)
        except NotQuickError:
            return
        call = QuickCall(weakref.ref(prepared.device), prepared.loaded, pack)
        with self._lock:
            self.known = (call, *self.known[: _MOST_CALLS - 1])


class ConfiguredCall:
    """The calls of one specialisation with one grid, on one stream.

    place: a weak reference to the stream, or to the device for its default stream.
    """

    __slots__ = ("_idle", "_pack", "_shape", "place", "quick")

    def __init__(
        self, quick: QuickCall, place: Device | StreamOfDevice, shape: LaunchShape
    ) -> None:
        self.quick = quick
        # A kernel outlives devices and streams, and must not keep them alive.
        self.place: weakref.ref[Any] = weakref.ref(place)
        self._pack, self._shape = quick.pack, shape
        # Slots that no launch uses now. Appending to and popping from a list are atomic, so that
        # threads need no lock.
        self._idle: list[LaunchSlot] = []

    def launch(self, device: Device, arguments: Sequence[Any]) -> bool:
        """Launch if the call is one of these; return whether it was launched.

        HipError and KernelFault as the device raises them.
        """
        try:
            slot = self._idle.pop()
        except IndexError:
            slot = self._slot(device)
        try:
            fits = self._pack(slot, device, *arguments)
        except Exception:  # `prepare` finds it again, and raises an error that explains it
            fits = False
        if fits:
            code = slot.start()
            if code:
                slot.fail(code)
        self._idle.append(slot)
        return fits

    def _slot(self, device: Device) -> LaunchSlot:
        loaded, place = self.quick.loaded, self.place()
        handle = place.handle if isinstance(place, StreamOfDevice) else None
        return device.slot(loaded.function, self._shape, loaded.packer.nbytes, handle)


class LauncherCache(Generic[Launcher, ForAll]):
    """The launchers of one kernel by what is between the brackets of `kernel[...]`.

    It stores only launchers whose grid and block consist of Python's own integers: 1, 1.0 and True
    are the same key of a dict, but 1.0 is not a valid extent.
    """

    def __init__(
        self,
        calls: QuickCalls,
        launcher: Callable[..., Launcher],
        for_all: Callable[..., ForAll],
    ) -> None:
        """launcher, for_all: make a launcher of `calls` and a configuration."""
        self.calls = calls
        self._launcher, self._for_all = launcher, for_all
        self._by_grid: dict[tuple[Any, Any], Launcher] = {}
        self._by_size: dict[int, ForAll] = {}
        options = calls.kernel.specialisations.options
        warns = options.environment.warnings and options.given.get("warnings", True)
        self._watched = _WATCHED if warns else 0
        # A launcher holds its stream strongly, and would keep the key of this dict alive. So only
        # its configured calls are stored for a stream.
        self._on_streams: weakref.WeakKeyDictionary[Stream, dict[Any, list[ConfiguredCall]]] = (
            weakref.WeakKeyDictionary()
        )

    def get(self, launch: Any) -> Launcher:
        """Return the launcher of `kernel[launch]`; LaunchError if it has no grid and block."""
        if self._watched:
            self.watch()
        try:
            launcher = self._by_grid[launch]
        except (KeyError, TypeError):  # new, or a list
            return self._make(launch)
        grid, block = launch
        if (grid.__class__ is int or _is_plain(grid)) and (
            block.__class__ is int or _is_plain(block)
        ):
            return launcher
        return self._make(launch)

    def watch(self) -> None:
        """Warn if one of the first launches is configured by a statement that does not call it."""
        if self._watched:
            self._watched -= 1
            warn_if_dropped(self.calls.kernel.signature.kernel)

    def over(self, n: Any) -> ForAll:
        """Return the launcher of `kernel.forall(n)`."""
        if n.__class__ is not int:
            return self._for_all(self.calls, n)
        found = self._by_size.get(n)
        if found is None:
            _make_room(self._by_size)
            found = self._by_size[n] = self._for_all(self.calls, n)
        return found

    def _make(self, launch: Any) -> Launcher:
        if not isinstance(launch, tuple) or not 2 <= len(launch) <= 4:
            name = self.calls.kernel.signature.kernel
            raise LaunchError(
                f"{name}[{launch}]: write {name}[grid, block](...); a stream and the bytes of "
                "dynamic LDS may follow"
            )
        grid, block = launch[:2]
        stream = launch[2] if len(launch) > 2 else None
        dynamic_lds = launch[3] if len(launch) > 3 else 0
        if not (_is_plain(grid) and _is_plain(block) and dynamic_lds.__class__ is int):
            return self._launcher(self.calls, grid, block, stream, dynamic_lds)
        if isinstance(stream, Stream):
            configured = self._configured_on(stream, (grid, block, dynamic_lds))
            return self._launcher(
                self.calls, grid, block, stream, dynamic_lds, configured=configured
            )
        launcher = self._launcher(self.calls, grid, block, stream, dynamic_lds)
        if len(launch) == 2:
            _make_room(self._by_grid)
            self._by_grid[launch] = launcher
        return launcher

    def _configured_on(self, stream: Stream, key: Any) -> list[ConfiguredCall]:
        by_grid = self._on_streams.get(stream)
        if by_grid is None:
            by_grid = self._on_streams.setdefault(stream, {})
        configured = by_grid.get(key)
        if configured is None:
            _make_room(by_grid)
            configured = by_grid[key] = []
        return configured


def _make_room(kept: dict[Any, Any]) -> None:
    """Forget everything when too much is stored: the program has another grid each time."""
    if len(kept) >= _MOST_LAUNCHERS:
        kept.clear()


def _is_plain(extent: Any) -> bool:
    """Whether a grid or block is one of Python's integers, or a tuple of them."""
    return extent.__class__ is int or (
        extent.__class__ is tuple and all(entry.__class__ is int for entry in extent)
    )


class BoundLaunch:
    """A kernel with a grid, a stream and arguments: call it to launch it again.

    It launches on the device and the stream that it was made for. It keeps the arrays alive, and
    each launch sees their current content; all other arguments have the values that they had. If
    something that the kernel reads from outside has changed, the kernel is compiled again first.
    """

    __slots__ = ("_bound", "_launch_on", "_prepare")

    def __init__(self, prepare: Prepare, launch_on: LaunchOn) -> None:
        self._prepare, self._launch_on = prepare, launch_on
        self._bind()

    def __call__(self, stream: Stream | None = None) -> None:
        """Launch. stream: another stream of the same device, for this launch only.

        The call may return before the kernel has ended.
        """
        is_current, slot, prepared = self._bound
        place = PLACE.get()
        if place is not None:
            place.device  # noqa: B018  (refused in functions that streams call)
        if not is_current():
            self._bind()
            is_current, slot, prepared = self._bound
        own = prepared.stream
        is_plain = stream is None and (own is None or not is_captured(own.handle))
        if slot is None or not is_plain or ACTIVE.get() or PROFILES.get() or RECORDERS.get():
            self._launch_elsewhere(stream)
            return
        try:
            code = slot.start()
        except KernelFault as fault:
            sanitized.locate(fault, prepared.arrays())
            raise
        if code:
            slot.fail(code)

    @property
    def device(self) -> Device:
        """The device on which it launches."""
        return self._bound[2].device

    def __repr__(self) -> str:
        loaded = self._bound[2].loaded
        return f"<launch of {loaded.compiled.signature} on {self.device.name}>"

    def _bind(self) -> None:
        prepared, shape = self._prepare()
        _refuse_host_arrays(prepared)
        loaded, device, stream = prepared.loaded, prepared.device, prepared.stream
        slot: LaunchSlot | None = None
        if not (shape.cooperative or needs_full_launch(prepared)):
            handle = None if stream is None else handle_of(stream, device)
            slot = device.slot(loaded.function, shape, loaded.packer.nbytes, handle)
            slot.kernarg[slot.offset :] = loaded.packer.pack(prepared.values)
        self._bound = current_check(prepared), slot, prepared

    def _launch_elsewhere(self, stream: Stream | None) -> None:
        """Launch on another stream, or with checks, counts or reports."""
        device = self.device
        if stream is None:
            stream = self._bound[2].stream
        handle_of(stream, device)  # refuses a stream of another device
        token = PLACE.set(Place(device))
        try:
            self._launch_on(stream)
        finally:
            PLACE.reset(token)


def _refuse_host_arrays(prepared: PreparedLaunch) -> None:
    """LaunchError for NumPy arrays: each launch would have to copy them, and wait."""
    for place in prepared.staging.host_places:
        name = place.name
        raise LaunchError(
            f"bind fixes the addresses of arrays, and {name} is a NumPy array, which each launch "
            f"copies. Copy it once: {name} = amdjit.to_device({name})"
        )


def needs_full_launch(prepared: PreparedLaunch) -> bool:
    """Whether launches of a specialisation have more to do than to start the kernel."""
    compiled = prepared.loaded.compiled
    is_checked = compiled.options.sanitize or prepared.environment.sanitize
    return bool(
        is_checked
        or compiled.reports is not None
        or prepared.staging.has_host_arrays
        or prepared.order is not None
        or prepared.environment.roctx
        or prepared.environment.record
        or waits_for_grid(compiled)
    )


def _pack(prepared: PreparedLaunch) -> Callable[..., bool]:
    leaves, loaded = prepared.leaves, prepared.loaded
    compiled = loaded.compiled
    if tuple(prepared.kinds) != compiled.arguments:
        raise NotQuickError  # Python's integers became wider
    if prepared.outside.has_foreign:
        raise NotQuickError  # their memory has to be asked for at each launch
    text, names = pack_source(
        names=leaves.names,
        annotations=leaves.annotations,
        values=prepared.staging.arguments,
        kinds=prepared.kinds,
        kernel=compiled.name,
        uses=compiled.launch_uses,
        packer=loaded.packer,
        reads=compiled.reads,
        outside=prepared.outside.arrays,
    )
    return _function(text, names, "pack")


def current_check(prepared: PreparedLaunch) -> Callable[[], bool]:
    """Return a function that tells whether everything that a specialisation read outside the kernel
    still has the values that were compiled in; LaunchError if an array of the launch was freed."""
    reads = prepared.loaded.compiled.reads
    arrays = [value for value in prepared.staging.arguments if isinstance(value, DeviceArray)]
    uses = [use for use in prepared.loaded.compiled.launch_uses if isinstance(use, OutsideArray)]
    if prepared.outside.has_foreign:
        return lambda: False  # their library is asked at each launch to finish its work first
    outside = list(zip(uses, prepared.outside.arrays, strict=True))
    try:
        text, names = is_current_source(reads, arrays, outside)
    except NotQuickError:
        return lambda: (
            all(array.address for array in arrays)
            and all(read.is_current() for read in reads)
            and all(use.current() is array and array.address for use, array in outside)
        )
    return _function(text, names, "is_current")


def _function(text: str, names: dict[str, Any], name: str) -> Callable[..., bool]:
    exec(compile(text, "<amdjit quick call>", "exec"), names)
    function: Callable[..., bool] = names[name]
    return function
