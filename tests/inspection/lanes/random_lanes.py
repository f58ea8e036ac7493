"""Random programs of vector arithmetic, masks and loops, for comparison of registers."""

from __future__ import annotations

import numpy as np

VECTORS = range(10)
_SCALARS = ("s4", "s5", "s6", "ttmp9")
_MASKS = ("s10", "s11", "s12", "s13")
_TWO = (
    "v_add_nc_u32",
    "v_sub_nc_u32",
    "v_subrev_nc_u32",
    "v_and_b32",
    "v_or_b32",
    "v_xor_b32",
    "v_mul_lo_u32",
    "v_mul_u32_u24",
    "v_mul_i32_i24",
    "v_mul_hi_u32",
    "v_mul_hi_i32",
    "v_xnor_b32",
    "v_bfm_b32",
    "v_min_u32",
    "v_max_i32",
)
_SHIFTS = ("v_lshlrev_b32", "v_lshrrev_b32", "v_ashrrev_i32")
_THREE = (
    "v_add3_u32",
    "v_lshl_add_u32",
    "v_add_lshl_u32",
    "v_lshl_or_b32",
    "v_and_or_b32",
    "v_or3_b32",
    "v_xor3_b32",
    "v_xad_u32",
    "v_mad_u32_u24",
    "v_mad_i32_i24",
    "v_bfe_u32",
    "v_bfe_i32",
    "v_bfi_b32",
    "v_perm_b32",
    "v_alignbit_b32",
    "v_med3_i32",
)
_CONSTANTS = (0, 1, 2, 3, 4, 5, 8, 10, 12, 15, 16, 31, 32, 63, -1, -4)


class RandomProgram:
    """Makes one program; `text` is what the assembler takes."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._labels = 0
        self._counters = 20
        self._lines = [
            "s_load_b128 s[0:3], s[0:1], 0x0",
            "s_wait_kmcnt 0",
            "s_mov_b32 s4, 0x60",
            "s_lshl_b32 s5, ttmp9, 6",
            "s_mul_i32 s6, s2, 12",
            # Something that differs between lanes in no simple way.
            "v_mul_lo_u32 v1, v0, v0",
            "v_mbcnt_lo_u32_b32 v2, -1, 0",
            "v_lshlrev_b32 v3, 2, v0",
            "v_lshrrev_b32 v4, 4, v2",
        ]
        self._lines += [f"s_mov_b32 {mask}, 0" for mask in _MASKS]
        self._lines += [f"v_mov_b32 v{n}, {self._constant()}" for n in VECTORS if n > 4]
        self._block(depth=0)

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def _pick(self, items: tuple[str, ...]) -> str:
        return items[int(self._random.integers(len(items)))]

    def _constant(self) -> str:
        return str(_CONSTANTS[int(self._random.integers(len(_CONSTANTS)))])

    def _vector(self) -> str:
        return f"v{int(self._random.integers(len(VECTORS)))}"

    def _source(self) -> str:
        kind = self._random.random()
        if kind < 0.5:
            return self._vector()
        return self._constant() if kind < 0.85 else self._pick(_SCALARS)

    def _label(self) -> str:
        self._labels += 1
        return f".Lrandom{self._labels}"

    def _block(self, depth: int) -> None:
        for _ in range(int(self._random.integers(2, 7))):
            kind = self._random.random()
            if kind < 0.7 or depth > 2:
                self._arithmetic()
            elif kind < 0.85:
                self._condition(depth)
            elif kind < 0.93:
                self._uniform_loop(depth)
            else:
                self._divergent_loop(depth)

    def _arithmetic(self) -> None:
        kind, target = self._random.random(), self._vector()
        if kind < 0.45:
            line = f"{self._pick(_TWO)} {target}, {self._source()}, {self._vector()}"
        elif kind < 0.6:
            line = f"{self._pick(_SHIFTS)} {target}, {self._constant()}, {self._vector()}"
        elif kind < 0.85:
            sources = ", ".join([self._vector(), self._small(), self._small()])
            line = f"{self._pick(_THREE)} {target}, {sources}"
        elif kind < 0.93:
            line = f"v_mov_b32 {target}, {self._source()}"
        elif kind < 0.96:
            line = f"v_mov_b32_dpp {target}, {self._vector()} quad_perm:[1,0,3,2]"
        else:
            line = f"v_cndmask_b32 {target}, {self._vector()}, {self._vector()}, vcc_lo"
        self._lines.append(line)

    def _small(self) -> str:
        return self._vector() if self._random.random() < 0.4 else self._constant()

    def _compare(self) -> str:
        operation = self._pick(("v_cmp_gt_u32", "v_cmp_lt_i32", "v_cmp_eq_u32", "v_cmp_ne_u32"))
        return f"{operation} vcc_lo, {self._constant()}, {self._vector()}"

    def _condition(self, depth: int) -> None:
        mask, skip = self._pick(_MASKS), self._label()
        kind = self._random.random()
        self._lines += [self._compare(), f"s_and_saveexec_b32 {mask}, vcc_lo"]
        if kind < 0.5:
            self._lines.append(f"s_cbranch_execz {skip}")
        if kind < 0.3:
            self._lines.append(f"s_xor_b32 {mask}, exec_lo, {mask}")
        self._block(depth + 1)
        if kind < 0.3:
            self._lines += [f"{skip}:", f"s_and_not1_saveexec_b32 {mask}, {mask}"]
            self._block(depth + 1)
            skip = self._label()
        self._lines.append(f"{skip}:")
        # Another condition inside may have changed the mask: then any lanes are active.
        self._lines.append(
            f"s_or_b32 exec_lo, exec_lo, {mask}" if kind < 0.9 else f"s_mov_b32 exec_lo, {mask}"
        )

    def _uniform_loop(self, depth: int) -> None:
        counter, start = f"s{self._counters}", self._label()
        self._counters += 1
        self._lines += [f"s_mov_b32 {counter}, {int(self._random.integers(1, 4))}", f"{start}:"]
        self._block(depth + 1)
        self._lines += [
            f"s_sub_co_u32 {counter}, {counter}, 1",
            f"s_cmp_lg_u32 {counter}, 0",
            f"s_cbranch_scc1 {start}",
        ]

    def _divergent_loop(self, depth: int) -> None:
        counter, left, start = f"s{self._counters}", f"s{self._counters + 1}", self._label()
        self._counters += 2
        self._lines += [f"s_mov_b32 {counter}, 3", f"s_mov_b32 {left}, 0", f"{start}:"]
        self._block(depth + 1)
        self._lines += [
            f"s_sub_co_u32 {counter}, {counter}, 1",
            f"s_cmp_eq_u32 {counter}, 0",
            "s_cselect_b32 vcc_lo, -1, 0",
            "s_and_b32 vcc_lo, exec_lo, vcc_lo",
            f"s_or_b32 {left}, vcc_lo, {left}",
            self._compare(),
            "s_and_b32 vcc_lo, exec_lo, vcc_lo",
            f"s_or_b32 {left}, vcc_lo, {left}",
            f"s_and_not1_b32 exec_lo, exec_lo, {left}",
            f"s_cbranch_execnz {start}",
            f"s_or_b32 exec_lo, exec_lo, {left}",
        ]
