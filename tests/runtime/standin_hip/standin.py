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
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amdjit.abi.launch_shape import LaunchShape

SOURCE = Path(__file__).with_name("amdhip64.c")
FLAGS = (
    "-std=gnu11",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-shared",
    "-fPIC",
    "-Wl,-soname,libamdhip64.so.7",
)

_Address = ctypes.c_uint64
_Code = ctypes.c_int
_Launch = ctypes.CFUNCTYPE(
    _Code,
    _Address,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_uint32),
    ctypes.c_uint32,
    ctypes.c_void_p,
    ctypes.c_uint64,
)
_Callbacks: dict[str, Any] = {
    "allocate": ctypes.CFUNCTYPE(_Address, ctypes.c_uint64),
    "release": ctypes.CFUNCTYPE(_Code, _Address),
    "to_device": ctypes.CFUNCTYPE(_Code, _Address, ctypes.c_void_p, ctypes.c_uint64),
    "to_host": ctypes.CFUNCTYPE(_Code, ctypes.c_void_p, _Address, ctypes.c_uint64),
    "load": ctypes.CFUNCTYPE(_Address, ctypes.c_void_p, ctypes.c_uint64),
    "unload": ctypes.CFUNCTYPE(None, _Address),
    "launch": _Launch,
    "launch_cooperative": _Launch,
    "time": ctypes.CFUNCTYPE(ctypes.c_uint64),
}


# C has the callbacks' addresses, so Python must never free them.
_INSTALLED: list[object] = []


class _Emulator(ctypes.Structure):
    _fields_ = tuple(_Callbacks.items())


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
    parts = b"".join(part.read_bytes() for part in sorted(SOURCE.parent.glob("*.c")))
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
    variables = dict(os.environ)
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


class EmulatedGpu:
    """Hands the stand-in's memory and launches to an amdjit device; `faults` are the exceptions of
    its kernels."""

    def __init__(self, device: Any, clock: Any = None) -> None:
        self.device = device
        self.clock = HostTime() if clock is None else clock
        self.faults: list[BaseException] = []
        self.modules: dict[int, Any] = {}
        self._next_module = 1
        self._callbacks = _Emulator(
            **{name: kind(getattr(self, name)) for name, kind in _Callbacks.items()}
        )

    def install(self) -> None:
        """Let the stand-in call this from now on; the C side holds the callbacks until the process
        ends."""
        library().standin_set_emulator(ctypes.byref(self._callbacks))
        _INSTALLED.append(self)

    def allocate(self, nbytes: int) -> int:
        return self._guarded(lambda: self.device.allocate(nbytes), 0)

    def release(self, address: int) -> int:
        return self._guarded(lambda: self.device.free(address) or 0, 1)

    def to_device(self, address: int, source: int, nbytes: int) -> int:
        self.clock.copy(nbytes)
        return self._guarded(
            lambda: self.device.copy_to_device(address, _bytes(source, nbytes)) or 0, 1
        )

    def to_host(self, destination: int, address: int, nbytes: int) -> int:
        self.clock.copy(nbytes)
        return self._guarded(
            lambda: self.device.copy_to_host(_bytes(destination, nbytes), address) or 0, 1
        )

    def load(self, image: int, nbytes: int) -> int:
        return self._guarded(
            lambda: self._keep(self.device.load(ctypes.string_at(image, nbytes))), 0
        )

    def unload(self, module: int) -> None:
        del self.modules[module]

    def launch_cooperative(self, *call: Any) -> int:
        return self.launch(*call, cooperative=True)

    def launch(
        self,
        module: int,
        name: bytes,
        shape: Any,
        dynamic_lds: int,
        kernarg: int,
        nbytes: int,
        cooperative: bool = False,
    ) -> int:
        def run() -> int:
            function = self.modules[module].function(name.decode())
            x, y, z, block_x, block_y, block_z = shape[:6]
            grid, block = (x, y, z), (block_x, block_y, block_z)
            size = LaunchShape(grid, block, dynamic_lds, cooperative)
            arguments = bytearray(ctypes.string_at(kernarg, nbytes))
            with self.clock.launch():
                self.device.launch(function, size, arguments)
                self.device.synchronize()
            return 0

        return self._guarded(run, 719)

    def time(self) -> int:
        return self.clock.nanoseconds

    def _keep(self, module: Any) -> int:
        number = self._next_module
        self._next_module += 1
        self.modules[number] = module
        return number

    def _guarded(self, action: Callable[[], int], failed: int) -> int:
        try:
            return action()
        except BaseException as error:  # a C caller knows error codes only
            self.faults.append(error)
            traceback.print_exc()
            return failed


def _bytes(address: int, nbytes: int) -> memoryview:
    return memoryview((ctypes.c_ubyte * nbytes).from_address(address)).cast("B")
