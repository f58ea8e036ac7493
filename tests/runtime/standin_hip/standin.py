"""Build the stand-in libamdhip64.so, make hip-python find it, and let an amdjit device do its work.

hip-python opens `libamdhip64.so` by that name when its first function is called, so the path must
be in the environment before the process starts: `environment()`.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.hip_programs.gpu import Gpu
from amdjit.hip_programs.library import SOURCES

SOURCE = Path(__file__).with_name("standin.c")
FLAGS = (
    "-std=gnu11",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-shared",
    "-fPIC",
    "-Wl,-soname,libamdhip64.so.7",
    f"-I{SOURCES}",
)

# C has the callbacks' addresses, so Python must never free them.
_INSTALLED: list[object] = []


def why_not() -> str:
    """Return why the stand-in cannot be used here, empty if it can."""
    if not sys.platform.startswith("linux"):
        return "the stand-in libamdhip64.so is for Linux"
    if shutil.which(os.environ.get("CC", "gcc")) is None:
        return "a C compiler is needed to build the stand-in libamdhip64.so"
    return ""


def build() -> Path:
    """Return the directory whose lib/ has the stand-in; it is built once for each version of its
    source."""
    files = [*sorted(SOURCE.parent.glob("*.c")), *sorted(SOURCES.glob("*.c"))]
    parts = b"".join(part.read_bytes() for part in files)
    key = hashlib.sha256(parts + repr(FLAGS).encode()).hexdigest()[:16]
    root = Path(tempfile.gettempdir()) / f"amdjit-standin-hip-{os.getuid()}-{key}"
    library = root / "lib" / "libamdhip64.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        unfinished = library.with_name(f"{os.getpid()}.so")
        command = [
            os.environ.get("CC", "gcc"),
            *FLAGS,
            "-o",
            str(unfinished),
            str(SOURCE),
            "-lpthread",
        ]
        subprocess.run(command, check=True)
        unfinished.replace(library)
    return root


def environment(**settings: str) -> dict[str, str]:
    """Return this process's environment with the stand-in in it, and STANDIN_HIP_* as given:
    `arch="gfx1200"`."""
    root = build()
    # Plugins of pytest take a child longer to load than amdjit.
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    variables["ROCM_PATH"] = str(root)  # hip-python from 10 on looks here first
    paths = [str(root / "lib"), variables.get("LD_LIBRARY_PATH", "")]
    variables["LD_LIBRARY_PATH"] = os.pathsep.join(path for path in paths if path)
    return variables | {f"STANDIN_HIP_{name.upper()}": value for name, value in settings.items()}


def library() -> ctypes.CDLL:
    """Return the stand-in that hip-python of this process uses."""
    loaded = ctypes.CDLL(str(build() / "lib" / "libamdhip64.so"))
    for name in ("standin_launches", "standin_waits", "standin_used_memory", "standin_queued"):
        getattr(loaded, name).restype = ctypes.c_uint64
    loaded.standin_device_of.argtypes = [ctypes.c_uint64]
    return loaded


def set_failures(**codes: int) -> None:
    """Let HIP functions fail with the given error codes, all others work:
    `set_failures(hipMalloc=2)`."""
    library().standin_set_failures(
        ",".join(f"{name}={code}" for name, code in codes.items()).encode()
    )


class HostTime:
    """The time that events tell: the host's. `modelled_time.py` has another."""

    nanoseconds = 0

    def copy(self, nbytes: int) -> None:
        """A copy has happened."""

    def launch(self) -> contextlib.AbstractContextManager[None]:
        """A launch happens inside of the block."""
        return contextlib.nullcontext()


class EmulatedGpu(Gpu):
    """Hands the stand-in's memory and launches to an amdjit device; `faults` are the exceptions of
    its kernels."""

    def __init__(self, device: Any, clock: Any = None) -> None:
        super().__init__(device)
        self.clock = HostTime() if clock is None else clock
        self.faults: list[BaseException] = []

    def install(self) -> None:
        """Let the stand-in call this from now on; the C side holds the callbacks until the process
        ends."""
        library().standin_set_emulator(ctypes.byref(self.callbacks))
        _INSTALLED.append(self)

    def failed(self, error: BaseException, what: str) -> None:
        self.faults.append(error)
        traceback.print_exc()

    def to_device(self, address: int, source: int, nbytes: int) -> int:
        self.clock.copy(nbytes)
        return super().to_device(address, source, nbytes)

    def to_host(self, destination: int, address: int, nbytes: int) -> int:
        self.clock.copy(nbytes)
        return super().to_host(destination, address, nbytes)

    def run(self, function: EmulatedFunction, shape: LaunchShape, kernarg: bytearray) -> None:
        with self.clock.launch():
            self.device.launch(function, shape, kernarg)
            self.device.synchronize()

    def time(self) -> int:
        return self.clock.nanoseconds
