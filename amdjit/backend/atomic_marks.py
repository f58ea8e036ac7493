"""Mark atomic accesses in the debug information of optimised IR, and fences in its code, for
checks of machine code.

    store atomic i32 %v, ptr addrspace(1) %p syncscope("agent") monotonic, align 4, !dbg !9
    !9 = !DILocation(line: 7, column: 5, scope: !4)
->
    store atomic i32 %v, ptr addrspace(1) %p syncscope("agent") monotonic, align 4, !dbg !31
    !30 = !DILexicalBlockFile(scope: !4, file: !1, discriminator: 3)
    !31 = !DILocation(line: 7, column: 5, scope: !30)

The discriminator names the scope (`abi/code_marks.py`) and reaches the line table. In code for
checked launches

    fence syncscope("agent") release
->
    call void @llvm.amdgcn.s.nop(i16 21248)
    fence syncscope("agent") release

All this comes after the passes over IR, which see what is atomic by themselves.
"""

from __future__ import annotations

import re

from amdjit.abi.code_marks import (
    FENCE_MARK,
    FENCES_MARKED,
    RELEASE_MARK,
    discriminator_of,
    reaches_device,
)

__all__ = ["mark_atomic_accesses", "mark_fences"]

_ATOMIC = re.compile(
    r"^  (?:%\S+ = )?(?:tail )?(?:load atomic|store atomic|atomicrmw|cmpxchg) .*", re.MULTILINE
)
_SCOPE = re.compile(r' syncscope\("([\w-]+)"\)')
_LOCATION = re.compile(r"!dbg !(\d+)")
_NODE = re.compile(r"^!(\d+) = (.*)$", re.MULTILINE)
_KERNEL = re.compile(
    r"^define [^\n]*\bamdgpu_kernel\b[^\n]*\{\n(?:[\w.$\"-]+:[^\n]*\n)?", re.MULTILINE
)
_ORDERING = re.compile(
    r"^  (?:(?:%\S+ = )?(?:tail )?(?:store atomic|atomicrmw|cmpxchg|fence) .*"
    r"|(?:tail )?call void @llvm\.amdgcn\.wave\.barrier\(.*)",
    re.MULTILINE,
)
_RELEASES = re.compile(r" (?:release|acq_rel|seq_cst)\b")
# What waits for stores without a fence: assembly, and waits that do not belong to one.
_WAITS_ITSELF = re.compile(
    r' asm [^\n"]*"[^"]*s_wait|@llvm\.amdgcn\.s\.waitcnt\(|'
    r"^(?!  fence )[^\n]*\n[^\n]*call void @llvm\.amdgcn\.s\.wait\.storecnt\(",
    re.MULTILINE,
)
# The attribute with which the option `exact_lines` is written in IR (`lowering/function.py`).
_CHECKED = '"amdgpu-hard-clause-length-limit"="1"'
_NOP = "  call void @llvm.amdgcn.s.nop(i16 {})\n"
_DECLARATION = "declare void @llvm.amdgcn.s.nop(i16)"
_PLACE = re.compile(r"\bscope: !(\d+)")
_LINE = re.compile(r"\bline: \d+")
_NO_LINE = "!DILocation(line: 0,"
_FILE = re.compile(r"\bfile: !(\d+)")


def mark_atomic_accesses(llvm_text: str) -> str:
    """Return IR whose atomic accesses have locations of their own, if they have any."""
    if not any(_LOCATION.search(found[0]) for found in _ATOMIC.finditer(llvm_text)):
        return llvm_text
    marks = _Marks(llvm_text)
    text = _ATOMIC.sub(marks.marked, llvm_text)
    return text.rstrip("\n") + "\n" + "".join(f"{node}\n" for node in marks.added)


def mark_fences(llvm_text: str) -> str:
    """Return the IR of a checked kernel with a mark before each fence, barrier of a wave and
    releasing atomic; without any if its stores are also released by other means."""
    if _CHECKED not in llvm_text or _WAITS_ITSELF.search(llvm_text):
        return llvm_text
    text = _ORDERING.sub(_with_mark, llvm_text)
    text = _KERNEL.sub(lambda found: found[0] + _NOP.format(FENCES_MARKED), text)
    if _DECLARATION in text:
        return text
    return text.rstrip("\n") + f"\n{_DECLARATION}\n"


def _with_mark(found: re.Match[str]) -> str:
    text = found[0]
    is_barrier = "wave.barrier" in text
    if not is_barrier and _RELEASES.search(text) and reaches_device(_scope_of(text)):
        return _NOP.format(RELEASE_MARK) + text
    is_fence = is_barrier or text.startswith("  fence ")
    return _NOP.format(FENCE_MARK) + text if is_fence else text


class _Marks:
    """The nodes that are added, each once."""

    def __init__(self, llvm_text: str) -> None:
        self._nodes = {int(found[1]): found[2] for found in _NODE.finditer(llvm_text)}
        self._is_checked = _CHECKED in llvm_text
        self._next = max(self._nodes) + 1
        self._known: dict[str, int] = {}
        self.added: list[str] = []

    def marked(self, instruction: re.Match[str]) -> str:
        """Return an instruction with its marked location."""
        text = instruction[0]
        location = _LOCATION.search(text)
        if location is None:
            return text
        number = self._location(int(location[1]), _scope_of(text))
        return f"{text[: location.start()]}!dbg !{number}{text[location.end() :]}"

    def _location(self, number: int, scope: str) -> int:
        node = self._nodes[number]
        place = _PLACE.search(node)
        assert place is not None
        if self._is_checked and node.startswith(_NO_LINE):
            # Of several lines that became one instruction. Rows without a line may be left out
            # (LLVM: DwarfDebug::beginInstruction), and the mark with them.
            line = _LINE.search(self._nodes[int(place[1])])
            assert line is not None
            node = node.replace(_NO_LINE, f"!DILocation({line[0]},", 1)
            place = _PLACE.search(node)
            assert place is not None
        block = self._block(int(place[1]), scope)
        return self._add(f"{node[: place.start()]}scope: !{block}{node[place.end() :]}")

    def _block(self, place: int, scope: str) -> int:
        file = _FILE.search(self._nodes[place])
        of_file = f", file: !{file[1]}" if file is not None else ""
        discriminator = discriminator_of(scope)
        return self._add(
            f"!DILexicalBlockFile(scope: !{place}{of_file}, discriminator: {discriminator})"
        )

    def _add(self, node: str) -> int:
        if node not in self._known:
            self._known[node] = self._next
            self.added.append(f"!{self._next} = {node}")
            self._next += 1
        return self._known[node]


def _scope_of(instruction: str) -> str:
    found = _SCOPE.search(instruction)
    # LLVM AMDGPU guide, "Memory Scopes": "agent-one-as" and the like order one address space.
    return found[1].removesuffix("-one-as") if found is not None else ""
