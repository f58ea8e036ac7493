"""The profile of one launch."""

from __future__ import annotations

import linecache
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.estimate import Cycles
from amdjit.emulator.counting.counted_launch import CountedLaunch, InstructionRows
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.emulator.counting.recording import Recording
from amdjit.inspection.causes import Cause
from amdjit.inspection.facts import json_value, unit_of
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.notebook import folded, framed, table, title
from amdjit.inspection.reading import inspect_object
from amdjit.isa.instruction import Instruction
from amdjit.isa.matrix_products import BlockProduct, MatrixProduct
from amdjit.isa.text import disassemble
from amdjit.late import late
from amdjit.profiling.counts import Counts, InstructionCounts, LineCounts, Roofline, Totals
from amdjit.profiling.launch_causes import launch_causes
from amdjit.profiling.launch_facts import LaunchFacts
from amdjit.profiling.peaks import PEAKS, Peaks

# Loaded late, because many profiles are read without estimates.
if TYPE_CHECKING:
    from amdjit.cycles import model
else:
    model = late("amdjit.cycles.model")

__all__ = [
    "IN_JSON",
    "_OPERATIONS",
    "LaunchOrigin",
    "LaunchProfile",
    "operations_of",
    "profile_html",
]

# The fields of a launch in the JSON form.
IN_JSON = tuple(field.name for field in fields(LaunchFacts))

_COUNTS = tuple(field.name for field in fields(Counts))


@dataclass(frozen=True, slots=True)
class LaunchOrigin:
    """What a launch is one of, as far as the device does not know it.

    arguments: by name, as they tell launches apart: `float32[64, 64]`, `3`. inspect: returns the
    facts of the kernel, with its sources and IR.
    """

    arguments: Mapping[str, str]
    inspect: Callable[[], Inspection]


