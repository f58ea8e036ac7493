"""Triton's kernels on the emulator: `amdjit.triton.use()` makes amdjit the driver of Triton.

    import amdjit.triton
    amdjit.triton.use("emulator:gfx942")

From then on `@triton.jit` kernels are compiled by Triton for that processor, and the emulator runs
them. They take NumPy arrays, tensors of PyTorch on the CPU, and amdjit's DeviceArrays.
`amdjit.sanitize` and `amdjit.profile` apply to them, with the lines of their source.
`triton.testing.do_bench` and `@triton.autotune` get the cycle model's estimate in place of a
measurement.

Needs Triton 3.9 (docs/from_triton.md).
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import ModuleType, TracebackType
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.arrays.device_array import DeviceArray
from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.profiling import RECORDERS
from amdjit.checking.sanitizing import ACTIVE
from amdjit.checking.settings import launch_checked
from amdjit.devices import find_device
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.launch.loader import EmulatedFunction, EmulatedModule
from amdjit.forking import Lock
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.reading import inspect_object
from amdjit.late import late, load_module, when_loaded
from amdjit.runtime.recording import write_down
from amdjit.torch_device import DeviceInterface, on_the_cpu, tensors_at
from amdjit.tuning.bench import bench

# Triton is loaded by `use`: this module can be imported without it.
_drivers, _jit = late("triton.runtime.driver"), late("triton.runtime.jit")
_backends, _compiling = late("triton.backends"), late("triton.compiler.compiler")
_backend, _compiler = late("triton.backends.driver"), late("triton.backends.compiler")
_allocation, _types = late("triton.runtime._allocation"), late("triton._utils")

__all__ = ["inspect", "use"]

# How Triton names the types of arguments, and how `struct` does.
_FORMATS = {
    **dict.fromkeys(("i1", "u1", "u8"), "B"),
    **{"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u16": "H", "u32": "I", "u64": "Q"},
    **{"fp16": "e", "fp32": "f", "f32": "f", "fp64": "d"},
}
# Where an address of the host or of the device is for a kernel.
_Place = Callable[[int], int]


class _Span(NamedTuple):
    """Memory of the host: its first byte, one past its last."""

    start: int
    end: int
    is_writable: bool
    stays: bool
    """Whether kernels under checks, too, access it where it is."""

    def view(self) -> memoryview:
        """Return its bytes."""
        content = (ctypes.c_ubyte * (self.end - self.start)).from_address(self.start)
        return memoryview(content).cast("B")


_ALL_BITS = (1 << 64) - 1
# Whether launches are made for an estimate, which is not one of code with checks.
_ESTIMATES: ContextVar[bool] = ContextVar("estimates", default=False)
# Triton keeps what it has compiled by the number of the device.
_NUMBERS = itertools.count(1)


class use:  # noqa: N801
    """Make amdjit the driver of this process's Triton, on an emulator.

    device: the name of an emulator, such as "emulator:gfx942", or one of `amdjit.devices()`. In a
    `with` statement the driver before it is Triton's again at the end. If PyTorch has no GPU, it
    puts on the CPU what the program puts on "cuda". LaunchError for a device that is a GPU:
    Triton's own driver is for those.
    """

    def __init__(self, device: str | EmulatorDevice = "emulator:gfx1201") -> None:
        if importlib.util.find_spec("triton") is None:
            raise LaunchError('amdjit.triton needs Triton: pip install "amdjit[triton]"')
        found = find_device(device)
        if not isinstance(found, EmulatorDevice):
            raise LaunchError(
                f"amdjit.triton runs kernels on emulators, and {found.name} is a GPU: Triton's own "
                "driver is for it"
            )
        driver, config, testing = _driver_of(found), _drivers.driver, _testing()
        self._undone = ExitStack()
        for holder, name, value in (
            (config, "_active", driver),
            (config, "_default", driver),
            (_jit.JITFunction, "run", _with_arrays(_plain(_jit.JITFunction.run))),
            (testing, "do_bench", _estimate),
        ):
            self._undone.callback(setattr, holder, name, getattr(holder, name))
            setattr(holder, name, value)
        compiled = _compiling.CompiledKernel
        compiled.__del__ = _freed(_plain(compiled.__del__))
        amd = _backends.backends["amd"]
        self._undone.callback(_backends.backends.update, amd=amd)
        _backends.backends["amd"] = replace(amd, driver=driver)
        self._is_over = False
        interface = driver.get_device_interface()

        def put_tensors_on_the_cpu(torch: ModuleType) -> None:
            if not self._is_over:
                self._undone.enter_context(on_the_cpu(interface))

        when_loaded("torch", put_tensors_on_the_cpu)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over = True
        self._undone.close()


def inspect(kernel: Any, /, *arguments: Any, grid: Any, **options: Any) -> Inspection:
    """Return the facts of the code that Triton compiles for a launch, without launching it.

    kernel: a `@triton.jit` function. arguments, options: as for `kernel[grid](...)`. Call `use`
    before, which chooses the processor.
    """
    compiled = kernel.warmup(*map(_as_pointer, arguments), grid=grid, **_pointers(options))
    return inspect_object(compiled.asm["hsaco"])


def _testing() -> Any:
    return load_module("triton.testing")


# Arguments


class _Pointer:
    """An array that is no tensor of PyTorch, as Triton wants its arguments."""

    def __init__(self, array: NDArray[Any] | DeviceArray) -> None:
        # Triton tells types apart by their hashes, of which ml_dtypes' small floats have one.
        self.dtype = str(array.dtype)
        if self.dtype not in _types.type_canonicalisation_dict:
            raise LaunchError(f"Triton has no pointer to elements of type {self.dtype}")
        self.array = array

    def data_ptr(self) -> int:
        """Return the address."""
        array = self.array
        return array.address if isinstance(array, DeviceArray) else array.ctypes.data


def _as_pointer(value: Any) -> Any:
    if isinstance(value, (np.ndarray, DeviceArray)):
        return _Pointer(value)
    if isinstance(value, tuple):
        parts = map(_as_pointer, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _pointers(options: dict[str, Any]) -> dict[str, Any]:
    return {name: _as_pointer(value) for name, value in options.items()}


def _plain(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return Triton's own function, whoever has wrapped it here."""
    return getattr(run, "amdjit_wrapped", run)


