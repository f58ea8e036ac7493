"""Cases of gfx9's buffer instructions for which the documents say what happens.

CDNA 3 ISA, "Buffer Resource Descriptor" and "Buffer Addressing"; Mesa's description of NUM_RECORDS
(`ac_descriptors.c`) names what decides between records and bytes otherwise than the ISA document
does. So resources with records are such that both agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.emulator.model.buffers import Address, Resource, format_size
from tests.emulator.model.cases.buffer_cases import format_number, selection, store_data
from tests.emulator.model.cases.buffer_programs import DATA, INDEX, OFFSET, ROWS, BufferCase
from tests.emulator.model.tables import tables


@dataclass(frozen=True)
class Gfx9Resource(Resource):
    """gfx9's fields: the format has two parts, elements of 4 bytes are swizzled."""

    @property
    def record_bytes(self) -> int:
        return self.stride

    def high_words(self) -> tuple[int, int, int]:
        selects = sum(code << 3 * number for number, code in enumerate(self.select))
        # With ADD_TID_ENABLE the field of the data's format has upper bits of the stride.
        data = 0 if self.add_tid else self.format & 15
        last = selects | (self.format >> 4) << 12 | data << 15
        last |= self.index_stride << 21 | self.add_tid << 23
        return self.stride << 16 | self.swizzle << 31, self.records, last

    def _row(self, where: Address) -> int:
        return where.index + (where.lane if self.add_tid else 0)

    def inside(self, where: Address, first: int, payload: int) -> bool:
        if self.stride:
            return self._row(where) < self.records
        return where.own_offset + first + payload <= max(self.records - where.soffset, 0)

    def is_settled(self, where: Address, payload: int) -> bool:
        """Records and bytes say the same, and no offset leaves its record."""
        if not self.stride:
            return True
        end = where.own_offset + payload
        last = self._row(where) * self.stride + end + where.soffset
        inside = self._row(where) < self.records
        return end <= self.stride and inside == (last <= self.records)

    def byte_of(self, where: Address) -> int:
        row = self._row(where)
        if not self.swizzle:
            return where.soffset + where.own_offset + self.stride * row
        many = (8, 16, 32, 64)[self.index_stride]
        offset = where.own_offset
        rows = row // many * self.stride + offset // 4 * 4
        return where.soffset + rows * many + row % many * 4 + offset % 4


def make_gfx9_case(
    name: str, waves: int, random: np.random.Generator, number: int | None = None
) -> BufferCase:
    """Return a case that the documents define."""
    number = format_number(name, random) if number is None else number
    size = format_size(number) if "_format_" in name else tables().memory[name].size
    grain = min(size & -size, 8)
    while True:
        resource = _resource(name, number, size, random)
        indexed = resource.stride != 0
        offset = bool(random.integers(3))
        soffset = 0 if random.integers(2) else max(grain, 4) * int(random.integers(0, 8))
        ioffset = grain * int(random.choice([0, 0, 1, 2]))
        case = BufferCase(
            name,
            resource,
            number,
            soffset,
            ioffset,
            indexed,
            offset,
            bool(random.integers(2)),
            False,
        )
        case.rows = [_row(case, grain, random) for _ in range(waves)]
        if case.is_defined():
            return case


def _resource(name: str, number: int, size: int, random: np.random.Generator) -> Gfx9Resource:
    """Plain bytes, or records, with swizzling where the lane's number is added; some lanes, all or
    none are outside."""
    kind = int(random.integers(3))
    swizzle = int(kind == 2 and size <= 4 and "atomic" not in name and "_format_" not in name)
    stride = 0 if kind == 0 else 4 * int(random.integers(1, 10))
    some, few = 4 * int(random.integers(1, 400)), int(random.choice([0, 1 << 20]))
    records = few if stride else some
    fixed = number if "_format_" in name and name.startswith("buffer") else 4 | 4 << 4
    index_stride, select = int(random.integers(4)), selection(name, number, random)
    return Gfx9Resource(stride, swizzle, records, select, fixed, 0, index_stride, swizzle)


def _row(case: BufferCase, grain: int, random: np.random.Generator) -> NDArray[np.uint32]:
    rows = random.integers(0, 1 << 32, (ROWS, 64), np.uint32)
    rows[INDEX] = random.permutation(80)[:64]
    if case.resource.stride:
        rows[OFFSET] = random.integers(0, 3, 64) * grain
    else:
        rows[OFFSET] = random.permutation(96)[:64] * max(grain, min(case.size, 16))
        rows[OFFSET, random.integers(64)] = 0x7FFFFFF0
    if case.formatted and not case.loads:
        rows[DATA : DATA + 4] = store_data(case, random)
    return rows
