"""A wave's registers while a kernel is translated: stack slots, with values cached within a block.

A wave64 is two halves of 32 lanes. A vector register is a vector of 32 dwords for each half; those
of the upper half have numbers from 256 on. Reads and writes by the ISA's number reach the half that
`select_half` chose.

Vector registers that matrix instructions name live in the wave's state memory instead, so that
native functions can take their addresses; all others are stack slots, which LLVM turns into SSA
values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from amdjit.emulator.host.builder import Builder, Value, constant, element_of, vector
from amdjit.emulator.layout import (
    JUMP_SITE_SLOT,
    JUMP_TARGET_SLOT,
    MODE_SLOT,
    SCALAR_BYTES,
    VGPR_BYTES,
)
from amdjit.isa.register_numbers import EXEC_LO, HALF_LANES, HALF_VGPRS, SCC_SLOT
from amdjit.late_methods import dataclass

V32 = vector("i32")
FULL_MASK = Value(vector("i1"), "splat (i1 true)")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is known of the registers at one place; see `Registers`."""

    views: dict[tuple[str, int], dict[str, Value]]
    dirty: dict[tuple[str, int], None]
    full: list[bool]


class Registers:
    """Reads and writes of registers in the current block.

    A value is cached under (file, number, view); a view is the type it is read as. Writes stay in
    the cache until `flush`, which every block end calls.
    """

    def __init__(
        self, builder: Builder, in_memory: frozenset[int], wave_size: int = HALF_LANES
    ) -> None:
        self._builder = builder
        self._in_memory = in_memory
        self.halves = wave_size // HALF_LANES
        self.wave_half = 0
        self._first = 0
        self._full = [False] * self.halves
        # The registers whose inactive lanes nobody reads from here on, as a set of bits.
        self._unseen = 0
        self._views: dict[tuple[str, int], dict[str, Value]] = {}
        # In the order of the writes, which does not depend on the numbers of registers.
        self._dirty: dict[tuple[str, int], None] = {}
        self.used: set[tuple[str, int]] = set()

    # Halves

    def select_half(self, half: int) -> None:
        """Make the ISA's register numbers mean this half's vectors, and EXEC its dword."""
        self.wave_half, self._first = half, half * HALF_VGPRS

    @property
    def exec_slot(self) -> int:
        """The scalar register that holds the half's EXEC."""
        return EXEC_LO + self.wave_half

    @property
    def exec_is_full(self) -> bool:
        """Whether all lanes of the half are known to be active."""
        return self._full[self.wave_half]

    def know_ones(self, ones: frozenset[int]) -> None:
        """Record which scalar registers are known to be all ones."""
        self._full = [EXEC_LO + half in ones for half in range(self.halves)]

    def leave_unseen(self, registers: int) -> None:
        """Allow writes to change the inactive lanes of these vector registers: nobody reads them
        (`hidden_lanes.py`)."""
        self._unseen = registers

    def _written_lanes(self, index: int, mask: Value | None) -> Value:
        """Return the lanes that a write must be restricted to."""
        mask = mask or self.exec_mask()
        return FULL_MASK if self._unseen >> index & 1 and mask is self.exec_mask() else mask

    # Blocks

    def begin_block(self, ones: frozenset[int]) -> None:
        """Forget all values; the slots hold the registers. `ones`: the scalar registers whose bits
        are all set."""
        self._views.clear()
        self._dirty.clear()
        self.know_ones(ones)

    def flush(self) -> None:
        """Write all changed values to their slots."""
        for key in self._dirty:
            self._store(key)
        self._dirty.clear()

    def flush_vectors(self, first: int, count: int) -> None:
        """Write changed vector registers to their slots."""
        for index in range(first + self._first, first + self._first + count):
            if ("v", index) in self._dirty:
                self._store(("v", index))
                self._dirty.pop(("v", index), None)

    def forget_vectors(self, first: int, count: int) -> None:
        """Drop cached values after native code has changed the registers in memory."""
        for index in range(first + self._first, first + self._first + count):
            self._views.pop(("v", index), None)
            self._dirty.pop(("v", index), None)

    def _store(self, key: tuple[str, int]) -> None:
        value = self._views[key]["i1" if key == ("s", SCC_SLOT) else "i32"]
        self._builder.store(value, self.slot(*key), 64 if key[0] == "v" else 4)

    def slot(self, file: str, index: int) -> Value:
        """Return the address of a register's slot; vectors of the upper half have numbers from 256
        on."""
        self.used.add((file, index))
        if file == "v" and index in self._in_memory:
            return self._builder.offset(Value("ptr", "%state"), SCALAR_BYTES + index * VGPR_BYTES)
        return Value("ptr", f"%{file}{index}.slot")

    def vector_slot(self, index: int) -> Value:
        """Return the address of a vector register's slot."""
        return self.slot("v", index + self._first)

    def in_memory(self, index: int) -> bool:
        """Whether a vector register lives in the state memory."""
        return index + self._first in self._in_memory

    @contextmanager
    def stand_in(self, values: Mapping[int, Value]) -> Iterator[None]:
        """Give vector registers other values for a while, without a trace afterwards."""
        # These are not the instruction's own registers: all their lanes count.
        unseen, self._unseen = self._unseen, 0
        views, dirty = {key: dict(known) for key, known in self._views.items()}, dict(self._dirty)
        for index, value in values.items():
            self._write("v", index + self._first, value)
        yield
        self._views, self._dirty, self._unseen = views, dirty, unseen

    # Paths that part and join

    def snapshot(self) -> Snapshot:
        """Return what is known of all registers."""
        return Snapshot(
            {key: dict(views) for key, views in self._views.items()},
            dict(self._dirty),
            list(self._full),
        )

    def restore(self, known: Snapshot) -> None:
        """Return to what was known at a snapshot."""
        self._views = {key: dict(views) for key, views in known.views.items()}
        self._dirty, self._full = dict(known.dirty), list(known.full)

    def join(self, other: tuple[Snapshot, str], end: str) -> None:
        """Join another path, which ended in the block `other[1]`, with this one, which ended in
        `end`, at the start of the block after both."""
        (there, start), here = other, self.snapshot()
        self.restore(there)
        joined = {}
        for key in {**there.dirty, **here.dirty}:
            for base in ("i32", "i1", "i64"):
                values = [views.get(key, {}).get(base) for views in (there.views, here.views)]
                if values[0] is not None and values[1] is not None and values[0] != values[1]:
                    text = f"[ {values[0].text}, %{start} ], [ {values[1].text}, %{end} ]"
                    joined[key, base] = self._builder.emit(
                        values[0].type, f"phi {values[0].type} {text}"
                    )
        for (key, base), value in joined.items():
            if base != "i64":
                self._write(*key, value)
        for (key, base), value in joined.items():
            if base == "i64":
                self._views[key][base] = value

    # Raw registers

    def _read(self, file: str, index: int, type_name: str) -> Value:
        views = self._views.setdefault((file, index), {})
        base = "i1" if type_name == "i1" else "i32"
        if base not in views:
            views[base] = self._builder.load(
                type_name, self.slot(file, index), 64 if file == "v" else 4
            )
        return views[base]

    def _write(self, file: str, index: int, value: Value) -> None:
        key = (file, index)
        base = "i1" if value.type == "i1" else "i32"
        self._views[key] = {base: value}
        self._drop_pairs(file, index)
        self._dirty[key] = None
        self.used.add(key)

    def _drop_pairs(self, file: str, index: int) -> None:
        below = self._views.get((file, index - 1))
        if below:
            below.pop("i64", None)
            below.pop("double", None)

    def scalar(self, index: int) -> Value:
        """Read a scalar register as i32."""
        half = index - EXEC_LO
        if half >= self.halves:
            return constant("i32", 0)
        if half >= 0 and self._full[half]:
            return constant("i32", -1)
        return self._read("s", index, "i32")

    def write_scalar(self, index: int, value: Value) -> None:
        """Write a scalar register. EXEC counts as not full afterwards; the caller may know more."""
        half = index - EXEC_LO
        if half >= self.halves:
            return
        if half >= 0:
            self._full[half] = False
        self._write("s", index, value)

    def scalar_wide(self, index: int) -> Value:
        """Read a pair of scalar registers as i64."""
        views = self._views.setdefault(("s", index), {})
        if "i64" not in views:
            wide = self._builder.concat_bits(self.scalar(index), self.scalar(index + 1))
            views["i64"] = wide
        return views["i64"]

    def write_scalar_wide(self, index: int, value: Value) -> None:
        """Write a pair of scalar registers."""
        low, high = self._builder.split_bits(value)
        self.write_scalar(index, low)
        self.write_scalar(index + 1, high)
        # The upper half of EXEC does not exist in wave32.
        if index + 1 - EXEC_LO < self.halves:
            self._views[("s", index)]["i64"] = value

    def scalar_splat(self, index: int) -> Value:
        """Read a scalar register into all lanes."""
        scalar = self.scalar(index)
        if not scalar.text.startswith("%"):
            return self._builder.splat(scalar)
        views = self._views[("s", index)]
        if "splat" not in views:
            views["splat"] = self._builder.splat(scalar)
        return views["splat"]

    def mask(self, index: int) -> Value:
        """Read a scalar register as 32 conditions."""
        if EXEC_LO <= index < EXEC_LO + self.halves and self._full[index - EXEC_LO]:
            return FULL_MASK
        scalar = self.scalar(index)
        views = self._views.setdefault(("s", index), {})
        if "mask" not in views:
            views["mask"] = self._builder.lane_mask(scalar)
        return views["mask"]

    def exec_bits(self) -> Value:
        """Read the half's EXEC as i32."""
        return self.scalar(EXEC_LO + self.wave_half)

    def exec_mask(self) -> Value:
        """Read the half's EXEC as 32 conditions."""
        return self.mask(EXEC_LO + self.wave_half)

    def mode_bits(self) -> Value:
        """Read the MODE register as i32, in kernels that keep it at run time."""
        return self._read("s", MODE_SLOT, "i32")

    def write_mode_bits(self, value: Value) -> None:
        """Write the MODE register."""
        self._write("s", MODE_SLOT, value)

    # The jump that all indirect ones share

    def jump(self) -> tuple[Value, Value]:
        """Read where it goes, as i64, and its site."""
        low, high = (self._read("s", JUMP_TARGET_SLOT + half, "i32") for half in range(2))
        return self._builder.concat_bits(low, high), self._read("s", JUMP_SITE_SLOT, "i32")

    def write_jump(self, target: Value, site: Value) -> None:
        """Write where it goes and its site."""
        low, high = self._builder.split_bits(target)
        self._write("s", JUMP_TARGET_SLOT, low)
        self._write("s", JUMP_TARGET_SLOT + 1, high)
        self._write("s", JUMP_SITE_SLOT, site)

    @property
    def condition_code(self) -> Value:
        """SCC as i1."""
        return self._read("s", SCC_SLOT, "i1")

    def write_condition_code(self, value: Value) -> None:
        """Write SCC."""
        self._write("s", SCC_SLOT, value)

    # Vector registers

    def vector(self, index: int, element: str = "i32") -> Value:
        """Read a vector register as 32 elements of 32 bits."""
        number = index + self._first
        value = self._read("v", number, V32)
        if element == "i32":
            return value
        views = self._views[("v", number)]
        if element not in views:
            views[element] = self._builder.bitcast(value, element)
        return views[element]

    def vector_wide(self, index: int, element: str = "i64") -> Value:
        """Read a pair of vector registers as 32 elements of 64 bits."""
        self.vector(index)
        views = self._views[("v", index + self._first)]
        if "i64" not in views:
            views["i64"] = self._builder.concat_bits(self.vector(index), self.vector(index + 1))
        if element not in views:
            views[element] = self._builder.bitcast(views["i64"], element)
        return views[element]

    def write_vector(self, index: int, value: Value, mask: Value | None = None) -> None:
        """Write a vector register in the lanes of EXEC, or of `mask`."""
        bits = self._builder.bitcast(value, "i32")
        mask = self._written_lanes(index, mask)
        number = index + self._first
        if mask is not FULL_MASK:
            self._write("v", number, self._builder.select(mask, bits, self.vector(index)))
            return
        self._write("v", number, bits)
        if value.type != bits.type:
            self._views[("v", number)][element_of(value.type)] = value

    def write_vector_wide(self, index: int, value: Value, mask: Value | None = None) -> None:
        """Write a pair of vector registers."""
        whole = self._builder.bitcast(value, "i64")
        lanes = [self._written_lanes(index + part, mask) for part in (0, 1)]
        known = self._views.get(("v", index + self._first), {}).get("i64")
        if lanes[0] is lanes[1] is not FULL_MASK and known is not None:
            whole = value = self._builder.select(lanes[0], whole, known)
            lanes = [FULL_MASK, FULL_MASK]
        for part, bits in enumerate(self._builder.split_bits(whole)):
            self.write_vector(index + part, bits, lanes[part])
        if lanes[0] is lanes[1] is FULL_MASK:
            views = self._views[("v", index + self._first)]
            views["i64"] = whole
            views[element_of(value.type)] = value

    def write_half(self, index: int, half: int, value: Value, mask: Value | None = None) -> None:
        """Write 16 bits of a vector register; the other half keeps its value (RDNA 4 ISA, 16-bit
        operands)."""
        builder = self._builder
        new = builder.resize(builder.bitcast(value, "i16"), 32)
        if half:
            new = builder.shift("shl", new, 16)
        kept = builder.and_(self.vector(index), constant(V32, 0xFFFF if half else 0xFFFF0000))
        self.write_vector(index, builder.or_(kept, new), mask)

    def half(self, index: int, half: int, element: str = "i16") -> Value:
        """Read 16 bits of a vector register."""
        name = f"half{half}"
        whole = self.vector(index)
        views = self._views[("v", index + self._first)]
        if name not in views:
            shifted = self._builder.shift("lshr", whole, 16) if half else whole
            views[name] = self._builder.resize(shifted, 16)
        return self._builder.bitcast(views[name], element)
