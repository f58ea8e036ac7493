"""Kernels of any code object: `amdjit.load(path).kernels["name"][grid, block](...)`."""

from __future__ import annotations

import ctypes
import os
import struct
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.abi.launch_shape import check_launch
from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.sanitizing import ACTIVE
from amdjit.checking.settings import launch_checked
from amdjit.code_object import Kernel, KernelArgument, KernelMetadata
from amdjit.code_object.bundles import Bundle, read_bundle
from amdjit.diagnostics import KernelFault, LaunchError
from amdjit.forking import Lock
from amdjit.launching.capture_checks import refuse_checks
from amdjit.launching.compiled_bundle import nearest, why_not
from amdjit.launching.foreign_arguments import own_stream
from amdjit.options import Environment, read_environment
from amdjit.runtime import device as devices
from amdjit.runtime import sanitized
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import CapturedLaunch, Device
from amdjit.runtime.place import handle_of, is_captured
from amdjit.target import emulated_for, most_specific

__all__ = ["LoadedKernel", "LoadedLauncher", "Module", "load"]


def load(source: str | os.PathLike[str] | bytes) -> Module:
    """Load a code object, of any compiler for AMD GPUs, to launch its kernels.

    source: a file (`.hsaco`, `.co`, ...) or its bytes: a linked code object, or an offload bundle
    of several, one for each target, compressed or not. MalformedCodeObject (an AmdjitError) if it
    is neither.
    """
    data = bytes(source) if isinstance(source, (bytes, bytearray)) else Path(source).read_bytes()
    return Module(read_bundle(data))


