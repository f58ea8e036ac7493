"""Programs of memory accesses: each instruction has a piece of memory of its own, which the model
changes, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import emulate, own_parts
from tests.emulator.model.cases.programs import PARTIAL
from tests.emulator.model.families import assembled, instruction_set, is_gfx9
from tests.emulator.model.memory import Access, Atomic, Load, Store, signed
from tests.emulator.model.tables import tables
from tests.emulator.model.values import differences
from tests.emulator.model.waves import all_lanes, lane_mask, lanes_of_wave, set_mask

Rows = NDArray[np.uint32]
# Words 3 of a buffer of dwords (RDNA 4 ISA, 9.1.5; CDNA 3 ISA, 9.1.8).
_WORDS, _GFX9_WORDS = 0x30014000, 0x00020000
# Rows of inputs: any offset, 16-byte places (each lane its own), places that lanes share, four of
# data, four old. Groups of registers begin at even numbers, as gfx90a wants them.
_ANY, _OWN, _SHARED, _DATA, _OLD, _ROWS = 0, 1, 2, 4, 8, 12


def _region() -> int:
    """Return the bytes of memory of a wave: 16 of each lane."""
    return 16 * lanes_of_wave()


def _case_bytes() -> int:
    """Return the bytes of a case: memory, and four dwords of each lane's results."""
    return 2 * _region()


def inputs_for_memory(waves: int, random: np.random.Generator) -> Rows:
    """Rows by waves and lanes."""
    lanes = lanes_of_wave()
    rows = random.integers(0, 1 << 32, (_ROWS, waves, lanes), np.uint32)
    rows[_ANY] = random.integers(0, _region() - 32, (waves, lanes))
    rows[_OWN] = np.stack([random.permutation(lanes) for _ in range(waves)]) * 16
    rows[_SHARED] = random.integers(0, 6, (waves, lanes)) * 8
    return rows


