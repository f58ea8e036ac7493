"""The Python side of the library: make the device, and serve the C side."""

from __future__ import annotations

import atexit
import ctypes
import io
import os
import sys
import warnings

from amdjit.devices import find_device
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator.device import EmulatorDevice
from amdjit.hip_programs.gpu import Facts
from amdjit.hip_programs.reporting import ReportingGpu
from amdjit.options import default_target, read_environment

__all__ = ["serve"]

# C has the callbacks' addresses, so Python must never free them.
_SERVED: list[ReportingGpu] = []

# HIP's version by the name under which the library was opened: major, minor, patch.
_VERSIONS = {"5": 50_221_153, "6": 60_443_483, "7": 70_253_211}


def serve(path: str, is_own: bool) -> None:
    """Give the library at `path` a device.

    is_own: it has started this interpreter, which serves it until the program exits.
    """
    library = ctypes.CDLL(path)
    try:
        if is_own:
            sys.stdout = _Output(library, is_error=False)
            sys.stderr = _Output(library, is_error=True)
            warnings.formatwarning = lambda message, *rest, **more: f"{message}\n"
        device = _device()
        gpu = ReportingGpu(device, is_python=not is_own)
        _SERVED.append(gpu)
        library.amdjit_hip_install(ctypes.byref(gpu.callbacks), ctypes.byref(_facts(device, path)))
    except BaseException as error:  # the program waits for one of both
        print(f"amdjit's HIP: there is no device: {error}", file=sys.stderr, flush=True)
        library.amdjit_hip_failed()
        return
    if is_own:
        library.amdjit_hip_serve()
        gpu.write_profile()
    else:
        atexit.register(gpu.write_profile)
        atexit.register(library.amdjit_hip_over)


def _device() -> EmulatorDevice:
    settings = read_environment(os.environ)
    name = settings.device or f"emulator:{default_target(settings)}"
    if not name.startswith("emulator"):
        raise LaunchError(f"AMDJIT_DEVICE={name}: programs that use HIP run on emulators")
    device = find_device(name)
    assert isinstance(device, EmulatorDevice)
    device.prepare()
    return device


def _facts(device: EmulatorDevice, path: str) -> Facts:
    _, total = device.memory_info()
    target = device.target
    return Facts(
        name=f"amdjit {device.name}".encode(),
        architecture=target.id.encode(),
        memory=total,
        devices=1,
        version=_VERSIONS.get(path.rpartition(".so.")[2], _VERSIONS["7"]),
        multiprocessors=device.multiprocessor_count,
        wave_size=target.wave_size,
        lds_bytes=target.lds_per_workgroup,
        has_pools=1,
        has_managed_memory=1,
    )


class _Output(io.TextIOBase):
    """The program's standard output or error: through its own buffer, so that what kernels print
    stands where it was printed."""

    def __init__(self, library: ctypes.CDLL, is_error: bool) -> None:
        self._print = library.amdjit_hip_print
        self._print.argtypes = (ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int)
        self._is_error = is_error

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, text: str) -> int:
        """Print at once."""
        data = text.encode("utf-8", "replace")
        self._print(data, len(data), int(self._is_error))
        return len(text)