class Module:
    """A code object, or several for different targets, whose kernels launch on any device."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._objects = {part.target.id: part.code_object for part in bundle.members}
        self._environment = read_environment(os.environ)
        self._loaded: weakref.WeakKeyDictionary[Device, devices.Module] = (
            weakref.WeakKeyDictionary()
        )
        self._lock = Lock()
        names = dict.fromkeys(name for part in self._objects.values() for name in part.kernels)
        self._kernels = MappingProxyType({name: LoadedKernel(self, name) for name in names})

    @property
    def kernels(self) -> Mapping[str, LoadedKernel]:
        """The kernels by their names."""
        return self._kernels

    @property
    def targets(self) -> tuple[str, ...]:
        """The target ids that the module has code for, such as "gfx1201" or "gfx90a:xnack-"."""
        return tuple(self._objects)

    @property
    def environment(self) -> Environment:
        """The environment variables when the module was loaded."""
        return self._environment

    def facts(self, name: str, target: str | None = None) -> Kernel:
        """Return what the code object says about a kernel, by default the first that has it.

        LaunchError if that of the target has no such kernel.
        """
        parts = self._objects.values() if target is None else [self._objects[target]]
        found = next((part.kernels[name] for part in parts if name in part.kernels), None)
        if found is None:
            raise LaunchError(f"the code for {target} has no kernel {name}, as that for others has")
        return found

    def target_for(self, device: Device) -> str:
        """Return the target id of the code that runs on a device; LaunchError if none does."""
        targets = [part.target for part in self._bundle.members]
        found = most_specific(targets, device.target)
        if found is None:
            raise LaunchError(_none_for(device, self._bundle))
        return found.id

    def on(self, device: Device) -> devices.Module:
        """Return the code loaded on a device; LaunchError if there is none for it."""
        wanted = self.target_for(device)
        with self._lock:
            if device not in self._loaded:
                self._loaded[device] = device.load(self._objects[wanted].data)
            return self._loaded[device]

    def __repr__(self) -> str:
        return f"<module for {', '.join(self._objects)} with {', '.join(self._kernels)}>"


class LoadedKernel:
    """A kernel of a code object: `kernel[grid, block](arguments...)`."""

    def __init__(self, module: Module, name: str) -> None:
        self.module, self.name = module, name

    @property
    def metadata(self) -> KernelMetadata:
        """What the code object says: arguments, registers, LDS, workgroup sizes."""
        return self.module.facts(self.name).metadata

    @property
    def signature(self) -> str:
        """The name and the arguments that the kernel takes."""
        return signature(self.module.facts(self.name))

    def __getitem__(self, launch: Any) -> LoadedLauncher:
        """Configure a launch: `kernel[grid, block]`; a stream and the bytes of dynamic LDS may
        follow."""
        if not isinstance(launch, tuple) or not 2 <= len(launch) <= 4:
            raise LaunchError(
                f"{self.name}[{launch}]: write kernel[grid, block](...); a stream and the bytes of "
                "dynamic LDS may follow"
            )
        return self.launch(*launch)

    def launch(
        self,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        stream: Any = None,
        dynamic_lds: int = 0,
        cooperative: bool = False,
    ) -> LoadedLauncher:
        """Configure a launch as `kernel[grid, block, stream, dynamic_lds]` does, by keywords."""
        return LoadedLauncher(
            self, grid, block=block, stream=stream, dynamic_lds=dynamic_lds, cooperative=cooperative
        )

    def __call__(self, *arguments: Any) -> None:
        """Raise LaunchError: a kernel is launched with a grid."""
        raise LaunchError(f"write kernels[{self.name!r}][grid, block](...)")

    def __repr__(self) -> str:
        facts = self.metadata
        return (
            f"<kernel {self.signature}: {facts.vgpr_count} VGPRs, {facts.sgpr_count} SGPRs, "
            f"{facts.group_segment_bytes} bytes of LDS>"
        )


class LoadedLauncher:
    """A kernel of a code object with a grid and a block: call it with the arguments."""

    def __init__(
        self,
        kernel: LoadedKernel,
        grid: Any,
        block: Any,
        stream: Any,
        dynamic_lds: int,
        cooperative: bool,
    ) -> None:
        self._kernel, self._grid, self._block = kernel, grid, block
        self._stream, self._dynamic_lds, self._cooperative = stream, dynamic_lds, cooperative

    def __call__(self, *arguments: Any) -> None:
        """Launch the kernel; the call may return before it has ended.

        For each argument that `kernel.signature` lists: a pointer is a DeviceArray, a device
        address or None; a value is a NumPy scalar, a ctypes value or bytes of its size, or a
        number. Integers are packed as integers: pass np.float32(1) to a float. LaunchError for
        what does not fit.
        """
        stream, device = own_stream(self._stream)
        handle = handle_of(stream, device)
        launch = self._captured(device, arguments)
        call = launch.function, launch.shape, launch.kernarg
        environment = self._kernel.module.environment
        if is_captured(handle):
            refuse_checks(self._kernel.name, (), environment)
            device.launch(*call, handle)
            handle.capture.note(handle, launch)
            return
        try:
            if ACTIVE.get() or environment.sanitize:
                # Unlike amdjit, other compilers do not promise that wide accesses to LDS are
                # aligned.
                launch_checked(
                    lambda request: device.launch_sanitized(
                        *call, request._replace(promises_alignment=False), handle
                    ),
                    (),
                    environment,
                    _arrays(launch),
                )
            else:
                device.launch(*call, handle)
        except KernelFault as fault:
            launch.explain(fault)
            raise

    def _captured(self, device: Device, arguments: Sequence[Any]) -> CapturedLaunch:
        module, name = self._kernel.module, self._kernel.name
        on_device = module.on(device)
        kernel = module.facts(name, module.target_for(device))
        kernarg = packed(kernel, arguments, device)
        facts = kernel.metadata
        shape = check_launch(
            self._grid,
            self._block,
            self._dynamic_lds,
            device.target,
            max_flat_workgroup_size=facts.max_flat_workgroup_size,
            static_lds=facts.group_segment_bytes,
            required_block=facts.required_workgroup_size,
            cooperative=self._cooperative,
        )
        names = [
            argument.name or f"args[{number}]"
            for number, argument in enumerate(facts.explicit_arguments)
        ]
        launch = CapturedLaunch(
            function=on_device.function(name),
            shape=shape,
            kernarg=kernarg,
            arguments=dict(zip(names, arguments, strict=True)),
            arrays=[argument for argument in arguments if isinstance(argument, DeviceArray)],
            again=lambda others: self._captured(device, others),
            explain=lambda fault: sanitized.locate(fault, _arrays(launch)),
        )
        return launch


def _none_for(device: Device, bundle: Bundle) -> str:
    """Say which targets the module has code for, and which is nearest to the device's."""
    targets = [part.target for part in bundle.members]
    there = " and ".join([*(target.id for target in targets), *bundle.unknown])
    what = "the bundle" if len(targets) + len(bundle.unknown) > 1 else "the code object"
    reason = why_not(nearest(targets, device.target), device.target, device.name)
    emulated = [found for target in targets if (found := emulated_for(target)) is not None]
    if emulated:
        name = nearest(emulated, device.target).name
        reason += f', or launch inside `with amdjit.use("emulator:{name}"):`'
    return f"{what} is for {there}, and {reason}"


def _arrays(launch: CapturedLaunch) -> list[ArrayArgument]:
    """Return the arrays that a kernel gets, any of which it may write."""
    names, values = tuple(launch.arguments), tuple(launch.arguments.values())
    return sanitized.array_arguments(
        names, values, [isinstance(value, DeviceArray) for value in values]
    )


