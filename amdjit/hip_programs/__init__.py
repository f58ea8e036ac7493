"""amdjit's libamdhip64: programs that use HIP run on the emulator, unmodified.

A program finds this library in the place of ROCm's by LD_LIBRARY_PATH; `amdjit run` sets it. It has
two halves:

- `source/`, in C: HIP's functions with their symbol versions. It has what needs no device:
  streams, events, graphs, pools, registered kernels, error codes. `amdhip64.c` includes the other
  files. For memory, code objects and launches it calls a record of callbacks.
- `gpu.py`, in Python: those callbacks, on an `EmulatorDevice`. `service.py` installs them.

In a process that is Python, the C side runs the service there. Any other program gets an
interpreter at its first call of HIP: the library opens libpython, and Py_BytesMain runs the service
in a thread of its own until the program exits (`source/start.c`). Which Python that is, was
compiled in: `library.py` builds the library when it is first asked for, with the system's C
compiler, and keeps it in the cache directory.

A kernel's fault ends the program, as HIP does, after a report (`reporting.py`). What checks find is
reported and the program goes on.

The tests' stand-in for ROCm is the same C, compiled with STRICT.
"""

from __future__ import annotations

from amdjit.hip_programs.library import hip_library

__all__ = ["hip_library"]
