"""gfx9's accumulation VGPRs, registers that M0 chooses, and loads that go to LDS past all
registers.

MI200 ISA and CDNA 3 ISA: V_ACCVGPR_*, "VGPR Indexing" (S_SET_GPR_IDX_*), "Memory Buffer Load to
LDS"; LLVM: `int_amdgcn_global_load_lds` for what the instruction's offset counts in.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.emulator.model.cases.lds_programs import SharedMemory, read, write
from tests.emulator.model.cases.programs import Case
from tests.emulator.model.families import has, instruction_set
from tests.emulator.model.lanes import Lanes, Wave, put
from tests.emulator.model.waves import lanes_of_wave

ALL = (
    *(f"v_accvgpr_{name}_b32" for name in ("read", "write", "mov")),
    *(f"s_set_gpr_idx_{name}" for name in ("on", "off", "idx", "mode")),
    *(f"global_load_lds_{name}" for name in ("ubyte", "sbyte", "ushort", "sshort", "dword")),
)


class Accumulators(Lanes):
    """Makes cases; what is not written before is of no interest."""

    def cases(self, times: int) -> Iterator[Case]:
        for _ in range(times):
            if has("v_accvgpr_write_b32"):
                yield from self._moves()
            if instruction_set().name not in ("gfx906", "gfx908"):
                yield from self._memory()
            yield from self._indexed()

    def _moves(self) -> Iterator[Case]:
        def write(wave: Wave, mask: int) -> None:
            put(wave[100], wave[2].tolist(), mask)

        number = self._number(256)
        fill = f"v_accvgpr_write_b32 a{number}, v6"
        back = f"v_accvgpr_read_b32 v100, a{number}"
        yield self._case(
            f"v_accvgpr_write_b32 a{number}, v2", ("v100",), write, (fill,), after=(back,)
        )

        def constant(wave: Wave, mask: int) -> None:
            put(wave[100], [0x3F800000] * lanes_of_wave(), mask)

        yield self._case(
            f"v_accvgpr_write_b32 a{number}, 1.0", ("v100",), constant, (fill,), after=(back,)
        )
        first = f"v_accvgpr_write_b32 a{number}, v2"
        yield self._case(back, ("v100",), write, (first,))
        if has("v_accvgpr_mov_b32"):
            other = (number + 1) % 256
            before = (f"v_accvgpr_write_b32 a{other}, v2", fill)
            text = f"v_accvgpr_mov_b32 a{number}, a{other}"
            yield self._case(text, ("v100",), write, before, after=(back,))

    def _memory(self) -> Iterator[Case]:
        """Loads, stores and LDS take them from gfx90a on."""

        def load(wave: Wave, mask: int) -> None:
            put(wave[100], wave[3].tolist(), mask)
            put(wave[101], wave[4].tolist(), mask)

        number = 2 * self._number(127)
        pair = f"a[{number}:{number + 1}]"
        fill = tuple(f"v_accvgpr_write_b32 a{number + part}, v{6 + part}" for part in (0, 1))
        back = tuple(f"v_accvgpr_read_b32 v{100 + part}, a{number + part}" for part in (0, 1))
        given = (*fill, "v_lshlrev_b32 v252, 3, v0", "v_mov_b32 v20, v3", "v_mov_b32 v21, v4")
        text = f"ds_read_b64 {pair}, v252"
        before = (*given, "ds_write_b64 v252, v[20:21]")
        yield self._case(text, ("v100", "v101"), load, before, after=back)

        def stored(wave: Wave, mask: int) -> None:
            put(wave[100], wave[3].tolist(), mask)

        single = (*given, f"v_accvgpr_write_b32 a{number}, v3", "ds_write_b32 v250, v6")
        text = f"ds_write_b32 v250, a{number}"
        yield self._case(text, ("v100",), stored, single, after=("ds_read_b32 v100, v250",))

        def row(wave: Wave, mask: int) -> None:
            put(wave[100], wave[4].tolist(), mask)

        size = 4 * lanes_of_wave()
        text = f"global_load_dword a{number}, v250, s[0:1] offset:{2 * size}"
        yield self._case(text, ("v100",), row, given, after=back[:1])

    def _indexed(self) -> Iterator[Case]:
        """M0 is added to the numbers of the operands that the mode names."""
        if not has("s_set_gpr_idx_on"):
            return
        place = self._number(6)

        def source(wave: Wave, mask: int) -> None:
            put(wave[100], wave[2 + place].tolist(), mask)

        every = tuple(f"v{number}" for number in range(100, 108))
        start = (f"s_mov_b32 s50, {place}", "s_set_gpr_idx_on s50, gpr_idx(SRC0)")
        end = ("s_set_gpr_idx_off",)
        yield self._case("v_mov_b32 v100, v2", every, source, start, after=end)

        def target(wave: Wave, mask: int) -> None:
            put(wave[100 + place], wave[2].tolist(), mask)

        start = (f"s_mov_b32 s50, {place}", "s_set_gpr_idx_on s50, gpr_idx(DST)")
        yield self._case("v_mov_b32 v100, v2", every, target, start, after=end)

        # What is indexed, and the index, may change meanwhile.
        start = ("s_mov_b32 s50, 9", "s_set_gpr_idx_on s50, gpr_idx(DST)")
        start += ("s_set_gpr_idx_mode gpr_idx(SRC0)", f"s_mov_b32 s50, {place}")
        start += ("s_set_gpr_idx_idx s50",)
        yield self._case("v_mov_b32 v100, v2", every, source, start, after=end)


class DirectLoads(SharedMemory):
    """Makes cases of loads to LDS."""

    def cases(self, times: int) -> Iterator[Case]:
        for _ in range(times):
            for name, size in (
                ("ubyte", 1),
                ("sbyte", 1),
                ("ushort", 2),
                ("sshort", 2),
                ("dword", 4),
            ):
                if has(f"global_load_lds_{name}"):
                    yield self._load(name, size)

    def _load(self, name: str, size: int) -> Case:
        base, offset, row = 4 * self._number(200), 4 * self._number(16), 1 + self._number(11)

        def step(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            value = inputs[2 + row] & (1 << 8 * size) - 1
            if name[0] == "s":
                top = 1 << 8 * size - 1
                value = (value ^ top) - top
            write(memory, base + offset + 4 * lane, value, 4)
            assert read(memory, base + offset + 4 * lane, 4) == value & 0xFFFFFFFF

        place = 4 * lanes_of_wave() * row - offset
        before = (f"s_mov_b32 m0, {base}", f"v_add_u32 v252, {place}, v250")
        text = f"global_load_lds_{name} v252, s[0:1] offset:{offset}"
        return self._case(text, step, before)
