"""Keep addresses of tables and functions away from masks, on wave64 of gfx11.

    %p = getelementptr i8, ptr addrspace(4) @table, i64 %i
->
    %a = call ptr addrspace(4) asm sideeffect "", "=s,0"(ptr addrspace(4) @table)
    ...
    %p = getelementptr i8, ptr addrspace(4) %a, i64 %i

An address is computed by `s_getpc_b64` and additions to it, in a bundle. If a vector instruction
has read those SGPRs as a mask before, gfx11 needs a wait behind `s_getpc_b64` in wave64
(GCNHazardRecognizer::fixVALUMaskWriteHazard). LLVM 22 puts it into the bundle, which ends a build
with assertions such as llvmlite's.

Addresses of tables are computed where a kernel begins: no mask has been read there. The empty
assembly is no instruction; it keeps LLVM from computing the address again where it is used.
Functions become part of their callers: a call through an address from the kernel's beginning would
cost the registers that any function may use, and a stack.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from amdjit.target import Target

__all__ = [
    "compute_addresses_first",
    "inline_all",
    "may_read_masks_before_addresses",
    "without_noinline",
]

_USE = re.compile(
    r"(?P<before>= getelementptr [^@\n]*, )(?P<type>ptr(?: addrspace\(\d+\))?) "
    r'(?P<name>@(?:[-\w$.]+|"[^"\n]*"))(?=, )'
)
_INTERNAL = llvm.Linkage.internal
# Attributes stand between blanks; in names they follow `@`, `%` or a quote.
_STAYS_APART = re.compile(r"(?<= )(?:noinline|optnone)(?= |$)")
_FUNCTION = re.compile(r"^(?=define )", re.MULTILINE)
# The first line of a function, and the label of its first block if that is printed.
_ENTRY = re.compile(r'^define [^\n]*\{\n(?:(?:[-\w$.]+|"[^"\n]*"):[^\n]*\n)?')


def may_read_masks_before_addresses(target: Target, wave_size: int) -> bool:
    """Return whether LLVM may end at an address, as above."""
    return target.isa[0] == 11 and wave_size == 64


def without_noinline(llvm_text: str) -> str:
    """Return IR before optimisation in which no function refuses to become part of its callers:
    without `noinline`, and without `optnone`, which would need it. Something has to stand there,
    since a group of attributes may not be empty."""
    return "\n".join(
        _STAYS_APART.sub("inlinehint", line)
        if line.startswith(("define ", "attributes #"))
        else line
        for line in llvm_text.split("\n")
    )


def inline_all(module: llvm.ModuleRef) -> None:
    """Make the passes inline every function but the kernel."""
    for function in module.functions:
        if not function.is_declaration and function.linkage == _INTERNAL:
            function.add_function_attribute("alwaysinline")


def compute_addresses_first(llvm_text: str, target: Target, wave_size: int) -> str:
    """Return optimised IR whose functions begin with the addresses that they index."""
    if not may_read_masks_before_addresses(target, wave_size) or _USE.search(llvm_text) is None:
        return llvm_text
    return "".join(_with_addresses(part) for part in _FUNCTION.split(llvm_text))


def _with_addresses(function: str) -> str:
    addresses: dict[tuple[str, str], str] = {}

    def use(found: re.Match[str]) -> str:
        of = found["type"], found["name"]
        address = addresses.setdefault(of, f"%amdjit.address.{len(addresses)}")
        return f"{found['before']}{found['type']} {address}"

    entry = _ENTRY.match(function)
    if entry is None:
        return function
    body = _USE.sub(use, function[entry.end() :])
    lines = [
        f'  {address} = call {type} asm sideeffect "", "=s,0"({type} {name})\n'
        for (type, name), address in addresses.items()
    ]
    return "".join([entry[0], *lines, body])