class LaunchProfile:
    """What a launch did, from what the emulator counted.

    Counts are exact, summed over all waves. They do not depend on the order in which the emulator
    runs the waves, unless the kernel's own results do.
    """

    def __init__(self, counted: CountedLaunch, origin: LaunchOrigin | None = None) -> None:
        self._counted = counted
        self._origin = origin

    @property
    def kernel(self) -> str:
        """The kernel's name in the code object."""
        return self._counted.kernel.name

    @property
    def target(self) -> str:
        """The processor, such as "gfx1201"."""
        return self._counted.code_object.target_name

    @property
    def code_object(self) -> bytes:
        """The code object that was launched."""
        return self._counted.code_object.data

    @property
    def grid(self) -> tuple[int, int, int]:
        """Workgroups in x, y and z."""
        return self._counted.geometry.grid

    @property
    def block(self) -> tuple[int, int, int]:
        """Work-items of a workgroup in x, y and z."""
        return self._counted.geometry.block

    @property
    def arguments(self) -> Mapping[str, str]:
        """What the kernel was launched with, by name: `float32[64, 64]` for an array, any other
        value as text. Empty for code that was loaded from elsewhere."""
        return {} if self._origin is None else self._origin.arguments

    @property
    def dynamic_lds(self) -> int:
        """Bytes of LDS that the launch added for each workgroup."""
        return self._counted.geometry.dynamic_lds

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return self._counted.plan.wave_size

    @property
    def workgroups(self) -> int:
        """Workgroups of the grid."""
        return self._counted.geometry.workgroups

    @property
    def waves(self) -> int:
        """Waves of all workgroups."""
        return self._counted.waves * self.workgroups

    @property
    def recording(self) -> Recording | None:
        """What a sample of the workgroups did; None if none was recorded."""
        return self._counted.recording

    @cached_property
    def cycles(self) -> Cycles | None:
        """The estimated cycles of the launch; None if there is no estimate: `no_cycles` says
        why."""
        return self._estimate[0]

    @property
    def no_cycles(self) -> str | None:
        """Why there is no estimate of cycles; None if there is one."""
        return self._estimate[1]

    @cached_property
    def _estimate(self) -> tuple[Cycles | None, str | None]:
        counted = self._counted
        if self.recording is None:
            return None, "no workgroup was recorded: `profile(workgroups=0)`"
        launch = model.Launch(
            self.workgroups, counted.geometry.items, self.dynamic_lds, counted.distinct_lines
        )
        try:
            found = model.estimate(counted.code_object, self.kernel, launch, self.recording)
        except NoEstimate as error:
            return None, str(error)
        return found, None

    @cached_property
    def inspection(self) -> Inspection:
        """The facts of the kernel, from the code object's bytes; with its sources and IR if amdjit
        has compiled it for this launch."""
        if self._origin is not None:
            return self._origin.inspect()
        return inspect_object(self.code_object, self.kernel)

    @cached_property
    def instructions(self) -> tuple[InstructionCounts, ...]:
        """The counts of each instruction that the kernel can reach, by address."""
        whole = self._counted.code_object
        found = []
        for number, instruction in enumerate(self._counted.plan.instructions):
            place = whole.line_of(instruction.pc)
            file, line = place if place is not None else (None, None)
            counts = InstructionCounts(
                **_row(self._counted.rows, number),
                address=instruction.pc,
                text=disassemble(instruction),
                unit=unit_of(instruction),
                file=file,
                line=line,
            )
            found.append(counts)
        return tuple(found)

    @cached_property
    def lines(self) -> Mapping[tuple[str, int], LineCounts]:
        """The counts of each source line, by file and line. Instructions without a line are not
        included."""
        by_line: dict[tuple[str, int], list[InstructionCounts]] = defaultdict(list)
        for counts in self.instructions:
            if counts.file is not None and counts.line is not None:
                by_line[counts.file, counts.line].append(counts)
        return {
            (file, line): LineCounts(**_sums(by_line[file, line]), file=file, line=line)
            for file, line in sorted(by_line)
        }

    @cached_property
    def totals(self) -> Totals:
        """The counts of the launch, executions by unit, and operations by type."""
        units: dict[str, int] = defaultdict(int)
        for counts in self.instructions:
            units[counts.unit] += counts.executions
        pairs = zip(self._counted.plan.instructions, self.instructions, strict=True)
        operations = sum_operations(
            operations_of(instruction, counts.executions, counts.active_lanes)
            for instruction, counts in pairs
        )
        return Totals(**_sums(self.instructions), units=dict(units), operations=operations)

    @property
    def distinct_lines(self) -> int:
        """Cache lines of the device's memory that the launch touches, each counted once. Private
        memory is not included."""
        return self._counted.distinct_lines

    @cached_property
    def roofline(self) -> Roofline | None:
        """How far the launch is below the chip's limits; None if these are not known."""
        peaks = PEAKS.get(self.target)
        if peaks is None:
            return None
        return roofline_of(
            self.totals.operations or {}, self.distinct_lines, peaks, self.workgroups
        )

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """What costs the launch time, by line, what costs most first; a launch that is too small to
        tell says so first."""
        peaks = PEAKS.get(self.target)
        return launch_causes(
            self.inspection, self.instructions, self.cycles, self.workgroups, peaks
        )

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """What could not be found out, and why, in sentences."""
        found = []
        peaks = PEAKS.get(self.target)
        if peaks is None:
            found.append(f"no roofline: what a chip with {self.target} can do is not known")
        else:
            unknown = sorted((self.totals.operations or {}).keys() - peaks.operations.keys())
            found += [
                f"operations of {kind} are not in the roofline: their peak is not known"
                for kind in unknown
            ]
        if self.recording is not None and self.recording.dropped:
            found.append(
                f"{self.recording.dropped} workgroups are not recorded: they have too many "
                "instructions (profile(instructions=...))"
            )
        return tuple(found)

    def _repr_html_(self) -> str:
        """The HTML that notebooks show."""
        return launch_html(self)

    def __str__(self) -> str:
        """The totals and the hot lines."""
        return launch_text(self)

    def json_form(self) -> dict[str, object]:
        """Return what `profile.to_json` writes of the launch."""
        return {name: json_value(getattr(self, name)) for name in IN_JSON}

    @cached_property
    def facts(self) -> LaunchFacts:
        """Counts and cycles as a value, without the code object and the recording."""
        return LaunchFacts(**{name: getattr(self, name) for name in IN_JSON})

    def __repr__(self) -> str:
        return f"<profile of {self.kernel}, grid {self.grid}, block {self.block}>"


def _row(rows: InstructionRows, number: int) -> dict[str, int]:
    return {name: int(getattr(rows, name)[number]) for name in _COUNTS}


def _sums(parts: Iterable[Counts]) -> dict[str, int]:
    several = list(parts)
    return {name: sum(getattr(part, name) for part in several) for name in _COUNTS}


# The roofline: how far a launch is below what its chip can do.