def _with_arrays(run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run)
    def launched(self: Any, *arguments: Any, **options: Any) -> Any:
        return run(self, *map(_as_pointer, arguments), **_pointers(options))

    launched.amdjit_wrapped = run  # type: ignore[attr-defined]
    return launched


def _freed(free: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return what frees a compiled kernel, without a driver if amdjit's has loaded it, which may be
    Triton's no more."""

    @functools.wraps(free)
    def freed(self: Any) -> None:
        if isinstance(self.module, EmulatedModule):
            self.module = None
        free(self)

    freed.amdjit_wrapped = free  # type: ignore[attr-defined]
    return freed


@dataclass(frozen=True, slots=True)
class _Memory:
    """What a pointer of a launch points to."""

    start: int
    """The first byte that belongs to it."""
    nbytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes."""
    itemsize: int
    dtype: str
    is_writable: bool = True
    stays: bool = False
    """Whether its address is a number that the kernel takes or loads."""

    def argument(self, name: str, address: int) -> ArrayArgument:
        """Return it as checks know an array; the address is that of its first element."""
        facts = self.shape, self.strides, self.itemsize, self.dtype
        return ArrayArgument(name, address, *facts, written=self.is_writable)


def _memory_of(value: Any) -> _Memory:
    """Return what a pointer points to. LaunchError if that is not memory of the host or of an
    emulator."""
    if isinstance(value, _jit.TensorWrapper):
        return _memory_of(value.base)
    if isinstance(value, _Pointer):
        return _memory_of_array(value.array)
    if not hasattr(value, "untyped_storage"):
        raise LaunchError(
            f"a pointer must be a NumPy array, a tensor of PyTorch or a DeviceArray, not {value!r}"
        )
    if value.device.type != "cpu":
        raise LaunchError(f"a tensor is on {value.device}: the emulator takes those on the CPU")
    storage, size = value.untyped_storage(), value.element_size()
    strides = tuple(step * size for step in value.stride())
    dtype = str(value.dtype).removeprefix("torch.")
    start, nbytes = storage.data_ptr(), storage.nbytes()
    return _Memory(start, nbytes, tuple(value.shape), strides, size, dtype)


def _memory_of_array(array: NDArray[Any] | DeviceArray) -> _Memory:
    size = array.dtype.itemsize
    if isinstance(array, DeviceArray):
        start, nbytes, is_writable = array.address, array.size * size, True
    else:
        start, nbytes = _bounds(_whole(array))
        is_writable = array.flags.writeable
    shape, strides = array.shape, array.strides
    return _Memory(start, nbytes, shape, strides, size, str(array.dtype), is_writable)


def _pointed_to(found: Iterable[tuple[str, Any, str]]) -> list[tuple[str, int, _Memory]]:
    """Return name, address and memory of the tensors whose addresses a kernel takes as numbers, or
    finds in arrays of 64-bit integers."""
    named: list[tuple[str, NDArray[np.uint64]]] = []
    for kind, value, name in found:
        if isinstance(value, int) and (kind.startswith("*") or kind in ("i64", "u64")):
            named.append((f"*{name}", np.array([value & _ALL_BITS], np.uint64)))
        elif kind in ("*i64", "*u64") and value is not None:
            memory = _memory_of(value)
            start = value.data_ptr()
            named.append((f"*{name}", _words(start, memory.start + memory.nbytes - start)))
    numbers = [values[(values >> 20 != 0) & (values >> 47 == 0)] for _, values in named]
    if not any(each.size for each in numbers):
        return []
    pointed_to = []
    for tensor in tensors_at(np.unique(np.concatenate(numbers))).values():
        memory = replace(_memory_of(tensor), stays=True)
        (name, index), *_ = [
            (name, index)
            for name, values in named
            for index in np.flatnonzero(values - np.uint64(memory.start) < memory.nbytes)[:1]
        ]
        pointed_to.append((f"{name}[{index}]", tensor.data_ptr(), memory))
    return pointed_to


def _words(start: int, nbytes: int) -> NDArray[np.uint64]:
    """Return the 64-bit words of some memory."""
    content = (ctypes.c_uint64 * (nbytes // 8)).from_address(start)
    return np.ctypeslib.as_array(content) if nbytes >= 8 else np.zeros(0, np.uint64)


def _whole(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array whose memory a view shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _bounds(array: NDArray[Any]) -> tuple[int, int]:
    """Return the first byte of an array, and how many there are up to its last."""
    if not array.size:
        return array.ctypes.data, 0
    ends = [(count - 1) * step for count, step in zip(array.shape, array.strides, strict=True)]
    below, above = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
    return array.ctypes.data + below, above - below + array.itemsize


def _spans(device: EmulatorDevice, memories: Iterable[_Memory]) -> list[_Span]:
    """Return what is the host's of some memory; what overlaps is one piece."""
    spans: list[_Span] = []
    for memory in sorted(memories, key=lambda each: each.start):
        end = memory.start + memory.nbytes
        span = _Span(memory.start, end, memory.is_writable, memory.stays)
        if not memory.nbytes or device.holds(memory.start):
            continue
        if spans and span.start < spans[-1].end:
            last = spans.pop()
            is_writable, stays = last.is_writable or span.is_writable, last.stays or span.stays
            span = _Span(last.start, max(last.end, span.end), is_writable, stays)
        spans.append(span)
    return spans


@contextmanager
def _in_place(device: EmulatorDevice, memories: Iterable[_Memory]) -> Iterator[_Place]:
    """Let kernels access memory of the host meanwhile. Yields where an address is for them."""
    with ExitStack() as adopted:
        for span in _spans(device, memories):
            adopted.enter_context(_adopted(device, span))
        yield lambda address: address


@contextmanager
def _adopted(device: EmulatorDevice, span: _Span) -> Iterator[None]:
    device.adopt(span.start, span.end - span.start, span.is_writable)
    try:
        yield
    finally:
        device.free(span.start)


@contextmanager
def _in_copies(device: EmulatorDevice, memories: Iterable[_Memory]) -> Iterator[_Place]:
    """Copy memory of the host to the device, and back at the end: there nothing lies behind an
    array, so that the checks see every access beyond it."""
    moved: list[tuple[_Span, int]] = []
    with ExitStack() as allocated:
        for span in _spans(device, memories):
            if span.stays:
                allocated.enter_context(_adopted(device, span))
                continue
            # Triton's code may rely on an address that is a multiple of 16.
            extra = span.start % 16
            first = device.allocate(span.end - span.start + extra)
            allocated.callback(device.free, first)
            device.copy_to_device(first + extra, span.view())
            moved.append((span, first + extra))

        def place(address: int) -> int:
            for span, there in moved:
                if span.start <= address < span.end:
                    return there + address - span.start
            return address

        yield place
        for span, there in moved:
            if span.is_writable:
                device.copy_to_host(span.view(), there)


# What Triton asks of a driver


@functools.cache
def _driver_of(device: EmulatorDevice) -> _Driver:
    return _Driver(device, next(_NUMBERS))


class _Driver:
    """Triton's driver of one emulator."""

    def __init__(self, device: EmulatorDevice, number: int) -> None:
        self.device = device
        # Launches of several threads may have an array in common, which each takes and gives back.
        self.lock = Lock()
        self.utils = _Utilities(device)
        self.launcher_cls = _Launcher
        self._number = number

    def __call__(self) -> _Driver:
        """Return itself, as what Triton makes a driver by."""
        return self

    def is_active(self) -> bool:
        """True: `use` has chosen it."""
        return True

    def get_current_device(self) -> int:
        """Return its number, by which Triton keeps what it has compiled."""
        return self._number

    def set_current_device(self, number: int) -> None:
        """Refuse to change the device: `use` does."""
        if number != self._number:
            raise LaunchError("amdjit.triton.use chooses the device")

    def get_current_stream(self, number: int) -> int:
        """Return the only stream."""
        return 0

    def get_current_target(self) -> Any:
        """Return what to compile for."""
        target = self.device.target
        return _compiler.GPUTarget("hip", target.name, target.wave_size)

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Refuse: no launcher in C++ is made here."""
        raise NotImplementedError

    def get_active_torch_device(self) -> Any:
        """Return where PyTorch's tensors are."""
        return importlib.import_module("torch").device("cpu")

    def get_device_interface(self) -> DeviceInterface:
        """Return what stands for `torch.cuda`."""
        return DeviceInterface(self.device, self._number)

    def get_benchmarker(self) -> Callable[..., Any]:
        """Return what the autotuner measures by."""
        return _estimate

    def get_empty_cache_for_benchmark(self) -> None:
        """None: the estimate is for warm caches."""

    def clear_cache(self, cache: None) -> None:
        """Do nothing."""


class _Utilities:
    """Loads code objects, and knows the device's limits."""

    def __init__(self, device: EmulatorDevice) -> None:
        self._device = device

    def load_binary(
        self, name: str, data: bytes, shared: int, device: int
    ) -> tuple[EmulatedModule, EmulatedFunction, int, int, int]:
        """Return a module, its kernel, and the kernel's registers, spills and most work-items."""
        module = self._device.load(data)
        function = module.function(name)
        facts = function.kernel.metadata
        return (
            module,
            function,
            facts.vgpr_count,
            facts.vgpr_spills,
            facts.max_flat_workgroup_size,
        )

    def unload_module(self, module: EmulatedModule) -> None:
        """Do nothing: the module goes with its last reference."""

    def get_device_properties(self, device: int) -> dict[str, Any]:
        """Return what Triton asks for."""
        target = self._device.target
        return {
            "max_shared_mem": target.lds_per_workgroup,
            "max_num_regs": 65536,
            "multiprocessor_count": self._device.multiprocessor_count,
            "warpSize": target.wave_size,
            "arch": target.id,
            "cooperativeLaunch": 1,
        }


# Launches


class _Launcher:
    """Launches of one compiled kernel. src, metadata: as Triton passes them."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self._driver: _Driver = _drivers.driver.active
        self._device = self._driver.device
        self._is_cooperative = metadata.launch_cooperative_grid
        self._work_items = metadata.num_warps * metadata.warp_size
        self._lds_bytes = metadata.shared
        self._scratch = (
            (metadata.global_scratch_size, metadata.global_scratch_align, _allocation._allocator),
            (metadata.profile_scratch_size, metadata.profile_scratch_align, None),
        )
        descriptors = getattr(metadata, "tensordesc_meta", None)
        if descriptors:
            raise LaunchError(
                f"{metadata.name} moves tensors by descriptors in hardware, which amdjit's Triton "
                "driver does not make: compile it for another processor than gfx1250"
            )
        self._types, self._names = [], []
        for name, kind in src.signature.items():
            expanded = _backend.expand_signature([kind], descriptors, "tensordesc")
            self._types += expanded
            self._names += [str(name)] * len(expanded)
        self._run = _backend.wrap_handle_tensordesc_impl(
            self._launch,
            src.signature,
            descriptors,
            lambda value, *_: _backend.decompose_descriptor(value),
        )

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: int,
        function: EmulatedFunction,
        packed: Any,
        facts: Any,
        enter: Any,
        leave: Any,
        *values: Any,
    ) -> None:
        """Launch; the parameters are Triton's."""
        if not x * y * z:
            return
        if enter is not None:
            enter(facts)
        shape = LaunchShape(
            (x, y, z), (self._work_items, 1, 1), self._lds_bytes, self._is_cooperative
        )
        self._run(function, shape, values)
        if leave is not None:
            leave(facts)

    def _launch(
        self, function: EmulatedFunction, shape: LaunchShape, values: Sequence[Any]
    ) -> None:
        found = list(_flat(self._types, values, self._names))
        count = math.prod(shape.grid)
        scratch = [self._scratch_for(count, *each) for each in self._scratch]
        found += [("*i8", each, "scratch") for each in scratch]
        memories = [
            (name, value.data_ptr(), _memory_of(value))
            for kind, value, name in found
            if kind.startswith("*") and not isinstance(value, int | None)
        ]
        memories += _pointed_to(found)
        is_wanted = bool(ACTIVE.get() or self._device.environment.sanitize)
        is_checked = is_wanted and not _ESTIMATES.get()
        placing = _in_copies if is_checked else _in_place
        places = placing(self._device, [memory for _, _, memory in memories])
        with self._driver.lock, places as place:
            kernarg = self._kernarg(function, found, place)
            arrays = [memory.argument(name, place(address)) for name, address, memory in memories]
            folder = self._device.environment.record
            if (folder or RECORDERS.get()) and not _ESTIMATES.get():
                write_down(folder, self._device, function, shape, bytes(kernarg), arrays)
            if is_checked:
                self._launch_checked(function, shape, kernarg, arrays)
            else:
                self._device.launch(function, shape, kernarg)

    def _scratch_for(self, count: int, size: int, alignment: int, allocator: Any) -> Any:
        """Return memory that the kernel wants beside its arguments, None if it wants none."""
        if not size:
            return None
        if allocator is None:
            return _Pointer(np.zeros(count * size, np.uint8))
        return _as_pointer(allocator.get()(count * size, alignment, 0))

    def _kernarg(
        self, function: EmulatedFunction, found: Sequence[tuple[str, Any, str]], place: _Place
    ) -> bytearray:
        wanted = function.kernel.metadata.explicit_arguments
        if len(wanted) != len(found):
            raise LaunchError(
                f"{function.kernel.name} takes {len(wanted)} arguments, and Triton passes "
                f"{len(found)}: this version of Triton is not known"
            )
        kernarg = bytearray(function.kernel.metadata.kernarg_size)
        for argument, (kind, value, _) in zip(wanted, found, strict=True):
            data = _argument_bytes(kind, value, place)
            assert len(data) == argument.size, f"{kind} for {argument.size} bytes"
            kernarg[argument.offset : argument.offset + argument.size] = data
        return kernarg

    def _launch_checked(
        self,
        function: EmulatedFunction,
        shape: LaunchShape,
        kernarg: bytearray,
        arrays: Sequence[ArrayArgument],
    ) -> None:
        launch_checked(
            lambda request: self._device.launch_sanitized(
                function, shape, kernarg, request._replace(promises_alignment=False)
            ),
            (),
            self._device.environment,
            arrays,
        )


def _flat(
    types: Sequence[Any], values: Sequence[Any], names: Sequence[str]
) -> Iterator[tuple[str, Any, str]]:
    """Yield type, value and name of each argument that the kernel takes."""
    for kind, value, name in zip(types, values, names, strict=True):
        if isinstance(kind, tuple):
            yield from _flat(kind, value, [f"{name}[{index}]" for index in range(len(kind))])
        elif kind != "constexpr":
            yield kind, _as_pointer(value), name


def _decomposed(descriptor: Any, *_: Any) -> Any:
    """Return a tensor descriptor as the arguments that stand for it."""
    return _backend.decompose_descriptor(descriptor)


def _argument_bytes(kind: str, value: Any, place: _Place) -> bytes:
    """Return an argument as the kernel finds it."""
    if kind.startswith("*"):
        address = value or 0 if isinstance(value, int | None) else value.data_ptr()
        return struct.pack("<Q", place(address))
    if kind == "bf16":
        return np.array(value, ml_dtypes.bfloat16).tobytes()
    if _FORMATS[kind] in "efd":
        return struct.pack(f"<{_FORMATS[kind]}", float(value))
    size = struct.calcsize(_FORMATS[kind])
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")


# Estimates


def _estimate(
    launch: Callable[[], Any],
    warmup: float = 0,
    rep: float = 0,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Return the milliseconds that the cycle model estimates for the launches of a call, as
    `triton.testing.do_bench` returns what it measures: all samples are the same."""
    token = _ESTIMATES.set(True)
    try:
        milliseconds = bench(launch).median * 1e3
    finally:
        _ESTIMATES.reset(token)
    if quantiles is not None:
        found = [milliseconds] * len(quantiles)
        return found[0] if len(found) == 1 else found
    return [milliseconds] if return_mode == "all" else milliseconds
