"""`Code`: machine code, with assertions about it."""

from __future__ import annotations

import linecache
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Literal, NoReturn, overload

from amdjit.api import Kernel
from amdjit.code_object import CodeObject
from amdjit.compiled_kernel import CompiledKernel
from amdjit.cycles.static import LoopCycles, loop_cycles
from amdjit.inspection.facts import InstructionFacts, LoopFacts, SourcePlace
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.machine_code import read_machine_code
from amdjit.inspection.reading import inspect_object
from amdjit.target import find_target
from amdjit.testing.gates import gate

__all__ = ["Code", "isa"]


@dataclass(frozen=True, slots=True)
class Code:
    """The machine code of a kernel, or of a part of it.

    Each assertion returns this value, so that they can be chained, and raises AssertionError with
    the instructions in question if it does not hold. Patterns are those of shells: `v_wmma_*`. An
    instruction of two that are issued together (`v_dual_…`) counts as both. Names may have the
    suffix of an encoding or not: `v_mov_b32` is `v_mov_b32_e32` and `v_mov_b32_dpp`, too.
    """

    inspection: Inspection
    part: Part

    @property
    def instructions(self) -> tuple[InstructionFacts, ...]:
        """The instructions, by address. ValueError if the machine code could not be read."""
        self._require_code()
        return self.part.instructions

    def __str__(self) -> str:
        return f"{self.part.name}\n{marked_listing(self.part, ())}"

    def loop(self, number: int | None = None) -> Code:
        """Narrow to a loop: without a number to the innermost, which must be the only one.

        number: its number in the inspection's `loops`, which a failure lists.
        """
        __tracebackhide__ = True
        self._require_code()
        inside = loops_in(self.inspection, self.part)
        outer = {loop.parent for loop in inside}
        chosen = [
            loop
            for loop in inside
            if (loop.number == number if number is not None else loop.number not in outer)
        ]
        if len(chosen) != 1:
            self._no_single_loop(number, inside)
        return replace(self, part=loop_part(self.part, chosen[0]))

    def line(self, line: int | str, file: str | None = None) -> Code:
        """Narrow to the code of a source line, including the calls in it.

        line: its number in the file, or a text that only this line contains. file: the end of its
        path, if several files have such a line.
        """
        __tracebackhide__ = True
        self._require_code()
        try:
            return replace(self, part=line_part(self.inspection, self.part, line, file))
        except ValueError as which:
            self._fail(str(which), None)

    def between(self, first: str, last: str) -> Code:
        """Narrow to the instructions, by address, between the first one that matches one pattern
        and the last one that matches the other."""
        __tracebackhide__ = True
        self._require_code()
        starts, ends = self._matching(first), self._matching(last)
        if not starts or not ends or starts[0] >= ends[-1]:
            found = [*starts[:1], *ends[-1:]]
            self._fail(f"nothing is between {first} and {last}", found)
        inside = tuple(one for one in self.instructions if starts[0] < one.address < ends[-1])
        name = f"{self.part.name} between {first} and {last}"
        return replace(self, part=Part(name, inside))

    @overload
    def count(self, pattern: str, /) -> int: ...
    @overload
    def count(
        self,
        pattern: str,
        number: int | None = None,
        /,
        *,
        at_least: int | None = None,
        at_most: int | None = None,
    ) -> Code: ...
    def count(
        self,
        pattern: str,
        number: int | None = None,
        /,
        *,
        at_least: int | None = None,
        at_most: int | None = None,
    ) -> Code | int:
        """Assert how many instructions match a pattern; return the number if nothing is
        asserted."""
        __tracebackhide__ = True
        found = [one.address for one in self._operations() if one.matches(pattern)]
        if number is None and at_least is None and at_most is None:
            return len(found)
        wanted = _unmet(len(found), number, at_least, at_most)
        if wanted:
            said = f"{len(found)} instructions match {pattern}, not {wanted}"
            self._fail(said, found, "" if found else near_mnemonics(self.part, pattern))
        return self

    def absent(self, *patterns: str) -> Code:
        """Assert that no instruction matches any of the patterns."""
        __tracebackhide__ = True
        for pattern in patterns:
            self.count(pattern, 0)
        return self

    def only(self, pattern: str, *allowed: str) -> Code:
        """Assert that each instruction that matches a pattern also matches one of the others, and
        that there is such an instruction."""
        __tracebackhide__ = True
        meant = [one for one in self._operations() if one.matches(pattern)]
        if not meant:
            self._fail(f"no instruction matches {pattern}", (), near_mnemonics(self.part, pattern))
        wrong = [one.address for one in meant if not one.matches(*allowed)]
        if wrong:
            said = f"{len(wrong)} of {len(meant)} instructions that match {pattern} are not"
            self._fail(f"{said} {' or '.join(allowed)}", wrong)
        return self

    def order(self, *patterns: str) -> Code:
        """Assert that instructions that match the patterns follow each other in this order, by
        address. Other instructions may be between them."""
        __tracebackhide__ = True
        found: list[int] = []
        waiting = list(patterns)
        for one in self._operations():
            if waiting and one.matches(waiting[0]):
                found.append(one.address)
                waiting.pop(0)
        if waiting:
            after = f" after {patterns[len(found) - 1]}" if found else ""
            self._fail(f"no {waiting[0]}{after}", found, near_mnemonics(self.part, waiting[0]))
        return self

    @overload
    def widths(self, pattern: str, /) -> tuple[int, ...]: ...
    @overload
    def widths(
        self, pattern: str, number: int | None = None, /, *, at_least: int | None = None
    ) -> Code: ...
    def widths(
        self, pattern: str, number: int | None = None, /, *, at_least: int | None = None
    ) -> Code | tuple[int, ...]:
        """Assert how many bytes of a lane each access moves; return one number for each access if
        nothing is asserted.

        pattern: the beginning of the mnemonics, such as "global_load", or a pattern with `*`. There
        must be an access.
        """
        __tracebackhide__ = True
        whole = pattern if "*" in pattern else f"{pattern}*"
        matching = {one.address for one in self._operations() if one.matches(whole)}
        accesses = [one for one in self.inspection.accesses if one.address in matching]
        if number is None and at_least is None:
            return tuple(access.width for access in accesses)
        if not accesses:
            self._fail(f"no access matches {whole}", (), near_mnemonics(self.part, whole))
        wrong = [one for one in accesses if _unmet(one.width, number, at_least, None)]
        if wrong:
            wanted = _unmet(wrong[0].width, number, at_least, None)
            found = ", ".join(map(str, sorted({access.width for access in wrong})))
            self._fail(
                f"{len(wrong)} of {len(accesses)} accesses that match {whole} move {found} bytes, "
                f"not {wanted}",
                [access.address for access in wrong],
            )
        return self

    @overload
    def cycles(self, *, waves: int = 1) -> LoopCycles: ...
    @overload
    def cycles(
        self, *, at_most: float, within: Literal["loop"] = "loop", waves: int = 1
    ) -> Code: ...
    def cycles(
        self,
        *,
        at_most: float | None = None,
        within: Literal["loop"] = "loop",
        waves: int = 1,
    ) -> Code | LoopCycles:
        """Assert how many cycles an iteration of the loop takes at most, by the cycle model; return
        them, with the assumptions behind them, if nothing is asserted.

        The loop is this part if it is one, or else the innermost loop in it. waves: how many each
        SIMD runs at once. NoEstimate if the body branches in ways that only a launch decides.
        """
        __tracebackhide__ = True
        if within != "loop":
            raise ValueError(f"within={within!r}: cycles are only known for an iteration of a loop")
        loop = self if self.part.is_loop else self.loop()
        time = loop_time(self.inspection, loop.part, waves)
        if at_most is None:
            return time
        if time.cycles > at_most:
            said = f"{time.cycles:.1f} cycles an iteration, not at most {at_most}"
            loop._fail(said, (), "\n".join(time.assumptions))
        return self

    def max_vgprs(self, most: int) -> Code:
        """Assert how many VGPRs a wave of the kernel may have at most."""
        __tracebackhide__ = True
        if self.inspection.vgprs > most:
            peak = self.inspection.peak
            self._fail(
                f"{self.inspection.vgprs} VGPRs, not at most {most}; {peak.vgprs} are live at the "
                "peak",
                [peak.address],
            )
        return self

    def max_sgprs(self, most: int) -> Code:
        """Assert how many SGPRs a wave of the kernel may have at most."""
        __tracebackhide__ = True
        if self.inspection.sgprs > most:
            highest = max((len(one.live_sgprs) for one in self.part.instructions), default=0)
            fullest = [o.address for o in self.part.instructions if len(o.live_sgprs) == highest]
            self._fail(f"{self.inspection.sgprs} SGPRs, not at most {most}", fullest)
        return self

    def max_live_vgprs(self, most: int) -> Code:
        """Assert how many VGPRs may be live at once in this part."""
        __tracebackhide__ = True
        over = [one.address for one in self.instructions if len(one.live_vgprs) > most]
        if over:
            highest = max(len(one.live_vgprs) for one in self.instructions)
            self._fail(f"{highest} VGPRs are live at once, not at most {most}", over)
        return self

    def no_spills(self) -> Code:
        """Assert that the kernel keeps all values in registers."""
        __tracebackhide__ = True
        vectors, scalars = self.inspection.vgpr_spills, self.inspection.sgpr_spills
        if vectors or scalars:
            found = self._matching("scratch_*", "v_writelane_*", "v_readlane_*")
            self._fail(f"{vectors} VGPRs and {scalars} SGPRs are spilled", found)
        return self

    def no_scratch(self) -> Code:
        """Assert that the kernel uses no scratch memory."""
        __tracebackhide__ = True
        found = self._matching("scratch_*")
        if self.inspection.scratch_bytes or found:
            self._fail(f"{self.inspection.scratch_bytes} bytes of scratch memory a lane", found)
        return self

    def max_lds(self, most: int) -> Code:
        """Assert how many bytes of LDS a workgroup may have at most, without those that the launch
        adds."""
        __tracebackhide__ = True
        if self.inspection.lds_bytes > most:
            said = f"{self.inspection.lds_bytes} bytes of LDS, not at most {most}"
            self._fail(said, self._matching("ds_*"))
        return self

    def occupancy(self, *, at_least: int) -> Code:
        """Assert how many waves of the kernel one SIMD holds at least."""
        __tracebackhide__ = True
        found = self.inspection.occupancy
        if found.waves_per_simd < at_least:
            steps = [f"  {step.waves} waves: {step.text}" for step in found.steps]
            self._fail(
                f"{found.waves_per_simd} waves a SIMD, not at least {at_least}; limited by "
                f"{found.limited_by}",
                [self.inspection.peak.address] if found.limited_by == "vgprs" else None,
                "\n".join(steps),
            )
        return self

    def holds(self, conditions: str) -> Code:
        """Assert conditions on figures of the kernel, such as "vgprs<=128, spills==0": those of
        `gate`, whose errors these are."""
        __tracebackhide__ = True
        wrong = [one for one in gate(self.inspection, conditions) if not one.holds]
        if wrong:
            places = {(one.file, one.line) for one in wrong}
            marked = [one.address for one in self.part.instructions if one.place in places]
            said = "; ".join(f"not {one}" + f" ({one.cause})" * bool(one.cause) for one in wrong)
            self._fail(said, marked or None)
        return self

    def _require_code(self) -> None:
        # Without decoded instructions, nothing can be asserted.
        if not self.inspection.instructions:
            raise ValueError("\n".join((f"{self.inspection.kernel}:", *self.inspection.missing)))

    def _matching(self, *patterns: str) -> list[int]:
        whole = (one for part in self.part.instructions for one in operations_of(part))
        return [one.address for one in whole if one.matches(*patterns)]

    def _operations(self) -> list[Operation]:
        return [one for whole in self.instructions for one in operations_of(whole)]

    def _no_single_loop(self, number: int | None, inside: list[LoopFacts]) -> NoReturn:
        __tracebackhide__ = True
        listed = "\n".join(f"  .loop({loop.number}): {self._loop_text(loop)}" for loop in inside)
        if not inside:
            self._fail("there is no loop in it", None)
        which = "several innermost loops" if number is None else f"no loop {number}"
        self._fail(f"{which}; choose one of\n{listed}", None)

    def _loop_text(self, loop: LoopFacts) -> str:
        inside = loop_part(self.part, loop).instructions
        lines = sorted({one.line for one in inside if one.line is not None})
        where = f", lines {lines[0]} to {lines[-1]}" if lines else ""
        return f"depth {loop.depth}, {len(inside)} instructions{where}"

    def _fail(self, said: str, marked: Collection[int] | None = (), advice: str = "") -> NoReturn:
        """Raise AssertionError. marked: addresses of instructions to mark; None shows no code."""
        __tracebackhide__ = True
        shown = "" if marked is None else marked_listing(self.part, set(marked))
        heading = f"{self.part.name} ({self.inspection.target}): {said}"
        raise AssertionError("\n".join(filter(None, (heading, advice, shown))))