def roofline_of(
    operations: Mapping[str, int], distinct_lines: int, peaks: Peaks, workgroups: int
) -> Roofline:
    """Return the roofline of a launch with these operations by type, which touches that many cache
    lines.

    Of the types with a known peak, it uses the one whose operations take longest at that peak.
    """
    known = {kind: count for kind, count in operations.items() if kind in peaks.operations}
    kind = max(known, key=lambda name: known[name] / peaks.operations[name], default="f32")
    count, peak = known.get(kind, 0), peaks.operations[kind]
    nbytes = distinct_lines * LINE_BYTES
    computing, moving = count / peak, nbytes / peaks.bandwidth
    bound = "compute" if computing > moving else "memory"
    return Roofline(
        type=kind,
        operations=count,
        bytes=nbytes,
        intensity=count / nbytes if nbytes else float("inf"),
        peak=peak,
        bandwidth=peaks.bandwidth,
        bound="size" if peaks.leaves_empty(workgroups) else bound,
        seconds=max(computing, moving),
        source=peaks.source,
    )


# Arithmetic operations of instructions: what a roofline counts.
#
# It counts additions, multiplications and transcendental functions of floats in vector
# instructions, dot products and matrix products; a multiplication with addition counts as two (as
# in the FLOPs of rocprofiler-compute). Other integer arithmetic is not counted, because most of it
# computes addresses.

_SINGLE = (
    "add", "sub", "subrev", "mul", "mul_dx9_zero", "exp", "log", "rcp", "rcp_iflag", "rsq", "sqrt",
    "sin", "cos",
)  # fmt: skip
_TWO = (
    "fma", "fmac", "fmaak", "fmamk", "fma_dx9_zero", "fmac_dx9_zero", "div_fmas",
    "mac", "mad", "madak", "madmk", "mad_legacy",
)  # fmt: skip
_FLOATS = ("f16", "f32", "f64")

# For each `Traits.operation`, the type, and the number of operations of a lane.
_OPERATIONS: Mapping[str, tuple[str, int]] = {
    **{f"v_{name}_{kind}": (kind, 1) for name in _SINGLE for kind in _FLOATS},
    **{f"v_{name}_{kind}": (kind, 2) for name in _TWO for kind in _FLOATS},
    "v_fma_mix_f32": ("f32", 2),
    "v_fma_mixlo_f16": ("f32", 2),
    "v_fma_mixhi_f16": ("f32", 2),
    "v_fma_legacy_f16": ("f16", 2),
    "v_exp_legacy_f32": ("f32", 1),
    "v_log_legacy_f32": ("f32", 1),
    "v_pk_add_f32": ("f32", 2),
    "v_pk_mul_f32": ("f32", 2),
    "v_pk_fma_f32": ("f32", 4),
    "v_pk_add_f16": ("f16", 2),
    "v_pk_mul_f16": ("f16", 2),
    "v_pk_fma_f16": ("f16", 4),
    "v_pk_fmac_f16": ("f16", 4),
    "v_dot2acc_f32_f16": ("f16", 4),
    "v_dot2acc_f32_bf16": ("bf16", 4),
    "v_dot2_f32_f16": ("f16", 4),
    "v_dot2_f16_f16": ("f16", 4),
    "v_dot2_f32_bf16": ("bf16", 4),
    "v_dot2_bf16_bf16": ("bf16", 4),
    **{
        f"v_dot4_f32_{a}_{b}": ("fp8", 8) for a in ("fp8", "bf8") for b in ("fp8", "bf8")
    },
    "v_dot2c_f32_f16": ("f16", 4),
    "v_dot2c_f32_bf16": ("bf16", 4),
    "v_dot2_i32_i16": ("i16", 4),
    "v_dot2c_i32_i16": ("i16", 4),
    "v_dot2_u32_u16": ("i16", 4),
    "v_dot4_i32_i8": ("i8", 8),
    "v_dot4c_i32_i8": ("i8", 8),
    "v_dot8_i32_i4": ("i4", 16),
    "v_dot8c_i32_i4": ("i4", 16),
    "v_dot4_i32_iu8": ("i8", 8),
    "v_dot4_u32_u8": ("i8", 8),
    "v_dot8_i32_iu4": ("i4", 16),
    "v_dot8_u32_u4": ("i4", 16),
}  # fmt: skip
_MATRIX_TYPES = {"bf8": "fp8", "iu8": "i8", "iu4": "i4", "f8f6f4": "fp8"}
# Rows and columns of WMMA's results.
_ROWS = 16


