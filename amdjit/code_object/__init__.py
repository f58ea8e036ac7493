"""Code objects, which the linker makes and devices load, read back from their bytes.

`code_object` puts the parts together: `elf` the container, `descriptor` and `metadata` what a
kernel needs, `line_table` its source lines, `debug_info` inlined
calls and variables, `resources` registers and occupancy. Bytes are not
trusted: damage raises `MalformedCodeObject`. This room imports errors and targets only, neither
LLVM nor the compiler. Start reading at `code_object`.
"""

from __future__ import annotations

from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.code_object.code_object import CodeObject, Kernel
from amdjit.code_object.descriptor import KernelDescriptor, UserSgpr
from amdjit.code_object.elf import Relocation, Segment, Symbol
from amdjit.code_object.line_table import LineRow, LineTable
from amdjit.code_object.metadata import KernelArgument, KernelMetadata
from amdjit.code_object.resources import Resources, read_resources

__all__ = [
    "CodeObject",
    "Kernel",
    "KernelArgument",
    "KernelDescriptor",
    "KernelMetadata",
    "LineRow",
    "LineTable",
    "MalformedCodeObject",
    "Relocation",
    "Resources",
    "Segment",
    "Symbol",
    "UserSgpr",
    "read_resources",
]