def _unmet(found: int, exact: int | None, at_least: int | None, at_most: int | None) -> str:
    """Return what is wanted if a number is not that, else ""."""
    if exact is not None and found != exact:
        return str(exact)
    if at_least is not None and found < at_least:
        return f"at least {at_least}"
    if at_most is not None and found > at_most:
        return f"at most {at_most}"
    return ""


# Failed assertions show the machine code in question, with marks.

_MOST_LINES = 60
_MOST_WITHOUT_MARKS = 24
_CONTEXT = 2


def marked_listing(part: Part, marked: Collection[int]) -> str:
    """Return a part's instructions with `>` before those of the marked addresses.

    For a long part, only the marked instructions and those around them are shown; without marks,
    its beginning.
    """
    code = part.instructions
    shown = [
        number
        for number, one in enumerate(code)
        if not marked or any(near.address in marked for near in _around(code, number))
    ]
    shown = shown[: _MOST_LINES if marked else _MOST_WITHOUT_MARKS]
    width = max((len(code[number].text) for number in shown), default=0)
    rows: list[str] = []
    before = -1
    for number in shown:
        if number != before + 1:
            rows.append(_skipped(number - before - 1))
        rows.append(_row(code[number], code[number].address in marked, width))
        before = number
    if before + 1 < len(code):
        rows.append(_skipped(len(code) - before - 1))
    return "\n".join(rows)