def operations_of(instruction: Instruction, executions: int, lanes: int) -> dict[str, int]:
    """Return the operations of all executions of an instruction, by type. lanes: the number of
    active lanes, summed over the executions."""
    matrix = instruction.traits.matrix
    if matrix is not None:
        return {_matrix_type(matrix): executions * _matrix_operations(matrix)}
    product = instruction.traits.block_product
    if product is not None:
        count = executions * _block_operations(product, instruction)
        return {f"{_MATRIX_TYPES.get(product.a, product.a)} matrix": count}
    halves = (instruction,) if instruction.pair is None else (instruction, instruction.pair)
    found = (_OPERATIONS.get(half.traits.operation) for half in halves)
    return sum_operations({kind: count * lanes} for kind, count in filter(None, found))


def sum_operations(several: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums by type."""
    total: dict[str, int] = {}
    for one in several:
        for kind, count in one.items():
            total[kind] = total.get(kind, 0) + count
    return total


def _matrix_type(matrix: MatrixProduct) -> str:
    return f"{_MATRIX_TYPES.get(matrix.a, matrix.a)} matrix"


def _matrix_operations(matrix: MatrixProduct) -> int:
    """Return the operations of a matrix product. Half of a sparse A is 0 and is not multiplied."""
    depth = matrix.k // 2 if matrix.sparse else matrix.k
    return 2 * _ROWS * _ROWS * depth


def _block_operations(product: BlockProduct, instruction: Instruction) -> int:
    depth = product.k // 2 if product.sparse else product.k
    blocks = product.blocks(instruction.opcode.operands[0].dwords)
    return 2 * product.m * product.m * depth * blocks


# Profiles as text, for people.

_HOT_LINES = 10
_LABEL = 15
_FIRST_CAUSES = 3


def launch_text(launch: LaunchProfile) -> str:
    """Return a launch's totals and its hot lines."""
    totals = launch.totals
    size = " x ".join(map(str, launch.block))
    head = (
        f"{launch.kernel} on {launch.target}: {launch.workgroups:,} workgroups of {size}, "
        f"{launch.waves:,} waves of {launch.wave_size} lanes"
    )
    rows = [
        ("instructions", f"{totals.executions:,} executed by waves, {_lanes(launch)}"),
        ("units", _units(launch)),
        ("branches", f"{totals.taken:,} taken" if totals.taken else ""),
        ("memory", _memory(launch.instructions)),
        ("distinct lines", _distinct(launch)),
        ("LDS", _lds(launch)),
        ("atomics", f"{totals.contention:,} lanes after others" if totals.contention else ""),
        ("barriers", f"{totals.barrier_waits:,} waits" if totals.barrier_waits else ""),
        ("roofline", _roofline(launch.roofline)),
        *(("look here first", str(cause)) for cause in launch.causes[:_FIRST_CAUSES]),
        *(("missing", sentence) for sentence in launch.missing),
    ]
    lines = [f"  {label:{_LABEL}}  {text}" for label, text in rows if text]
    return "\n".join([head, *lines, *_hot_lines(launch)])


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _lanes(launch: LaunchProfile) -> str:
    totals = launch.totals
    return f"{_share(totals.active_lanes, totals.executions * launch.wave_size)} of lanes active"


def _units(launch: LaunchProfile) -> str:
    units = launch.totals.units or {}
    ordered = sorted(units.items(), key=lambda item: -item[1])
    parts = (f"{unit} {_share(count, launch.totals.executions)}" for unit, count in ordered)
    return ", ".join(parts)


def _memory(instructions: Iterable[InstructionCounts]) -> str:
    several = [counts for counts in instructions if counts.unit == "vector memory"]
    if not any(counts.cache_lines for counts in several):
        return ""
    requests, asked, lines = (
        sum(getattr(counts, name) for counts in several)
        for name in ("requests", "bytes", "cache_lines")
    )
    return (
        f"{requests:,} requests, {_bytes(asked)} asked for, {lines:,} cache lines touched: "
        f"{_share(asked, lines * LINE_BYTES)} of their bytes"
    )


def _distinct(launch: LaunchProfile) -> str:
    lines = launch.distinct_lines
    return f"{lines:,} = {_bytes(lines * LINE_BYTES)}" if lines else ""


def _lds(launch: LaunchProfile) -> str:
    totals = launch.totals
    if not totals.lds_cycles:
        return ""
    return (
        f"{totals.lds_cycles:,} cycles, {_share(totals.lds_conflict_cycles, totals.lds_cycles)} "
        "due to bank conflicts"
    )


def _roofline(roofline: Roofline | None) -> str:
    if roofline is None:
        return ""
    moves = roofline.bytes / roofline.bandwidth >= roofline.operations / roofline.peak
    cold = " if no cache holds any of them before" if moves else ""
    small = roofline.bound == "size"
    bound = "too small to tell what bounds it" if small else f"bound by {roofline.bound}"
    counted = (
        f"{roofline.operations:,} operations of {roofline.type}, {_bytes(roofline.bytes)}: "
        f"{roofline.intensity:.3g} a byte"
        if roofline.operations
        else f"no operations that count, {_bytes(roofline.bytes)}"
    )
    return f"{counted}, {bound}, at least {roofline.seconds * 1e6:.3g} us{cold} ({roofline.source})"


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _hot_lines(launch: LaunchProfile) -> list[str]:
    """Return the lines with the most executions, or the instructions if there are no lines."""
    hot = sorted(launch.lines.values(), key=lambda counts: -counts.executions)[:_HOT_LINES]
    named: list[tuple[Counts, str]]
    named = [(counts, f"{PurePath(counts.file).name}:{counts.line}") for counts in hot]
    if not hot:
        ordered = sorted(launch.instructions, key=lambda counts: -counts.executions)[:_HOT_LINES]
        named = [(counts, f"{counts.address:#x} {counts.text}") for counts in ordered]
    width = launch.wave_size
    found = ["", f"  {'executed':>14}  {'lanes':>7}  {'lines/request':>13}  {'conflicts':>9}"]
    for counts, name in named:
        spread = f"{counts.cache_lines / counts.requests:.2f}" if counts.cache_lines else "-"
        conflicts = f"{counts.lds_conflict_cycles:,}" if counts.lds_cycles else "-"
        lanes = _share(counts.active_lanes, counts.executions * width)
        cells = f"{counts.executions:>14,}  {lanes:>7}  {spread:>13}  {conflicts:>9}"
        found.append(f"  {cells}  {name}")
    return found


# Profiles as HTML for notebooks.

_HOTTEST = 20
_HEAD = ("line", "executions", "lanes", "requests", "bytes", "cache lines", "LDS cycles", "source")


def profile_html(launches: Sequence[LaunchProfile], stopped: Sequence[str]) -> str:
    """Return the launches of a profile, each of which can be expanded."""
    count = len(launches)
    return framed(
        title("amdjit.profile", f"{count} launch{'es' * (count != 1)}"),
        *(folded(_name(launch), launch_html(launch)) for launch in launches),
        *(title("stopped:", text) for text in stopped),
    )


def launch_html(launch: LaunchProfile) -> str:
    """Return a launch's totals and its lines, the most executed first."""
    lines = sorted(launch.lines.values(), key=lambda line: -line.executions)
    rows = [
        _notebook_row(launch, f"{PurePath(c.file).name}:{c.line}", c, _source(c)) for c in lines
    ]
    more = [folded(f"{len(rows) - _HOTTEST} more lines", table(_HEAD, rows[_HOTTEST:]))]
    return framed(
        title(launch.kernel, _name(launch).removeprefix(launch.kernel)),
        table(_HEAD, [_notebook_row(launch, "all", launch.totals, ""), *rows[:_HOTTEST]]),
        *(more if len(rows) > _HOTTEST else []),
    )


def _name(launch: LaunchProfile) -> str:
    grid, block = (" x ".join(map(str, size)) for size in (launch.grid, launch.block))
    return f"{launch.kernel}: grid {grid}, block {block}, {launch.waves:,} waves"


def _notebook_row(
    launch: LaunchProfile, name: str, counts: Counts, source: str
) -> tuple[object, ...]:
    lanes = counts.executions * launch.wave_size
    active = f"{100 * counts.active_lanes / lanes:.1f} %" if lanes else ""
    return (
        name,
        counts.executions,
        active,
        counts.requests,
        counts.bytes,
        counts.cache_lines,
        counts.lds_cycles,
        source,
    )


def _source(counts: LineCounts) -> str:
    return linecache.getline(counts.file, counts.line).strip()