# Arguments of a kernel of any code object as bytes, checked against the code object's metadata.


_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
_POINTERS = ("global_buffer", "dynamic_shared_pointer")


def signature(kernel: Kernel) -> str:
    """Return the arguments of a kernel as text: names, if the compiler kept them, and kinds."""
    parts = [
        (argument.name + ": " if argument.name else "") + _kind(argument)
        for argument in kernel.metadata.explicit_arguments
    ]
    return f"{kernel.name}({', '.join(parts)})"


def _kind(argument: KernelArgument) -> str:
    if argument.value_kind in _POINTERS:
        return "pointer" if argument.value_kind == "global_buffer" else "LDS pointer"
    text = "value" if argument.value_kind == "by_value" else argument.value_kind
    return f"{text} of {argument.size} bytes"


def packed(kernel: Kernel, values: Sequence[Any], device: Device) -> bytearray:
    """Return the explicit kernarg bytes of a launch; LaunchError for values that do not fit."""
    wanted = kernel.metadata.explicit_arguments
    if len(wanted) != len(values):
        were = "was" if len(values) == 1 else "were"
        raise LaunchError(
            f"{signature(kernel)} takes {len(wanted)} arguments, but {len(values)} {were} given"
        )
    size = max((argument.offset + argument.size for argument in wanted), default=0)
    kernarg = bytearray(size)
    for number, (argument, value) in enumerate(zip(wanted, values, strict=True), 1):
        try:
            data = _bytes(argument, value, device)
        except LaunchError as error:
            name = f"{number} ({argument.name})" if argument.name else str(number)
            raise LaunchError(f"{kernel.name}: argument {name} {error}") from None
        kernarg[argument.offset : argument.offset + argument.size] = data
    return kernarg


def _bytes(argument: KernelArgument, value: Any, device: Device) -> bytes:
    if argument.value_kind == "by_value":
        return _value(argument.size, value)
    if argument.value_kind not in _POINTERS or argument.size not in (4, 8):
        raise LaunchError(f"is of the kind {argument.value_kind}, which launches cannot pass")
    return _pointer(value, device).to_bytes(argument.size, "little")


def _pointer(value: Any, device: Device) -> int:
    if value is None:
        return 0
    if isinstance(value, DeviceArray):
        if value.device is not device:
            raise LaunchError(
                f"is on {value.device.name}, the launch on {device.name}: launch inside "
                f'`with amdjit.use("{value.device.name}"):`, or copy the array'
            )
        return value.address
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if not 0 <= value < 1 << 64:
            raise LaunchError(f"is a pointer: {value} is not an address")
        return int(value)
    if isinstance(value, np.ndarray):
        raise LaunchError(
            "is a pointer, and a NumPy array is in the host's memory: pass "
            "amdjit.to_device(array), and copy it back afterwards"
        )
    raise LaunchError(
        "is a pointer: pass a DeviceArray, a device address, or None for a null pointer, not a "
        f"{type(value).__name__}"
    )


def _value(size: int, value: Any) -> bytes:
    if isinstance(value, np.generic):
        data = value.tobytes()
    elif isinstance(value, (bytes, bytearray)):
        data = bytes(value)
    elif isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        data = bytes(memoryview(value).cast("B"))
    elif isinstance(value, (bool, int)):
        return _integer(size, value)
    elif isinstance(value, float):
        if size not in _FLOATS:
            raise LaunchError(f"has {size} bytes, which no Python float can fill")
        return _float(size, value)
    else:
        raise LaunchError(
            f"is a value of {size} bytes: pass a NumPy scalar, a ctypes value, bytes or a number, "
            f"not a {type(value).__name__}"
        )
    if len(data) != size:
        raise LaunchError(f"has {size} bytes, and {value!r} has {len(data)}")
    return data


def _integer(size: int, value: int) -> bytes:
    """Return the bytes of a Python integer, signed or unsigned: metadata do not say which."""
    bits = 8 * size
    if size not in (1, 2, 4, 8):
        raise LaunchError(f"has {size} bytes, which no Python integer fills: pass bytes")
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise LaunchError(f"has {size} bytes, and {value} needs more")
    return (value % (1 << bits)).to_bytes(size, "little")


def _float(size: int, value: float) -> bytes:
    try:
        return struct.pack(_FLOATS[size], value)
    except OverflowError:
        raise LaunchError(
            f"has {size} bytes, and {value} does not fit a float of that size"
        ) from None
