"""Code objects that describe Python's variables to debuggers, with the same machine code as without
the description.

Debug records influence LLVM's AMDGPU passes: in some kernels they change the last scheduling, and
in functions with whole-wave code they make LLVM abort (SIWholeQuadMode asks for the index of a
debug instruction). So the code is compiled without records first. Then records are added as long as
everything that a loader reads stays the same, byte for byte: all of them if possible, else halves
of them, halves of these, and so on, a limited number of times.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from amdjit.backend.assembly import emit_object
from amdjit.backend.checks import has_whole_wave_code
from amdjit.backend.link import link
from amdjit.backend.tools import Linker, OwnLinker
from amdjit.code_object.elf import read_elf
from amdjit.diagnostics.errors import BackendError
from amdjit.late_methods import dataclass
from amdjit.options import CompileOptions, Environment

__all__ = ["link_with_variables", "without_records"]

_RECORD = re.compile(r"^ +#dbg_\w+\(.*\n", re.MULTILINE)
# Each attempt emits the kernel again, so the search is bounded: records that are left out cost
# descriptions of variables only.
_MOST_ATTEMPTS = 12
_LOADED = 2  # SHF_ALLOC


def without_records(llvm_text: str) -> str:
    """Return IR without debug records."""
    return _RECORD.sub("", llvm_text)


def link_with_variables(
    plain: str,
    described: str,
    options: CompileOptions,
    linker: Linker | OwnLinker,
    environment: Environment,
) -> tuple[str, bytes]:
    """Return optimised IR with the debug records that change nothing, and its code object.

    plain: the optimised IR that was made without records. described: that with them. BackendError
    if LLVM or the linker refuses the code itself.
    """

    def build(text: str) -> bytes:
        return link(emit_object(text, options.target, options, environment), linker)

    best = _Attempt(plain, build(plain))
    # LLVM 22 aborts if a block of whole-wave code begins with a debug record.
    if not has_whole_wave_code(plain):
        best = _with_most_records(described, best, build)
    return best.text, best.code_object


@dataclass(frozen=True, slots=True)
class _Attempt:
    text: str
    code_object: bytes


def _with_most_records(described: str, best: _Attempt, build: Callable[[str], bytes]) -> _Attempt:
    expected = _loaded(best.code_object)
    waiting = [range(len(_RECORD.findall(described)))]
    kept: set[int] = set()
    for _ in range(_MOST_ATTEMPTS):
        if not waiting:
            break
        group = waiting.pop(0)
        text = _with_records(described, kept.union(group))
        try:
            code_object = build(text)
        except BackendError:
            code_object = b""
        if code_object and _loaded(code_object) == expected:
            kept.update(group)
            best = _Attempt(text, code_object)
        elif len(group) > 1:
            half = len(group) // 2
            waiting += [group[:half], group[half:]]
    return best


def _with_records(llvm_text: str, kept: set[int]) -> str:
    """Return IR with the records of these numbers only."""
    number = iter(range(len(llvm_text)))
    return _RECORD.sub(lambda found: found[0] if next(number) in kept else "", llvm_text)


def _loaded(code_object: bytes) -> list[tuple[str, int, bytes]]:
    """Return everything that a loader and a device read: the sections with memory."""
    elf = read_elf(code_object)
    return [
        (section.name, section.address, elf.section_data(section))
        for section in elf.sections
        if section.flags & _LOADED
    ]
