"""AMD GPUs as devices."""

from __future__ import annotations

from typing import Any

from amdjit.diagnostics.errors import BackendError
from amdjit.runtime import dlpack
from amdjit.runtime.hip.calls import call, hip_library, text_of, version_text
from amdjit.runtime.hip.captures import HipCaptures
from amdjit.runtime.hip.forked import note_use
from amdjit.runtime.hip.handles import ExternalStreams
from amdjit.runtime.hip.host_functions import HostFunctions
from amdjit.runtime.hip.host_memory import HipHostMemory
from amdjit.runtime.hip.launches import HipLaunches
from amdjit.runtime.hip.pool import HipPools
from amdjit.runtime.hip.streams import HipStreams
from amdjit.runtime.pending import Pending
from amdjit.target import TARGETS, Target, device_target, nearest_target


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
