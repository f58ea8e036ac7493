"""Kernels of any code object: `amdjit.load(path).kernels["name"][grid, block](...)`."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from amdjit.abi.launch_shape import check_launch
from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.sanitizing import ACTIVE
from amdjit.checking.settings import launch_checked
from amdjit.code_object import Kernel, KernelMetadata
from amdjit.code_object.bundles import Bundle, read_bundle
from amdjit.diagnostics import KernelFault, LaunchError
from amdjit.forking import Lock
from amdjit.launching.capture_checks import refuse_checks
from amdjit.launching.compatibility import nearest, why_not
from amdjit.launching.foreign_arguments import own_stream
from amdjit.launching.loaded_values import packed, signature
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
