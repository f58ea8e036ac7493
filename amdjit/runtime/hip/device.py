"""AMD GPUs as devices."""

from __future__ import annotations

from functools import partial
from typing import Any

from amdjit.diagnostics.errors import BackendError
from amdjit.runtime import dlpack
from amdjit.runtime.device import HostKind
from amdjit.runtime.hip.calls import HipCalls, call, hip_library, note_use, text_of, version_text
from amdjit.runtime.hip.captures import HipCaptures, ThreadCaptures
from amdjit.runtime.hip.handles import ExternalStreams
from amdjit.runtime.hip.host_functions import HostFunctions
from amdjit.runtime.hip.launches import HipLaunches
from amdjit.runtime.hip.memory import HipPools
from amdjit.runtime.hip.streams import HipStreams
from amdjit.runtime.pending import Pending
from amdjit.target import TARGETS, Target, device_target, nearest_target

# Host memory that an AMD GPU uses in place: pinned, mapped and managed.

# hip_runtime_api.h: hipHostMallocPortable, hipHostMallocMapped, hipMemAttachGlobal.
_PORTABLE, _MAPPED = 1, 2
_ATTACH_GLOBAL = 1


class HipHostMemory(HipCalls):
    """The part of `amdjit.runtime.device.MemoryDevice` about host memory."""

    _managed: set[int]
    thread_captures: ThreadCaptures

    def allocate_on_host(self, nbytes: int, kind: HostKind) -> tuple[int, int | None]:
        """Allocate host memory through HIP; BackendError where a GPU has no managed memory."""
        size = max(nbytes, 1)
        if kind is HostKind.MANAGED:
            return self._allocate_managed(size)
        flags = _PORTABLE | (_MAPPED if kind is HostKind.MAPPED else 0)
        doing = f"allocate {size} bytes of pinned host memory for {self.name}"
        address = int(self.here(doing, self.hip.hipHostMalloc, size, flags))
        if kind is HostKind.PINNED:
            return address, None
        find = self.hip.hipHostGetDevicePointer
        there = self.here("ask where host memory is mapped to", find, address, 0)
        return address, int(there)

    def _allocate_managed(self, size: int) -> tuple[int, int]:
        attribute = self.hip.hipDeviceAttribute_t.hipDeviceAttributeManagedMemory
        ask = self.hip.hipDeviceGetAttribute
        if not self.here(f"ask {self.name} for managed memory", ask, attribute, self.index):
            raise BackendError(
                f"{self.name} has no managed memory. Use amdjit.pinned_empty(shape, dtype, "
                "mapped=True), which kernels use in place, too."
            )
        doing = f"allocate {size} bytes of managed memory for {self.name}"
        address = int(self.here(doing, self.hip.hipMallocManaged, size, _ATTACH_GLOBAL))
        self._managed.add(address)
        return address, address

    def free_on_host(self, address: int) -> None:
        """Free host memory. HIP waits for the work of the device first."""
        if self.thread_captures.count:  # waiting would spoil the capture
            self.thread_captures.freed_later.append(partial(self.free_on_host, address))
            return
        if address in self._managed:
            self._managed.discard(address)
            free: Any = self.hip.hipFree
        else:
            free = self.hip.hipHostFree
        self.here(f"free host memory of {self.name}", free, address)


class HipDevice(HipPools, HipHostMemory, HipStreams, HipCaptures, HipLaunches):
    """An AMD GPU. BackendError if its processor is not in amdjit's table of targets."""

    def __init__(self, index: int) -> None:
        self.hip = hip_library()
        self.index = index
        self.name = f"hip:{index}"
        self.dlpack_device = (dlpack.ROCM, index)
        self.is_only_one = call("count the devices", self.hip.hipGetDeviceCount) == 1
        properties = device_properties(index)
        architecture = text_of(properties.gcnArchName)
        self.target = _target_of(self.name, architecture)
        self.multiprocessor_count = properties.multiProcessorCount
        memory = properties.totalGlobalMem / 2**30
        self.pending = Pending()
        self.idle_records: dict[int, list[Any]] = {}
        self._managed = set()
        self.external_streams = ExternalStreams()
        self.host_functions = HostFunctions()
        note_use()
        version = version_text(call("read the runtime's version", self.hip.hipRuntimeGetVersion))
        self.description = (
            f"{text_of(properties.name)} ({architecture}, {memory:.1f} GiB, HIP {version})"
        )

    def __repr__(self) -> str:
        return f"<HipDevice {self.name}: {self.description}>"


def device_properties(index: int) -> Any:
    """Return HIP's properties of a device; HipError if it has none."""
    library = hip_library()
    doing = f"read the properties of device {index}"
    try:
        return call(doing, library.hipGetDeviceProperties, index)
    except TypeError:  # up to hip-python 7 the caller brings the structure
        properties = library.hipDeviceProp_t()
        call(doing, library.hipGetDeviceProperties, properties, index)
        return properties


def _target_of(name: str, architecture: str) -> Target:
    target = device_target(architecture)
    if target is None:
        known = ", ".join(str(target) for target in TARGETS)
        nearest = nearest_target(architecture)
        hint = "" if nearest is None else f"; the nearest is {nearest}, whose code it may not run"
        raise BackendError(
            f"{name} is a {architecture}, for which amdjit does not compile; it has {known}{hint}"
        )
    return target
