"""One instruction with its operands, and many of them in one kernel and one launch."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit.diagnostics.errors import AmdjitError
from amdjit.isa.instruction import Register, RegisterFile
from amdjit.probe.case import Case, Results, certainty_of
from amdjit.probe.machine_code import OUTPUT, PLACE, Mode, Program, s, v
from amdjit.runtime.device import Device
from amdjit.target import Target

__all__ = [
    "AREA_DWORDS",
    "CONTENT",
    "FLAT",
    "GLOBAL",
    "LDS_PLACE",
    "READ_BACK",
    "SCRATCH",
    "Bundle",
    "Cells",
    "Memory",
    "Result",
    "Source",
    "Trial",
    "bundled",
    "cases_of",
]


_FIRST_ADDRESS = 224
_COPIES = 200
_ADDRESSES = 20
MASK = 0x3C5A96F1A5C3F01E
"""The initial value of lane masks and scalar operands."""
OLD = 0xDEADBEEF
"""The value that destinations have before they are written."""


@dataclass(frozen=True)
class Source:
    """An operand whose value differs from lane to lane."""

    register: Register
    """The VGPRs that hold it."""
    type: str
    """The type of their contents."""
    place: int
    """The number of the operand."""


@dataclass(frozen=True)
class Result:
    """A register that is compared afterwards."""

    register: Register
    type: str
    """The type of its contents."""


@dataclass(frozen=True)
class Trial:
    """One instruction in one form."""

    name: str
    """The name, which is unique in its batch."""
    subject: str
    opcode: tuple[str, int]
    """The format and the number of the opcode, to count what is covered."""
    sources: tuple[Source, ...]
    before: tuple[Register, ...]
    """VGPRs that are filled with OLD first."""
    add: Callable[[Program], None]
    """Adds the instruction, and what it needs, to a kernel whose sources are loaded."""
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Bundle:
    """Trials that run in one launch."""

    target: Target
    wave_size: int
    trials: tuple[Trial, ...]
    mode: Mode = field(default_factory=Mode)
    lanes: int = 512
    """The number of work-items."""
    group: int | None = None
    """Work-items of a workgroup; None for one wave."""
    lds: int = 0
    """Bytes of LDS of a workgroup."""
    scratch: int = 0
    """Bytes of scratch memory of a work-item."""
    has_cells: bool = False
    """Whether the output begins with the memory that trials access."""

    @property
    def group_size(self) -> int:
        """Work-items of a workgroup: one wave unless `group` says otherwise."""
        return self.group or self.wave_size

    @property
    def _first_row(self) -> int:
        return AREA_DWORDS if self.has_cells else 0

    def build(self) -> tuple[bytes, Dwords]:
        """Return the code object and the input: rows of dwords, one for each register."""
        program = Program(self.target, self.wave_size, self.scratch)
        program.begin(self.group_size)
        _prepare_scalars(program)
        writer = _Writer(program, self.lanes, self._first_row)
        for trial in self.trials:
            writer.add(trial)
        agprs = 256 if program.has("v_accvgpr_read_b32") and self.target.isa >= (9, 0, 10) else 0
        code = program.code_object(
            agprs=agprs, lds=self.lds, mode=self.mode, max_group_size=self.group_size
        )
        return code, writer.inputs()

    def launch(self) -> list[Results]:
        """Run the kernel on the current device; return each trial's results."""
        code, rows = self.build()
        counts = [sum(_dwords(result) for result in trial.results) for trial in self.trials]
        output = amdjit.to_device(np.zeros((self._first_row + sum(counts), self.lanes), np.uint32))
        kernel = amdjit.load(code).kernels["kernel"]
        kernel[self.lanes // self.group_size, self.group_size](amdjit.to_device(rows), output)
        stored = output.copy_to_host()
        found, first = [], self._first_row
        for trial, count in zip(self.trials, counts, strict=True):
            found.append(_typed(trial.results, stored[first : first + count]))
            first += count
        return found


def _dwords(result: Result) -> int:
    return result.register.dwords


def _typed(results: Sequence[Result], rows: Dwords) -> Results:
    found, first = [], 0
    for result in results:
        dtype = element_type(result.type).dtype
        part = np.ascontiguousarray(rows[first : first + _dwords(result)].T)
        found.append(part.view(dtype))
        first += _dwords(result)
    return tuple(found)


def _prepare_scalars(program: Program) -> None:
    """Set the scalars that instructions may read, s[20:31]."""
    for number in range(20, 32):
        program.add("s_mov_b32", s(number), (MASK >> 32 * (number % 2)) & 0xFFFFFFFF)
    program.drain()


class _Writer:
    """Adds trials to a kernel: it loads the values that are not in registers yet, runs the
    instruction, and stores the results."""

    def __init__(self, program: Program, lanes: int, first_row: int) -> None:
        self._program, self._lanes = program, lanes
        self._held: dict[int, tuple[str, int, int, int]] = {}
        self._places: dict[tuple[str, int, int, int], int] = {}
        self._rows: list[Dwords] = []
        self._stored = first_row

    def inputs(self) -> Dwords:
        """Return the rows that the kernel loads, at least one."""
        return np.stack(self._rows) if self._rows else np.zeros((1, self._lanes), np.uint32)

    def add(self, trial: Trial) -> None:
        program = self._program
        self._load(trial.sources)
        for register in trial.before:
            for number in range(register.dwords):
                program.add("v_mov_b32_e32", v(register.index + number), OLD)
        program.drain()
        trial.add(program)
        program.drain()
        written = [*(result.register for result in trial.results), *trial.before]
        self._store(trial.results)
        for register in written:
            self._forget(register)

    def _forget(self, register: Register) -> None:
        if register.file is RegisterFile.VGPR:
            for number in range(register.dwords):
                self._held.pop(register.index + number, None)

    def _load(self, sources: Sequence[Source]) -> None:
        wanted = [
            (source.register.index + number, (source.type, source.register.dwords, source.place,
                                              number))
            for source in sources
            for number in range(source.register.dwords)
        ]  # fmt: skip
        missing = [(index, key) for index, key in wanted if self._held.get(index) != key]
        for first in range(0, len(missing), _ADDRESSES):
            part = missing[first : first + _ADDRESSES]
            for number, (_, key) in enumerate(part):
                self._address(number, self._place(key))
            self._program.drain()
            for number, (index, key) in enumerate(part):
                self._program.add("global_load_b32", v(index), v(_FIRST_ADDRESS + number), s(0, 2))
                self._held[index] = key
            self._program.drain()

    def _place(self, key: tuple[str, int, int, int]) -> int:
        if key not in self._places:
            type, dwords, place, number = key
            self._places[key] = len(self._rows)
            types = tuple((type, dwords) for _ in range(place + 1))
            self._rows.append(operand_rows(types, self._lanes)[place][number])
        return self._places[key]

    def _address(self, number: int, row: int) -> None:
        place = 4 * self._lanes * row
        self._program.add("v_add_nc_u32_e32", v(_FIRST_ADDRESS + number), place, v(250))

    def _store(self, results: Iterable[Result]) -> None:
        registers = [each for result in results for each in self._vectors(result.register)]
        for first in range(0, len(registers), _ADDRESSES):
            part = registers[first : first + _ADDRESSES]
            for number in range(len(part)):
                self._address(number, self._stored + number)
            self._program.drain()
            for number, index in enumerate(part):
                address = v(_FIRST_ADDRESS + number)
                self._program.add("global_store_b32", address, v(index), s(2, 2))
            self._stored += len(part)
            self._program.drain()

    def _vectors(self, register: Register) -> list[int]:
        """Return the VGPRs to store. The contents of scalar registers are copied into some
        first."""
        if register.file is RegisterFile.VGPR:
            return [register.index + number for number in range(register.dwords)]
        first = _COPIES + (4 if register.file is RegisterFile.VCC else 0)
        for number in range(register.dwords):
            part = Register(register.file, register.index + number)
            self._program.add("v_mov_b32_e32", v(first + number), part)
        self._program.drain()
        return [first + number for number in range(register.dwords)]


class _Launch:
    """The results of a bundle on each device. The bundle is launched when they are first asked for.

    If a device refuses the whole bundle, each trial is launched alone, so that only the refused
    ones fail.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._found: dict[Device, list[Results] | None] = {}

    def result(self, number: int) -> Results:
        """Return a trial's results on the current device; AmdjitError if the device refuses the
        trial."""
        device = amdjit.current_device()
        if device not in self._found:
            self._found[device] = self._launched()
        results = self._found[device]
        if results is None:
            alone = replace(self._bundle, trials=(self._bundle.trials[number],))
            return alone.launch()[0]
        return results[number]

    def _launched(self) -> list[Results] | None:
        try:
            return self._bundle.launch()
        except AmdjitError:
            return None


def cases_of(bundle: Bundle) -> Iterator[Case]:
    """Yield a case for each trial; the first one that runs launches them all."""
    launch = _Launch(bundle)
    for number, trial in enumerate(bundle.trials):
        yield Case(
            trial.name,
            trial.subject,
            lambda number=number: launch.result(number),  # type: ignore[misc]
            lambda result, element, trial=trial: _described(  # type: ignore[misc]
                trial, result, element, bundle.lanes
            ),
            certainty_of(trial.subject, bundle.target),
        )


def _described(trial: Trial, result: int, element: int, lanes: int) -> str:
    """Say what the sources of a lane were."""
    kept = trial.results[result]
    per_lane = 4 * kept.register.dwords // element_type(kept.type).dtype.itemsize
    lane = element // per_lane
    parts = []
    for source in trial.sources:
        types = ((source.type, source.register.dwords),) * (source.place + 1)
        rows = operand_rows(types, lanes)[source.place]
        parts.append(f"src{source.place} = {_lane_text(rows[:, lane], source.type)}")
    where = f"lane {lane}"
    return f"{', '.join(parts)} in {where}" if parts else where


def _lane_text(dwords: Dwords, type: str) -> str:
    element = element_type(type)
    unsigned = np.dtype(f"u{element.bits // 8}")
    values = np.ascontiguousarray(dwords).view(unsigned)
    texts = [value_text(int(value), element) for value in values]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def bundled(trials: Iterable[Trial], size: int) -> Iterator[tuple[Trial, ...]]:
    """Yield the trials in groups of at most `size`."""
    part: list[Trial] = []
    for trial in trials:
        part.append(trial)
        if len(part) == size:
            yield tuple(part)
            part = []
    if part:
        yield tuple(part)


# Operands for many lanes: first pairs of special values of their types, then random values.

Dwords = NDArray[np.uint32]
"""The dwords of registers, by register and lane."""

_TYPE = re.compile(r"^(?:v(\d+))?([a-z]+?)(\d+)$")
# Zeros, ones, infinities, quiet and signalling NaNs with payloads, extremes, denormals, halves,
# numbers whose sums and products are ties, and those at the limits of integers.
_SPECIAL: dict[str, tuple[int, ...]] = {
    "f32": (
        0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC12345, 0xFFC00001,
        0x7F812345, 0xFF900002, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000, 0x80800001, 0x00000001,
        0x807FFFFF, 0x3F000000, 0x40200000, 0x4B800001, 0xCF000000,
    ),
    "f16": (
        0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E12, 0xFE01, 0x7D23, 0xFC45, 0x7BFF, 0xFBFF,
        0x0400, 0x8401, 0x0001, 0x83FF, 0x3800, 0x4100, 0x6801, 0xF800,
    ),
    "bf16": (
        0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC1, 0xFFC3, 0x7F81, 0xFF92, 0x7F7F, 0xFF7F,
        0x0080, 0x8081, 0x0001, 0x807F, 0x3F00, 0x4020, 0x4B81, 0xCF00,
    ),
    "f64": (
        0, 1 << 63, 0x3FF << 52, 0xBFF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8000012345678,
        0xFFF8000000000001, 0x7FF0000012345678, 0xFFF4000000000002, 0x7FEFFFFFFFFFFFFF,
        0xFFEFFFFFFFFFFFFF, 1 << 52, 0x8010000000000001, 1, 0x800FFFFFFFFFFFFF, 0x3FE << 52,
        0x4004 << 48, 0x4340000000000001, 0xC1E << 52,
    ),
}  # fmt: skip
_DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "i8": np.int8,
}
_UNSIGNED: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
# The first share of the lanes has pairs of special values, and the lanes after the second share
# have numbers of moderate size. The lanes between have random bits.
_GRID, _MODERATE = 0.75, 0.9


@dataclass(frozen=True)
class ElementType:
    """The type of the elements that a register holds."""

    name: str
    """The name, such as f16 or i32."""
    bits: int
    """The bits of each element."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of an element, or that of the dwords if NumPy has none."""
        found: np.dtype[Any] = np.dtype(_DTYPES.get(self.name, _UNSIGNED.get(self.bits, np.uint32)))
        return found


@cache
def element_type(type: str) -> ElementType:
    """Return the elements of an operand of a type of the decoder's tables (v2f16, u32, b128, ...);
    lane masks are dwords."""
    if type == "mask":
        return ElementType("u32", 32)
    match = _TYPE.match(type)
    assert match is not None, type
    name = f"{match[2]}{match[3]}"
    bits = int(match[3])
    return ElementType("u32", 32) if bits > 64 or (bits < 8) else ElementType(name, bits)


@cache
def special_bits(name: str, bits: int) -> tuple[int, ...]:
    """Return the most revealing values of a type, as bits."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    top = 1 << (bits - 1)
    whole = (1 << bits) - 1
    small = (0, 1, 2, 3, 7, bits - 1, bits, bits + 1, 0x55 & whole, 0x80 & whole)
    wide = (top, top - 1, top + 1, whole, whole - 1, 0x5555555555555555 & whole,
            0xAAAAAAAAAAAAAAAA & whole, 0x123456789ABCDEF0 & whole, 0xFF00FF00FF00FF00 & whole,
            top >> 1)  # fmt: skip
    return tuple(dict.fromkeys((*small, *wide)))


def operand_rows(types: tuple[tuple[str, int], ...], lanes: int) -> list[Dwords]:
    """Return each source's registers: their dwords by lanes.

    types: the type and the number of dwords of each source. The first lanes have all pairs of
    special values of the first two sources, and those of the other sources in a shuffled order that
    is always the same; then come random bits, and numbers of moderate size.
    """
    return [_rows(type, dwords, place, lanes) for place, (type, dwords) in enumerate(types)]


@cache
def _rows(type: str, dwords: int, place: int, lanes: int) -> Dwords:
    element = element_type(type)
    count = max(1, 32 * dwords // element.bits)
    seed = zlib.crc32(f"{type} {dwords} {place}".encode())
    generator = np.random.default_rng(seed)
    columns = [_column(element, place, lanes, number, generator) for number in range(count)]
    unsigned = _UNSIGNED[element.bits]
    packed = np.ascontiguousarray(np.stack(columns, axis=1).astype(unsigned))
    rows = np.ascontiguousarray(packed.view(np.uint32).reshape(lanes, dwords).T)
    rows.flags.writeable = False
    return rows


def _column(
    element: ElementType, place: int, lanes: int, number: int, generator: np.random.Generator
) -> NDArray[np.uint64]:
    """Return one element of each lane. number: its position in the register."""
    special = np.array(special_bits(element.name, element.bits), np.uint64)
    grid, moderate = int(lanes * _GRID), int(lanes * _MODERATE)
    found = generator.integers(0, 1 << 64, lanes, np.uint64)
    index = np.arange(grid)
    if number or place > 1:
        index = generator.permutation(grid)
    chosen = index % len(special) if place != 1 else index // len(special) % len(special)
    found[:grid] = special[chosen]
    found[moderate:] = _moderate(element, lanes - moderate, generator)
    found &= np.uint64((1 << element.bits) - 1)
    return found


def _moderate(
    element: ElementType, count: int, generator: np.random.Generator
) -> NDArray[np.uint64]:
    dtype = element.dtype
    if dtype.kind == "f" or element.name in ("bf16", "fp8", "bf8"):
        values = (generator.standard_normal(count) * 4).astype(dtype)
        bits: NDArray[np.uint64] = values.view(_UNSIGNED[element.bits]).astype(np.uint64)
        return bits
    return generator.integers(0, 100, count, np.uint64)


def value_text(bits: int, element: ElementType) -> str:
    """Return an element in words: its bits, and the number that they stand for."""
    digits = element.bits // 4
    dtype = element.dtype
    if dtype.kind not in "fiV":
        return f"0x{bits:0{digits}x}"
    number = np.array([bits], _UNSIGNED[element.bits]).view(dtype)[0]
    return f"0x{bits:0{digits}x} ({number})"


# The memory that memory instructions access: each lane has a cell, which is filled before the
# instruction and read back after it.


AREA_DWORDS = 32
"""Dwords of each work-item at the beginning of the output, where the cells in global memory are."""
CONTENT = v(136)
"""The first VGPR of the contents that cells have before the instruction."""
READ_BACK = v(168)
"""The first VGPR of the contents that they have after it."""
LDS_PLACE, GLOBAL, SCRATCH, FLAT = v(215), v(216), v(217), v(218, 2)
"""VGPRs with the address of a lane's cell: in LDS, relative to the output, in scratch, and flat."""
_QUAD = 4


class Memory(Enum):
    """The memory that cells are in."""

    LDS = "LDS"
    GLOBAL = "global"
    SCRATCH = "scratch"


@dataclass(frozen=True)
class Cells:
    """A cell for each lane."""

    memory: Memory
    dwords: int = 8
    """The size of a cell."""
    shift: int = 5
    """The base-2 logarithm of the distance between the addresses of neighbouring lanes, in bytes.
    The distance is smaller than a cell where lanes share cells."""

    def fill(self, program: Program) -> None:
        """Fill all cells from VGPRs."""
        self._places(program, (4 * self.dwords).bit_length() - 1)
        for first in range(0, self.dwords, _QUAD):
            self._move(program, "store", v(CONTENT.index + first, _QUAD), 4 * first)
        program.drain()
        self._places(program, self.shift)

    def read(self, program: Program) -> None:
        """Read all cells back into VGPRs."""
        self._places(program, (4 * self.dwords).bit_length() - 1)
        for first in range(0, self.dwords, _QUAD):
            self._move(program, "load", v(READ_BACK.index + first, _QUAD), 4 * first)
        program.drain()

    def _move(self, program: Program, verb: str, data: Register, at: int) -> None:
        stores = verb == "store"
        if self.memory is Memory.LDS:
            operands = (LDS_PLACE, data) if stores else (data, LDS_PLACE)
            program.add(f"ds_{verb}_b128", *operands, offset=at)
            return
        address = GLOBAL if self.memory is Memory.GLOBAL else SCRATCH
        base = OUTPUT if self.memory is Memory.GLOBAL else None
        operands = (address, data) if stores else (data, address)
        name = "global" if self.memory is Memory.GLOBAL else "scratch"
        program.add(f"{name}_{verb}_b128", *operands, base, offset=at)

    def _places(self, program: Program, shift: int) -> None:
        """Compute each lane's addresses inside the area of its own wave. Otherwise, cells of
        another size would overlap those of other waves, which may run at the same time."""
        program.drain()
        program.add("v_lshlrev_b32_e32", LDS_PLACE, shift, v(0))
        program.safe("v_lshlrev_b32_e32", GLOBAL, 2, v(0))
        program.safe("v_sub_nc_u32_e32", GLOBAL, PLACE, GLOBAL)
        program.safe("v_lshlrev_b32_e32", GLOBAL, AREA_DWORDS.bit_length() - 1, GLOBAL)
        program.safe("v_add_nc_u32_e32", GLOBAL, GLOBAL, LDS_PLACE)
        program.add("v_mov_b32_e32", SCRATCH, 0)
        low, high = v(FLAT.index), v(FLAT.index + 1)
        program.add("v_mov_b32_e32", high, s(OUTPUT.index + 1))
        program.drain()
        program.add("v_add_co_u32", low, program.vcc, s(OUTPUT.index), GLOBAL)
        program.drain()
        program.add("v_add_co_ci_u32", high, program.vcc, 0, high, program.vcc)
        program.drain()
