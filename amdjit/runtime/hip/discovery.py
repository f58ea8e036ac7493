"""Which AMD GPUs there are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amdjit.diagnostics.errors import BackendError
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.options import read_environment
from amdjit.runtime.hip import library
from amdjit.runtime.hip.calls import call, hip_library, text_of
from amdjit.runtime.hip_errors import INSTALL_HIP
from amdjit.target import Target, device_target

if TYPE_CHECKING:
    from amdjit.runtime.hip import device as hip_device
    from amdjit.runtime.hip.device import HipDevice
else:
    hip_device = late("amdjit.runtime.hip.device")

_NOTHING_THERE = "this machine has no libamdhip64, and no driver of AMD's GPUs (/dev/kfd)."


def discover() -> tuple[list[HipDevice], str]:
    """Return the GPUs that can be used, and why others cannot; empty if all of them can.

    Never raises on a machine without ROCm, without a GPU or with GPUs that amdjit does not know.
    """
    # hip-python takes as long to load as amdjit, and would find nothing here.
    if _has_nothing():
        return [], f"{_NOTHING_THERE} {INSTALL_HIP}"
    try:
        count = call("count the devices", hip_library().hipGetDeviceCount)
    except BackendError as error:
        return [], str(error)
    if count == 0:
        return [], "HIP works, but sees no GPU"
    devices, reasons = [], []
    for index in range(count):
        try:
            devices.append(hip_device.HipDevice(index))
        except BackendError as error:
            reasons.append(str(error))
    return devices, "; ".join(reasons)


@dataclass(frozen=True, slots=True)
class FoundDevice:
    """A device as HIP reports it."""

    name: str
    """amdjit's, such as "hip:0"."""
    product: str
    """The maker's."""
    architecture: str
    """The processor's target id."""
    memory: int
    """Bytes of the device."""
    wave_size: int
    multiprocessors: int
    """As HIP counts them."""
    lds: int
    """The most bytes of LDS of a workgroup."""
    target: Target | None
    """amdjit's, None if it has none."""
    why_not: str
    """Why kernels cannot run on it, empty if they can."""


def found_devices() -> Iterator[FoundDevice]:
    """Yield all devices that HIP reports, usable or not. BackendError if HIP does not work, or a
    device says nothing."""
    for index in range(call("count the devices", hip_library().hipGetDeviceCount)):
        properties = hip_device.device_properties(index)
        architecture = text_of(properties.gcnArchName)
        yield FoundDevice(
            name=f"hip:{index}",
            product=text_of(properties.name),
            architecture=architecture,
            memory=properties.totalGlobalMem,
            wave_size=properties.warpSize,
            multiprocessors=properties.multiProcessorCount,
            lds=properties.sharedMemPerBlock,
            target=device_target(architecture),
            why_not=_why_not(index),
        )


def runtime_version() -> int:
    """Return the version of HIP as a number, which `version_text` writes out."""
    number: int = call("read the runtime's version", hip_library().hipRuntimeGetVersion)
    return number


def _why_not(index: int) -> str:
    try:
        hip_device.HipDevice(index)
    except BackendError as error:
        return str(error)
    return ""


def _has_nothing() -> bool:
    """Return whether Linux has neither a driver nor a file of HIP, not even a damaged one."""
    if sys.platform != "linux" or library.DRIVER.exists():
        return False
    places = library.places(read_environment(os.environ).rocm_path)
    return not any(place.found or place.refused for place in places)


def is_expected() -> bool:
    """Return whether this machine has ROCm or AMD's driver, so that a GPU should work."""
    return library.is_there(read_environment(os.environ).rocm_path)