def _around(code: Sequence[InstructionFacts], number: int) -> Sequence[InstructionFacts]:
    return code[max(0, number - _CONTEXT) : number + _CONTEXT + 1]


def _skipped(count: int) -> str:
    return f"    … {count} more"


def _row(instruction: InstructionFacts, is_marked: bool, width: int) -> str:
    place = instruction.place
    source = f"{PurePath(place[0]).name}:{place[1]}" if place is not None else ""
    mark = ">" if is_marked else " "
    return f"  {mark} {instruction.address:#8x}  {instruction.text:{width}}  {source}".rstrip()


def near_mnemonics(part: Part, pattern: str) -> str:
    """Return a sentence with the mnemonics of a part that are similar to a pattern, "" if none
    is."""
    counts = Counter(one.mnemonic for whole in part.instructions for one in operations_of(whole))
    start = pattern.split("*")[0].rstrip("_")
    near = [name for name in counts if start and name.startswith(start)]
    near += get_close_matches(pattern, counts, cutoff=0.5)
    listed = ", ".join(f"{counts[name]} {name}" for name in dict.fromkeys(near))
    return f"Alike: {listed}." if listed else ""


# How long an iteration of a loop takes, by the cycle model.


def loop_time(inspection: Inspection, part: Part, waves: int) -> LoopCycles:
    """Return the cycles of an iteration of a part that is a loop. waves: how many each SIMD runs.

    ValueError if the inspection does not hold its code object's bytes; NoEstimate as
    `amdjit.cycles.static.loop_cycles`.
    """
    if not inspection.code_object:
        raise ValueError(f"{inspection.kernel}: the inspection has no bytes of a code object")
    whole = CodeObject.read(inspection.code_object)
    code = read_machine_code(whole, whole.kernels[inspection.kernel])
    target = find_target(inspection.target)
    assert code is not None
    assert target is not None
    addresses = {one.address for one in part.instructions}
    body = [decoded for _, decoded in code.instructions() if decoded.pc in addresses]
    blocks = {one.block for one in part.instructions}
    header = next(
        inspection.blocks[loop.header].address
        for loop in inspection.loops
        if set(loop.blocks) == blocks
    )
    return loop_cycles(body, target, waves, inspection.wave_size, header=header)


