"""Kernels as files for programs without Python: code object, C header, example.

`building.build` compiles a kernel for fixed types and returns its files; `amdjit build` writes
them; it also writes the JSON, names what only Python can launch, and keeps the paths of this
machine out of the code. `interface` says what a program passes and where it stands in the kernarg
segment. The rest writes C (`c_types`, `c_checks`, `header`, `example`), each a function from the
interface to text. Start reading at `building.build`.
"""

from __future__ import annotations

from amdjit.ahead_of_time.building import Build, build

__all__ = ["Build", "build"]
