"""Where the workgroup's static LDS arrays lie: fixed in optimised IR, so that reports can name an
address's element.

The lowering lists its arrays in the metadata `!amdjit.lds`: name, first byte, number of bytes. The
optimiser may split an array into its elements, as `name.0`, and drop what is not used; so addresses
are given behind it. LLVM takes either no address or all of them from the IR (its pass
AMDGPULowerModuleLDS, which ends the process at a mixture), and numbers named barriers, which are
LDS variables too, only where it places all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import llvmlite.binding as llvm

__all__ = ["place_lds_arrays"]

_ROW = re.compile(r'!\{!"((?:[^"\\]|\\.)*)", i32 (\d+), i32 (\d+)\}')
_KERNEL = re.compile(r"^(define [^\n]*\bamdgpu_kernel [^\n]*\)[^\n]* #\d+)", re.MULTILINE)
_METADATA = re.compile(r"^!(\d+) = ", re.MULTILINE)
_ALIGNMENT = re.compile(r"align (\d+)")


class _Place(NamedTuple):
    offset: int
    nbytes: int
    variable: str


def place_lds_arrays(llvm_text: str, module: llvm.ModuleRef, layout: llvm.TargetData) -> str:
    """Return the text of optimised IR with an address for every static LDS variable; as it is if
    one has no place."""
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
    """Return the bytes of an array, or of one element that the optimiser made a variable of its
    own."""
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
    # Read by LLVM where the addresses are given: what the kernel's descriptor asks for.
    end = max(place.offset + place.nbytes for place in places)
    llvm_text = _KERNEL.sub(rf'\1 "amdgpu-lds-size"="{end}"', llvm_text)
    return llvm_text.rstrip("\n") + "\n" + "".join(nodes)