# The operations of instructions by name: an instruction has one, or two if it is a pair that is
# issued together.


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of an instruction."""

    address: int
    mnemonic: str
    """The mnemonic without the suffix of the encoding."""
    written: str
    """The mnemonic as the disassembly has it, such as `v_mov_b32_dpp`."""

    def matches(self, *patterns: str) -> bool:
        """Whether one of its names matches one of the patterns."""
        names = (self.mnemonic, self.written)
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def operations_of(instruction: InstructionFacts) -> list[Operation]:
    """Return the operations of an instruction."""
    mnemonics = instruction.mnemonic.split(" :: ")
    texts = instruction.text.split(" :: ")
    return [
        Operation(instruction.address, mnemonic, text.split()[0] if text.split() else mnemonic)
        for mnemonic, text in zip(mnemonics, texts, strict=True)
    ]


# `isa`: returns the machine code of any object that has some.


Subject = CompiledKernel | Inspection | Kernel | bytes | os.PathLike[str]


def isa(subject: Subject, kernel: str | None = None) -> Code:
    """Return the machine code of a kernel, for assertions about it.

    subject: a compiled kernel; a kernel that was compiled or launched for one combination of types;
    an inspection; the bytes or the file of any compiler's code object. kernel: the name of the
    kernel in a code object that has several.

    TypeError for anything else; ValueError for a kernel with no specialisation or several;
    MalformedCodeObject and AmdjitError as `amdjit.inspect_object`.
    """
    inspection = _inspection(subject, kernel)
    return Code(inspection, whole_part(inspection))


def _inspection(subject: Subject, kernel: str | None) -> Inspection:
    if isinstance(subject, Inspection):
        return subject
    if isinstance(subject, CompiledKernel):
        return subject.inspect()
    if isinstance(subject, Kernel):
        return _only(subject).inspect()
    if isinstance(subject, os.PathLike):
        return inspect_object(Path(subject).read_bytes(), kernel)
    if isinstance(subject, bytes):
        return inspect_object(subject, kernel)
    raise TypeError(
        f"isa() takes a compiled kernel, an inspection or a code object, not {subject!r}"
    )


def _only(kernel: Kernel) -> CompiledKernel:
    compiled = kernel.specialisations
    if len(compiled) != 1:
        signatures = ", ".join(one.signature for one in compiled) or "none"
        raise ValueError(
            f"{kernel.__name__} is compiled for {len(compiled)} combinations of types "
            f"({signatures}); pass one of them: isa({kernel.__name__}.compile(...))"
        )
    return compiled[0]


# Parts of a kernel's machine code: all of it, a loop, the code of a source line.


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a kernel's instructions, by address."""

    name: str
    """What they are, for messages."""
    instructions: tuple[InstructionFacts, ...]
    is_loop: bool = False
    """Whether they are exactly the instructions of a loop."""


