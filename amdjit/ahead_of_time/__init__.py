"""Kernels as files for programs without Python: code object, C header, example.

`building.build` compiles a kernel for fixed types and returns its files; `amdjit build` writes
them. `interface` says what a program passes and where it stands in the kernarg segment; `refusals`
names what only Python can launch. The rest writes C (`c_types`, `c_structs`, `c_checks`,
`c_common`, `c_reports`, `header`, `example`) and JSON (`metadata`), each a function from the
interface to text.
`source_paths` keeps the paths of this machine out of the code. Start reading at `building.build`.
"""

from __future__ import annotations

from amdjit.ahead_of_time.building import Build, build

__all__ = ["Build", "build"]