@dataclass(frozen=True)
class MemoryCase:
    """One access: its mnemonic, whether EXEC is partial, which row holds the offsets.

    moved: what a scalar register adds to the address, and the instruction's offset takes off. wide:
    all of the address is in vector registers. silent: an atomic that does not return.
    """

    name: str
    access: Access
    partial: bool
    offset: int
    row: int
    moved: int = 0
    wide: bool = False
    silent: bool = False

    @property
    def space(self) -> str:
        return self.name.split("_")[0]

    @property
    def returns(self) -> bool:
        return isinstance(self.access, Load) or (
            isinstance(self.access, Atomic) and not self._silent()
        )

    def _silent(self) -> bool:
        return "_rtn_" not in self.name if self.space == "ds" else self.silent

    # Text

    def lines(self, number: int) -> list[str]:
        base = number * _case_bytes()
        lines = [f"  s_add_co_u32 s50, s2, {base:#x}", "  s_add_co_ci_u32 s51, s3, 0"]
        lines += [f"  v_mov_b32 v{100 + part}, v{2 + _OLD + part}" for part in range(4)]
        lines += [f"  v_mov_b32 v20, v{2 + self.row}", *self._prepared()]
        lines += set_mask("exec_lo", lane_mask(PARTIAL)) if self.partial else []
        lines += [f"  {self.text()}", *all_lanes(), *self._finished()]
        return [*lines, f"  global_store_b128 v251, v[100:103], s[50:51] offset:{_region()}"]

    def _prepared(self) -> list[str]:
        base = [f"  s_add_co_u32 s56, s50, {self.moved}", "  s_add_co_ci_u32 s57, s51, 0"]
        if self.space == "global" and not self.wide:
            return base
        if self.space in ("flat", "global"):
            return [
                "  v_add_co_u32 v22, vcc_lo, s50, v20",
                "  v_mov_b32 v23, s51",
                "  v_add_co_ci_u32_e32 v23, vcc_lo, 0, v23, vcc_lo",
            ]
        if self.space == "buffer":
            return [
                "  s_mov_b32 s52, s50",
                "  s_and_b32 s53, s51, 0xffff",
                f"  s_movk_i32 s54, {_region()}",
                f"  s_mov_b32 s55, {buffer_words():#x}",
            ]
        if self.space in ("ds", "scratch"):
            store = (
                "ds_store_b128 v251, v[24:27]"
                if self.space == "ds"
                else "scratch_store_b128 v28, v[24:27], off"
            )
            zero, scalar = "  v_mov_b32 v28, 0", f"  s_mov_b32 s56, {self.moved}"
            return [zero, "  global_load_b128 v[24:27], v251, s[50:51]", f"  {store}", scalar]
        return []

    def _finished(self) -> list[str]:
        if self.space not in ("ds", "scratch"):
            return []
        load = (
            "ds_load_b128 v[24:27], v251"
            if self.space == "ds"
            else "scratch_load_b128 v[24:27], v28, off"
        )
        return [f"  {load}", "  global_store_b128 v251, v[24:27], s[50:51]"]

    def text(self) -> str:
        tail = f" offset:{self.offset - self.moved}"
        if isinstance(self.access, Atomic) and self.space != "ds" and not self.silent:
            tail += " th:TH_ATOMIC_RETURN"
        data = _group(2 + _DATA, self._data_dwords())
        target = _group(100, max(1, self.access.size // 4))
        if self.space == "ds":
            second = (
                f", {_group(2 + _DATA + 2, self.access.size // 4)}" if self._operands() == 2 else ""
            )
            first = (
                f", {_group(2 + _DATA, max(1, self.access.size // 4))}"
                if not isinstance(self.access, Load)
                else ""
            )
            return f"{self.name} {f'{target}, ' if self.returns else ''}v20{first}{second}{tail}"
        address = {
            "global": ("v[22:23]", ", off") if self.wide else ("v20", ", s[56:57]"),
            "flat": ("v[22:23]", ""),
            "scratch": ("off" if self.wide else "v20", ", s56" if self.moved else ", off"),
            "buffer": ("v20", ", s[52:55], null offen"),
        }[self.space]
        if self.space == "buffer":
            if isinstance(self.access, Atomic):
                # The data registers take the result.
                return (
                    f"{self.name} {_group(100, self._data_dwords())}, "
                    f"{address[0]}{address[1]}{tail}"
                )
            value = target if isinstance(self.access, Load) else data
            return f"{self.name} {value}, {address[0]}{address[1]}{tail}"
        if isinstance(self.access, Load):
            return f"{self.name} {target}, {address[0]}{address[1]}{tail}"
        if isinstance(self.access, Store):
            return f"{self.name} {address[0]}, {data}{address[1]}{tail}"
        result = "" if self.silent else f"{target}, "
        return f"{self.name} {result}{address[0]}, {data}{address[1]}{tail}"

    def _operands(self) -> int:
        return self.access.operands if isinstance(self.access, Atomic) else 1

    def _data_dwords(self) -> int:
        return max(1, self.access.size // 4) * self._operands()

    # Meaning

    def apply(self, memory: bytearray, rows: Rows) -> Rows:
        """Change one wave's memory lane by lane; `rows` are its inputs. Returns v100 to v103."""
        result = rows[_OLD : _OLD + 4].copy()
        for lane in range(lanes_of_wave()):
            if not self.partial or lane_mask(PARTIAL) >> lane & 1:
                self._lane(memory, rows[:, lane], result[:, lane], lane)
        return result

    def _lane(
        self, memory: bytearray, inputs: NDArray[np.uint32], result: NDArray[np.uint32], lane: int
    ) -> None:
        place = int(inputs[self.row]) + self.offset + (16 * lane if self.space == "scratch" else 0)
        here = slice(place, place + self.access.size)
        old = int.from_bytes(memory[here], "little")
        if isinstance(self.access, Load):
            _put_loaded(result, old, self.access)
            return
        first = _OLD if self.space == "buffer" and isinstance(self.access, Atomic) else _DATA
        if isinstance(self.access, Store):
            value = _joined(inputs[first : first + 4]) >> self.access.shift
        else:
            dwords = self.access.size // 4
            places = [first, first + (2 if self.space == "ds" else dwords)]
            operands = [_joined(inputs[p : p + dwords]) for p in places[: self.access.operands]]
            value = self.access.compute(old, *operands)
            if self.returns:
                result[:dwords] = [old >> 32 * part & 0xFFFFFFFF for part in range(dwords)]
        mask = (1 << 8 * self.access.size) - 1
        memory[here] = (value & mask).to_bytes(self.access.size, "little")

    @property
    def code(self) -> str:
        """How memory is compared: as floats where NaNs may have any pattern."""
        return (self.access.code if isinstance(self.access, Atomic) else "") or "b32"


def _group(first: int, dwords: int) -> str:
    return f"v{first}" if dwords == 1 else f"v[{first}:{first + dwords - 1}]"


def _joined(dwords: NDArray[np.uint32]) -> int:
    return sum(int(value) << 32 * part for part, value in enumerate(dwords))


def _put_loaded(result: NDArray[np.uint32], old: int, load: Load) -> None:
    value = signed(old, load.size) if load.signed else old
    if load.half is not None:
        kept = int(result[0]) & (0xFFFF if load.half else 0xFFFF0000)
        result[0] = kept | (value & 0xFFFF) << 16 * load.half
        return
    for part in range(max(1, load.size // 4)):
        result[part] = value >> 32 * part & 0xFFFFFFFF


# A row of zeros after the others, for private memory, where each lane has its own.
_ZERO = _ROWS


def memory_cases(
    table: Mapping[str, Access], random: np.random.Generator, forms: int
) -> list[MemoryCase]:
    """Every access, `forms` times with offsets, masks and collisions of their own."""
    cases = []
    for name, access in table.items():
        for _ in range(forms):
            row, offset = _place(name, access, random)
            partial, wide = bool(random.integers(2)), bool(random.integers(2))
            silent = (
                isinstance(access, Atomic)
                and not name.startswith("ds")
                and "_csub_" not in name
                and (bool(random.integers(2)) or returns_nothing(name))
            )
            moved = _moved(name, wide, random)
            if name.startswith("scratch") and instruction_set().name in (
                "gfx906",
                "gfx908",
                "gfx90a",
            ):
                wide = moved != 0  # a scalar or a vector makes the address
            cases.append(MemoryCase(name, access, partial, offset, row, moved, wide, silent))
    return cases


def buffer_words() -> int:
    """Return the last dword of a plain buffer's description."""
    return _GFX9_WORDS if is_gfx9() else _WORDS


def returns_nothing(name: str) -> bool:
    """gfx908's atomics of floats have no form that returns (LLVM's
    `FeatureAtomicFaddNoRtnInsts`)."""
    return instruction_set().name == "gfx908" and name.endswith(("add_f32", "pk_add_f16"))


def _moved(name: str, wide: bool, random: np.random.Generator) -> int:
    """Return what a scalar register may add to the address: private memory takes one beside a
    vector or alone."""
    if name.startswith("scratch"):
        return 4 * int(random.integers(5))
    return int(random.choice([0, 4, 64, 4096])) if name.startswith("global") and not wide else 0


def _place(name: str, access: Access, random: np.random.Generator) -> tuple[int, int]:
    """The row of offsets and the instruction's own offset. Lanes store to places of their own,
    atomics may meet."""
    if name.startswith("scratch"):
        return _ZERO, int(random.integers(0, 17 - access.size))
    if isinstance(access, Atomic):
        return int(random.choice([_OWN, _SHARED])), 8 * int(random.integers(2))
    if isinstance(access, Store):
        return _OWN, int(random.integers(0, 17 - access.size))
    return _ANY, int(random.integers(0, 16))


def run_memory_cases(
    cases: list[MemoryCase], inputs: Rows, random: np.random.Generator
) -> list[str]:
    """Run all cases on all waves; return what is wrong."""
    waves = inputs.shape[1]
    inputs = np.concatenate([inputs, np.zeros((1, waves, lanes_of_wave()), np.uint32)])
    before = random.integers(0, 1 << 32, (waves, len(cases), _case_bytes() // 4), np.uint32)
    output = before.copy()
    loads = [
        f"  global_load_b32 v{2 + row}, v250, s[0:1] offset:{4 * lanes_of_wave() * row}"
        for row in range(len(inputs))
    ]
    body = [line for number, case in enumerate(cases) for line in case.lines(number)]
    row = 4 * lanes_of_wave()
    head = own_parts(input_bytes=row * len(inputs), output_bytes=_case_bytes() * len(cases))
    code = assembled("\n".join([head, *loads, *body, ""]), lds=_region(), private=64)
    emulate(
        code,
        "kernel",
        waves,
        lanes_of_wave(),
        [np.ascontiguousarray(inputs.transpose(1, 0, 2)), output],
    )
    failures = []
    for number, case in enumerate(cases):
        text = _compare(case, inputs, before[:, number], output[:, number])
        if text:
            failures.append(f"{case.text()}{' (partial EXEC)' if case.partial else ''}: {text}")
    return failures


def _compare(case: MemoryCase, inputs: Rows, before: Rows, after: Rows) -> str:
    for wave in range(inputs.shape[1]):
        memory = bytearray(before[wave, : _region() // 4].tobytes())
        result = case.apply(memory, inputs[:, wave])
        kind, code = (np.uint64, "f64") if case.code == "f64" else (np.uint32, case.code)
        expected = np.frombuffer(bytes(memory), kind).astype(np.uint64)
        found = after[wave, : _region() // 4].view(kind).astype(np.uint64)
        wrong = differences(found, expected, code, 0, 0.0)
        if wrong.any():
            place = int(np.argmax(wrong))
            return (
                f"wave {wave}, memory {place}: {int(found[place]):x} for {int(expected[place]):x}"
            )
        registers = after[wave, _region() // 4 :][: 4 * lanes_of_wave()].reshape(-1, 4).T
        bad = np.zeros(lanes_of_wave(), bool)
        for mine, right in zip(registers, result, strict=True):
            part = "b32" if code == "f64" else code
            bad |= differences(mine.astype(np.uint64), right.astype(np.uint64), part, 0, 0.0)
        if bad.any():
            lane = int(np.argmax(bad))
            return f"wave {wave}, lane {lane}: registers {registers[:, lane]} for {result[:, lane]}"
    return ""


def run_scalar_loads(waves: int, random: np.random.Generator) -> list[str]:
    """Scalar loads at offsets of their own; a buffer's dwords past its end are 0."""
    loads = tables().scalar_loads
    names = list(loads)
    offsets = [int(random.integers(0, 100)) for _ in names]
    records = 128
    lines = []
    for number, (name, offset) in enumerate(zip(names, offsets, strict=True)):
        load = loads[name]
        dwords = max(1, load.size // 4)
        target = "s64" if dwords == 1 else f"s[64:{63 + dwords}]"
        base = "s[52:55]" if "buffer" in name else "s[0:1]"
        aligned = offset & ~3 if load.size >= 4 else offset
        offsets[number] = aligned
        lines += [f"  {name} {target}, {base}, {aligned:#x}", "  s_wait_kmcnt 0x0"]
        for part in range(dwords):
            lines += [
                f"  v_mov_b32 v2, s{64 + part}",
                f"  global_store_b32 v1, v2, s[2:3] offset:{64 * number + 4 * part}",
            ]
    head = own_parts(input_bytes=256, output_bytes=64 * len(names))
    setup = (
        f"  s_mov_b32 s52, s0\n  s_and_b32 s53, s1, 0xffff\n  s_movk_i32 s54, {records}\n  "
        f"s_mov_b32 s55, {buffer_words():#x}\n"
    )
    source = random.integers(0, 1 << 32, (waves, 64), np.uint32)
    found = np.zeros((waves, len(names), 16), np.uint32)
    text = "\n".join([head, setup, "  v_mov_b32 v1, 0", *lines, ""])
    emulate(assembled(text), "kernel", waves, lanes_of_wave(), [source, found])
    wrong = []
    for number, (name, offset) in enumerate(zip(names, offsets, strict=True)):
        load = loads[name]
        for wave in range(waves):
            data = source[wave].tobytes()
            data = data[:records] + bytes(256) if "buffer" in name else data + bytes(64)
            value = int.from_bytes(data[offset : offset + load.size], "little")
            value = signed(value, load.size) if load.signed else value
            expected = [value >> 32 * part & 0xFFFFFFFF for part in range(max(1, load.size // 4))]
            if list(found[wave, number, : len(expected)]) != expected:
                wrong.append(
                    f"{name} at {offset}: {found[wave, number, : len(expected)]} for {expected}"
                )
                break
    return wrong