def whole_part(inspection: Inspection) -> Part:
    """Return the whole kernel."""
    return Part(inspection.kernel, inspection.instructions)


def loops_in(inspection: Inspection, part: Part) -> list[LoopFacts]:
    """Return the loops all of whose blocks are in a part, except the loop that is the part
    itself."""
    blocks = {instruction.block for instruction in part.instructions}
    return [
        loop
        for loop in inspection.loops
        if blocks.issuperset(loop.blocks) and blocks != set(loop.blocks)
    ]


def loop_part(part: Part, loop: LoopFacts) -> Part:
    """Return the instructions of a loop."""
    blocks = set(loop.blocks)
    inside = tuple(one for one in part.instructions if one.block in blocks)
    return Part(f"loop {loop.number} of {part.name}", inside, is_loop=True)


def line_part(inspection: Inspection, part: Part, line: int | str, file: str | None) -> Part:
    """Return the instructions of a line: its own, and those of the calls in it.

    line: its number, or a text that only one line of the sources contains. ValueError if it stands
    for no line or several.
    """
    numbers = {place for instruction in part.instructions for place in places_of(instruction)}
    wanted = (
        {place for place in numbers if place[1] == line}
        if isinstance(line, int)
        else {place for place in numbers if line in source_line(inspection, place)}
    )
    wanted = {place for place in wanted if file is None or place[0].endswith(file)}
    if len(wanted) != 1:
        raise ValueError(_which_line(inspection, line, sorted(wanted), sorted(numbers)))
    (place,) = wanted
    inside = tuple(one for one in part.instructions if place in places_of(one))
    return Part(f"line {place[1]} of {part.name}", inside)


def places_of(instruction: InstructionFacts) -> Iterator[SourcePlace]:
    """Yield the place of an instruction, and the place of each call through which it was
    inlined."""
    if instruction.place is not None:
        yield instruction.place
    yield from ((call.file, call.line) for call in instruction.inlined_from)


def source_line(inspection: Inspection, place: SourcePlace) -> str:
    """Return the text of a source line, "" if it is not known."""
    file, number = place
    known = inspection.companion.sources.get(file)
    lines: Sequence[str] = linecache.getlines(file) if known is None else known.splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _which_line(
    inspection: Inspection, line: int | str, wanted: list[SourcePlace], there: list[SourcePlace]
) -> str:
    if not there:
        return "no source lines are known"
    asked = f"line {line}" if isinstance(line, int) else f"a line with {line!r}"
    if wanted:
        return f"{asked} is one of\n{_listed(inspection, wanted)}"
    return f"no instruction comes from {asked}. There are\n{_listed(inspection, there)}"


def _listed(inspection: Inspection, places: Iterable[SourcePlace]) -> str:
    return "\n".join(f"  {file}:{n}  {source_line(inspection, (file, n))}" for file, n in places)
