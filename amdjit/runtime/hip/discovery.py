"""Which AMD GPUs there are."""

from __future__ import annotations

import os

from amdjit.diagnostics.errors import BackendError
from amdjit.options import read_environment
from amdjit.runtime.hip import library
from amdjit.runtime.hip.calls import call, hip_library
from amdjit.runtime.hip.device import HipDevice


def discover() -> tuple[list[HipDevice], str]:
    """Return the GPUs that can be used, and why others cannot; empty if all of them can.

    Never raises on a machine without ROCm, without a GPU or with GPUs that amdjit does not know.
    """
    try:
        count = call("count the devices", hip_library().hipGetDeviceCount)
    except BackendError as error:
        return [], str(error)
    if count == 0:
        return [], "HIP works, but sees no GPU"
    devices, reasons = [], []
    for index in range(count):
        try:
            devices.append(HipDevice(index))
        except BackendError as error:
            reasons.append(str(error))
    return devices, "; ".join(reasons)


def is_expected() -> bool:
    """Return whether this machine has ROCm or AMD's driver, so that a GPU should work."""
    return library.is_there(read_environment(os.environ).rocm_path)
