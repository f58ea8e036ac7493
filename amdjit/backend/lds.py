"""Give static LDS arrays fixed addresses, so that reports can name an address's element.

    @tile = internal addrspace(3) global [256 x float] poison, align 16
    define amdgpu_kernel void @k(...) #0 {
->
    @tile = internal addrspace(3) global [256 x float] poison, align 16, !absolute_symbol !9
    define amdgpu_kernel void @k(...) #0 "amdgpu-lds-size"="1024" {
    !9 = !{i32 0, i32 1}

The lowering lists its arrays in the metadata `!amdjit.lds`: name, first byte, number of bytes. The
optimiser may split an array into elements, as `name.0`, and drop those that are not used, so the
addresses are given after it. LLVM takes either all addresses from the IR or none (its pass
AMDGPULowerModuleLDS ends the process for a mixture). It numbers named barriers, which are LDS
variables too, only where it places all variables itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import llvmlite.binding as llvm

from amdjit.target import Target

__all__ = ["keep_narrow_loads", "place_lds_arrays"]

_ROW = re.compile(r'!\{!"((?:[^"\\]|\\.)*)", i32 (\d+), i32 (\d+)\}')
_KERNEL = re.compile(r"^(define [^\n]*\bamdgpu_kernel [^\n]*\)[^\n]* #\d+)", re.MULTILINE)
_METADATA = re.compile(r"^!(\d+) = ", re.MULTILINE)
_ALIGNMENT = re.compile(r"align (\d+)")


class _Place(NamedTuple):
    offset: int
    nbytes: int
    variable: str


def place_lds_arrays(llvm_text: str, module: llvm.ModuleRef, layout: llvm.TargetData) -> str:
    """Return the text of optimised IR with an address for every static LDS variable.

    It is returned unchanged if a variable has no place in the lowering's list.
    """
    if "!amdjit.lds" not in llvm_text:
        return llvm_text
    arrays = {name: (int(start), int(nbytes)) for name, start, nbytes in _ROW.findall(llvm_text)}
    places: list[_Place] = []
    for variable in module.global_variables:
        line = str(variable)
        if "addrspace(3)" not in line.split(" = ")[-1].split("global")[0] or " [0 x " in line:
            continue
        place = _place(variable, line, arrays, layout)
        if place is None:
            return llvm_text
        places.append(place)
    places.sort()
    if not places or any(a.offset + a.nbytes > b.offset for a, b in pairwise(places)):
        return llvm_text
    return _with_addresses(llvm_text, places)


def _place(
    variable: llvm.ValueRef,
    line: str,
    arrays: Mapping[str, tuple[int, int]],
    layout: llvm.TargetData,
) -> _Place | None:
    """Return the address of an array, or of an element that the optimiser split off as a
    variable."""
    whole, _, number = variable.name.rpartition(".")
    if 'target("' in line or (
        variable.name not in arrays and (whole not in arrays or not number.isdigit())
    ):
        return None
    nbytes = int(layout.get_abi_size(variable.global_value_type))
    exact = variable.name in arrays
    start, available = arrays[variable.name if exact else whole]
    offset = start if exact else start + int(number) * nbytes
    alignment = _ALIGNMENT.search(line)
    if offset + nbytes > start + available or offset % (int(alignment[1]) if alignment else 16):
        return None
    return _Place(offset, nbytes, line.split("\n")[0])


def _with_addresses(llvm_text: str, places: list[_Place]) -> str:
    number = 1 + max(map(int, _METADATA.findall(llvm_text)), default=-1)
    nodes = []
    for place in places:
        llvm_text = llvm_text.replace(
            place.variable, f"{place.variable}, !absolute_symbol !{number}", 1
        )
        nodes.append(f"!{number} = !{{i32 {place.offset}, i32 {place.offset + 1}}}\n")
        number += 1
    # If addresses are given, LLVM takes the size in the kernel descriptor from this attribute.
    end = max(place.offset + place.nbytes for place in places)
    llvm_text = _KERNEL.sub(rf'\1 "amdgpu-lds-size"="{end}"', llvm_text)
    return llvm_text.rstrip("\n") + "\n" + "".join(nodes)


# Keep a scalar load of 16 bits as narrow as it is.
#
#     %size = load i16, ptr addrspace(4) %p, align 4
# ->
#     %size = load i16, ptr addrspace(4) %p, align 2
#
# LLVM's passes find out that the size of a workgroup lies at a multiple of 4 bytes. Its instruction
# selection then loads 32 bits and cuts off half of them, as processors before gfx12 need it; gfx12
# loads 16 bits directly (RDNA4 ISA, "S_LOAD_U16").

_CONSTANT_I16 = re.compile(r"(= load i16, ptr addrspace\(4\) [^,\n]+, align )(?:4|8|16)\b")


def keep_narrow_loads(llvm_text: str, target: Target) -> str:
    """Return optimised IR in which a 16-bit load promises no more alignment than it needs.

    Several such loads are left alone: LLVM loads neighbours as one 32-bit value, for which it needs
    the alignment.
    """
    if target.isa < (12, 0, 0) or llvm_text.count("= load i16, ptr addrspace(4)") != 1:
        return llvm_text
    return _CONSTANT_I16.sub(r"\g<1>2", llvm_text)
