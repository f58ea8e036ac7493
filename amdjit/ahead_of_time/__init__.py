"""Kernels as files for programs without Python: code object, C header, example.

`building.build` compiles a kernel for fixed types and returns its files, which `amdjit build`
writes. The module also makes the JSON, refuses kernels that only Python can launch, and removes the
paths of this machine from the code. `interface` says what a program passes and where it is in the
kernarg segment. The other modules write C (`c_types`, `c_checks`, `header`, `example`): each has
functions from the interface to text. Start reading at `building.build`.
"""

from __future__ import annotations

from amdjit.ahead_of_time.building import Build, build

__all__ = ["Build", "build"]
