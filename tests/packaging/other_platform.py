"""Run by test_other_platforms.py: amdjit in a process that looks like one on another platform.

Modules that only POSIX has cannot be imported, and `sys.platform`, `os.name` and what `os` has say
what they say there. What this cannot show: other paths, loaders, compilers and calling conventions.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from types import ModuleType
from typing import Any

POSIX_MODULES = ("_posixsubprocess", "fcntl", "grp", "posix", "pty", "pwd", "resource", "termios")
POSIX_NAMES = (
    "fork", "getuid", "geteuid", "register_at_fork", "sched_getaffinity", "sysconf", "uname",
)  # fmt: skip


class Missing:
    """Refuses modules, as if they were not there."""

    def find_spec(self, name: str, *_: object) -> None:
        if name in POSIX_MODULES or name.split(".")[0] in ("hip", "rocm", "ziglang"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class Windows:
    """The functions of Windows' libraries that amdjit calls: no HIP is loaded, 8 GiB of memory."""

    kernel32: Any = property(lambda self: self)

    def GetPhysicallyInstalledSystemMemory(self, place: Any) -> int:
        place._obj.value = 8 << 20  # KiB
        return 1

    def GetModuleHandleW(self, _name: str) -> int:
        return 0


def become(platform: str) -> None:
    """Make this process look like one of a platform, as far as Python code can see.

    Modules of Python itself and NumPy are loaded before: they have other code for each platform,
    which is not here.
    """
    for name in ("numpy", "ml_dtypes", "msgpack", "llvmlite.binding", "subprocess", "tempfile"):
        importlib.import_module(name)
    for name in (*POSIX_MODULES, "hip", "rocm", "ziglang"):
        sys.modules.pop(name, None)
    finder: Any = Missing()
    sys.meta_path.insert(0, finder)
    sys.platform = platform
    if platform == "win32":
        ctypes.windll = Windows()  # type: ignore[attr-defined]
        for name in POSIX_NAMES:
            if hasattr(os, name):
                delattr(os, name)


def main(platform: str, guard: str) -> None:
    """Compile and emulate a kernel, and compile it in another process too."""
    become(platform)
    os.environ["AMDJIT_COMPILE_GUARD"] = guard
    numpy: ModuleType = importlib.import_module("numpy")
    amdjit: Any = importlib.import_module("amdjit")
    saxpy = importlib.import_module("amdjit.examples.saxpy").saxpy
    x = numpy.arange(100, dtype=numpy.float32)
    out = numpy.zeros_like(x)
    saxpy[1, 128](numpy.float32(2), x, x, out)
    assert (out == 3 * x).all()
    assert all(str(device.name).startswith("emulator:") for device in amdjit.devices())
    free, total = amdjit.current_device().memory_info()
    assert 0 < free <= total
    assert platform != "win32" or total == 8 << 30
    print(sys.platform, "computed", int(out.sum()))


if __name__ == "__main__":
    main(*sys.argv[1:])
