"""Scalar instructions that choose what runs next, which register is meant, or how floats are
rounded; no-operations.

RDNA 4 ISA, 16.1 (S_MOVREL*, S_GETPC, S_SWAPPC, S_*_SAVEEXEC_B64), 16.3 (S_CALL, S_GETREG,
S_SETREG), 16.5 (branches). A wave is one case: its inputs are eight dwords, in s40 to s47; it
leaves s60, s61 and s62.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from tests.emulator.model.scalars import EXEC_OPS

Inputs = NDArray[np.uint32]
_LABELS = count()
ONES = 0xFFFFFFFF

# What leaves all registers as they are; waits, hints and caches.
NO_EFFECT: dict[str, str] = {
    "v_nop": "v_nop",
    "v_pipeflush": "v_pipeflush",
    "ds_nop": "ds_nop",
    "s_nop": "s_nop 3",
    "s_delay_alu": "s_delay_alu instid0(SALU_CYCLE_1)",
    "s_clause": "s_clause 0x1",
    "s_wait_alu": "s_wait_alu depctr_va_vdst(0)",
    **{
        f"s_wait_{name}": f"s_wait_{name} 0x0"
        for name in ("bvhcnt", "dscnt", "expcnt", "kmcnt", "loadcnt")
    },
    **{
        f"s_wait_{name}": f"s_wait_{name} 0x0"
        for name in ("samplecnt", "storecnt", "loadcnt_dscnt", "storecnt_dscnt")
    },
    "s_wait_event": "s_wait_event 0x1",
    "s_wait_idle": "s_wait_idle",
    "s_setprio": "s_setprio 2",
    "s_sleep": "s_sleep 1",
    "s_sleep_var": "s_sleep_var s40",
    "s_wakeup": "s_wakeup",
    "s_dcache_inv": "s_dcache_inv",
    "s_icache_inv": "s_icache_inv",
    "s_incperflevel": "s_incperflevel 1",
    "s_decperflevel": "s_decperflevel 1",
    "s_ttracedata": "s_ttracedata",
    "s_ttracedata_imm": "s_ttracedata_imm 0x1",
    "s_version": "s_version 0x1",
    "s_prefetch_inst": "s_prefetch_inst s[0:1], 0x10, null, 1",
    "s_prefetch_inst_pc_rel": "s_prefetch_inst_pc_rel 0x10, null, 1",
    "s_prefetch_data": "s_prefetch_data s[0:1], 0x10, null, 1",
    "s_prefetch_data_pc_rel": "s_prefetch_data_pc_rel 0x10, null, 1",
    "s_buffer_prefetch_data": "s_buffer_prefetch_data s[40:43], 0x10, null, 1",
    "global_inv": "global_inv scope:SCOPE_DEV",
    "global_wb": "global_wb scope:SCOPE_DEV",
    "global_wbinv": "global_wbinv scope:SCOPE_SYS",
}
_BRANCHES = ("scc0", "scc1", "vccz", "vccnz", "execz", "execnz")
ALL = (
    *NO_EFFECT,
    "s_branch",
    *(f"s_cbranch_{name}" for name in _BRANCHES),
    *(f"s_{name}_b64" for name in ("getpc", "setpc", "swappc", "call", "movrels", "movreld")),
    *("s_movrels_b32", "s_movreld_b32", "s_movrelsd_2_b32"),
    *("s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32", "s_round_mode", "s_denorm_mode"),
    "s_endpgm",
)
ALL64 = (
    *(f"s_{name}_saveexec_b64" for name in EXEC_OPS),
    *("s_and_not0_wrexec_b64", "s_and_not1_wrexec_b64"),
)


@dataclass(frozen=True)
class ControlCase:
    """Lines, and what the three registers hold afterwards, by waves."""

    text: str
    body: tuple[str, ...]
    expected: NDArray[np.uint32]

    def lines(self) -> list[str]:
        return [
            "  s_mov_b32 s60, s44",
            "  s_mov_b32 s61, s45",
            "  s_mov_b32 s62, s46",
            *(f"  {x}" for x in self.body),
        ]

    def judge(self, found: Inputs) -> NDArray[np.bool_]:
        return np.asarray((found != self.expected).any(0))


class ControlFlow:
    """Makes the cases on the same inputs."""

    def __init__(self, inputs: Inputs, random: np.random.Generator) -> None:
        self._inputs = inputs
        self._random = random

    def _case(
        self, text: str, body: list[str], s60: object = None, s61: object = None, s62: object = None
    ) -> ControlCase:
        """s60, s61, s62: what differs from what was there."""
        rows = [
            np.asarray(self._inputs[4 + n] if value is None else value)
            for n, value in enumerate((s60, s61, s62))
        ]
        expected = np.stack(
            [np.broadcast_to(row, self._inputs.shape[1:]).astype(np.uint64) & ONES for row in rows]
        )
        return ControlCase(text, tuple(body), expected.astype(np.uint32))

    def cases(self, times: int, idle: Iterable[str]) -> Iterator[ControlCase]:
        """Yield cases for waves of 32 lanes, of which one is active; idle: what has no effect."""
        for _ in range(times):
            for name in _BRANCHES:
                yield self._branch(name)
            yield from self._jumps()
            yield from self._calls()
            yield from self._relative()
            yield from self._modes()
            for text in idle:
                yield self._no_effect(text)

    def cases64(self) -> Iterator[ControlCase]:
        """Yield cases for waves of 64 lanes: what combines EXEC with a scalar, in two parts
        each."""
        for name in EXEC_OPS:
            yield from self._execution(name, "saveexec")
        for name in ("and_not0", "and_not1"):
            yield from self._execution(name, "wrexec")

    # Branches

    def _branch(self, name: str) -> ControlCase:
        """A bit of an input decides; vccz and execz look at whole masks."""
        bits = int(self._random.choice([1, 0x80000000, 0x00030000, ONES]))
        goal, chosen = f".Lgoal{next(_LABELS)}", self._inputs[0] & np.uint32(bits)
        set_up = {
            "scc": [f"s_and_b32 s63, s40, {bits:#x}"],
            "vcc": ["s_mov_b32 vcc_hi, 0", f"s_and_b32 vcc_lo, s40, {bits:#x}"],
            "exe": [f"s_and_b32 exec_lo, s40, {bits:#x}"],
        }[name[:3]]
        taken = (chosen == 0) if name in ("scc0", "vccz", "execz") else (chosen != 0)
        # SCC is changed between the mask and its branch: VCC and EXEC count as they are, not as
        # SCC.
        set_up += [] if name.startswith("scc") else ["s_cmp_eq_u32 s41, s41"]
        body = [
            *set_up,
            f"s_cbranch_{name} {goal}",
            "s_mov_b32 s60, 1",
            f"{goal}:",
            "s_mov_b32 exec_lo, -1",
        ]
        return self._case(f"s_cbranch_{name}", body, np.where(taken, self._inputs[4], 1))

    def _jumps(self) -> Iterator[ControlCase]:
        over, back, end = (f".Lgoal{next(_LABELS)}" for _ in range(3))
        body = [f"s_branch {over}", f"{back}:", "s_add_co_u32 s60, s60, 2", f"s_branch {end}"]
        body += ["s_mov_b32 s60, 1", f"{over}:", f"s_branch {back}", "s_mov_b32 s61, 1", f"{end}:"]
        yield self._case("s_branch", body, self._inputs[4].astype(np.uint64) + 2)
        # A loop that an input counts.
        again, times = f".Lgoal{next(_LABELS)}", self._inputs[0] % 7
        body = [
            "s_mul_hi_u32 s63, s40, 0x24924925",
            "s_mul_i32 s63, s63, 7",
            "s_sub_co_u32 s63, s40, s63",
        ]
        exact = (self._inputs[0].astype(np.uint64) * 0x24924925 >> np.uint64(32)) * 7
        times = (self._inputs[0].astype(np.uint64) - exact) & np.uint64(ONES)
        body += [
            "s_and_b32 s63, s63, 15",
            f"{again}:",
            "s_add_co_u32 s60, s60, s41",
            "s_sub_co_i32 s63, s63, 1",
        ]
        body += ["s_cmp_gt_i32 s63, 0", f"s_cbranch_scc1 {again}"]
        rounds = np.maximum(times & np.uint64(15), 1)
        yield self._case("s_cbranch_scc1", body, self._inputs[4] + rounds * self._inputs[1])

    def _calls(self) -> Iterator[ControlCase]:
        here, there, end = (f".Lgoal{next(_LABELS)}" for _ in range(3))
        address = ["s_getpc_b64 s[50:51]", f"{here}:", f"s_add_co_u32 s50, s50, {there}-{here}"]
        address += ["s_add_co_ci_u32 s51, s51, 0"]
        body = [*address, "s_setpc_b64 s[50:51]", "s_mov_b32 s60, 1", f"s_branch {end}"]
        body += [f"{there}:", "s_add_co_u32 s61, s61, 3", f"{end}:"]
        yield self._case("s_setpc_b64", body, None, self._inputs[5].astype(np.uint64) + 3)
        for name in ("swappc", "call"):
            here, there, end, after = (f".Lgoal{next(_LABELS)}" for _ in range(4))
            address = ["s_getpc_b64 s[50:51]", f"{here}:", f"s_add_co_u32 s50, s50, {there}-{here}"]
            address += ["s_add_co_ci_u32 s51, s51, 0"] if name == "swappc" else []
            call = (
                "s_swappc_b64 s[52:53], s[50:51]"
                if name == "swappc"
                else f"s_call_b64 s[52:53], {there}"
            )
            body = [
                *(address if name == "swappc" else []),
                call,
                f"{after}:",
                "s_add_co_u32 s60, s60, s61",
            ]
            body += [f"s_branch {end}", f"{there}:", "s_xor_b32 s61, s61, s40"]
            # The return address is that of the next instruction.
            body += [
                "s_getpc_b64 s[54:55]",
                f"{here}x:",
                "s_sub_co_u32 s62, s54, s52",
                "s_setpc_b64 s[52:53]",
                f"{end}:",
            ]
            inner = self._inputs[5] ^ self._inputs[0]
            total = self._inputs[4].astype(np.uint64) + inner
            # Between the two: s_add, s_branch, s_xor and s_getpc, of four bytes each.
            yield self._case(f"s_{name}_b64", body, total, inner, 16)
        yield self._case(
            "s_getpc_b64",
            ["s_getpc_b64 s[50:51]", "s_getpc_b64 s[52:53]", "s_sub_co_u32 s60, s52, s50"],
            4,
        )

    # Registers that M0 chooses

    def _relative(self) -> Iterator[ControlCase]:
        place = int(self._random.integers(6))
        yield self._case(
            "s_movrels_b32",
            [f"s_mov_b32 m0, {place}", "s_movrels_b32 s60, s40"],
            self._inputs[place],
        )
        wide = int(self._random.integers(3)) * 2
        body = [f"s_mov_b32 m0, {wide}", "s_movrels_b64 s[60:61], s[40:41]"]
        yield self._case("s_movrels_b64", body, self._inputs[wide], self._inputs[wide + 1])
        place = int(self._random.integers(3))
        results: list[object] = [None, None, None]
        results[place] = self._inputs[2]
        yield self._case(
            "s_movreld_b32", [f"s_mov_b32 m0, {place}", "s_movreld_b32 s60, s42"], *results
        )
        body = ["s_mov_b32 m0, 4", "s_movreld_b64 s[56:57], s[42:43]"]
        yield self._case("s_movreld_b64", body, self._inputs[2], self._inputs[3])
        source, target = int(self._random.integers(8)), int(self._random.integers(3))
        results = [None, None, None]
        results[target] = self._inputs[source]
        body = [f"s_mov_b32 m0, {target << 16 | source:#x}", "s_movrelsd_2_b32 s60, s40"]
        yield self._case("s_movrelsd_2_b32", body, *results)

    # The MODE register: bits 0 to 3 say how results are rounded, bits 4 to 7 what becomes of
    # denormal numbers

    def _modes(self) -> Iterator[ControlCase]:
        back = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0"
        read = "s_getreg_b32 s60, hwreg(HW_REG_MODE, 0, 8)"
        number = int(self._random.integers(16))
        body = [back, f"s_round_mode {number:#x}", read, back]
        yield self._case("s_round_mode", body, 0xF0 | number)
        body = [back, f"s_denorm_mode {number:#x}", read, back]
        yield self._case("s_denorm_mode", body, number << 4)
        first, size = int(self._random.integers(8)), 0
        size = 1 + int(self._random.integers(8 - first))
        mask, value = (1 << size) - 1, int(self._random.integers(1 << 16))
        merged = 0xF0 & ~(mask << first) | (value & mask) << first
        body = [
            back,
            f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, {first}, {size}), {value:#x}",
            read,
            back,
        ]
        yield self._case("s_setreg_imm32_b32", body, merged)
        field_ = (self._inputs[0].astype(np.uint64) & np.uint64(mask)) << np.uint64(first)
        merged_all = field_ | np.uint64(0xF0 & ~(mask << first))
        body = [back, f"s_setreg_b32 hwreg(HW_REG_MODE, {first}, {size}), s40", read, back]
        yield self._case("s_setreg_b32", body, merged_all)
        part = [*body[:2], f"s_getreg_b32 s61, hwreg(HW_REG_MODE, {first}, {size})", back]
        yield self._case("s_getreg_b32", part, None, field_ >> np.uint64(first))

    # Nothing

    def _no_effect(self, text: str) -> ControlCase:
        body = ["s_bitcmp1_b32 s40, 5", text, "s_cselect_b32 s62, 1, 0"]
        return self._case(
            text.split(" ", maxsplit=1)[0],
            body,
            None,
            None,
            self._inputs[0] >> np.uint32(5) & np.uint32(1),
        )

    # EXEC in wave64

    def _execution(self, name: str, verb: str) -> Iterator[ControlCase]:
        before = 0xF3B81D5C_00FF1234
        wide = self._inputs[0].astype(object) | self._inputs[1].astype(object) << 32
        after = EXEC_OPS[name](wide, before) & (1 << 64) - 1
        saved = after if verb == "wrexec" else np.full(len(after), before, object)
        body = [f"s_mov_b32 exec_lo, {before & ONES:#x}", f"s_mov_b32 exec_hi, {before >> 32:#x}"]
        body += [f"s_{name}_{verb}_b64 s[60:61], s[40:41]", "s_cselect_b32 s62, 1, 0"]
        low, high = ((saved >> shift & ONES).astype(np.uint64) for shift in (0, 32))
        yield self._case(
            f"s_{name}_{verb}_b64",
            [*body, "s_mov_b64 exec, -1"],
            low,
            high,
            (after != 0).astype(np.uint64),
        )
        low, high = ((after >> shift & ONES).astype(np.uint64) for shift in (0, 32))
        kept = ["s_mov_b64 s[60:61], exec", "s_mov_b64 exec, -1"]
        yield self._case(
            f"s_{name}_{verb}_b64", [*body, *kept], low, high, (after != 0).astype(np.uint64)
        )
