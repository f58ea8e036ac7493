"""What accesses have in common in all lanes: what is claimed is what launches do."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, shared, syncthreads, threadIdx, wave_id
from amdjit.code_object import CodeObject
from amdjit.emulator.counting.lds_banks import bank_cycles
from amdjit.examples import transpose_shuffle, wmma_gemm
from amdjit.inspection.accesses import Addresses, known_states, lane_addresses
from amdjit.inspection.facts import AccessFacts
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.lanes.state import workgroup_shape
from amdjit.inspection.machine_code import read_machine_code
from amdjit.inspection.reading import inspect_kernel, inspect_object
from amdjit.isa.traits import Space
from tests.emulator.building import assemble, compile_kernel, emulate
from tests.emulator.c_kernels import CASES, GRID, Case
from tests.emulator.required_tools import needs_tools
from tests.inspection.observed import Launches, Seen, observed

pytestmark = needs_tools


def known_addresses(launches: Launches) -> dict[int, Addresses]:
    code = read_machine_code(*launches.kernels[0])
    assert code is not None
    found = {
        instruction.pc: lane_addresses(state, instruction, code.wave_size)
        for instruction, state in known_states(code, workgroup_shape(code.kernel))
        if instruction.traits.memory is not None
    }
    return {pc: addresses for pc, addresses in found.items() if addresses is not None}


def active_lanes(seen: Seen) -> list[int]:
    return [lane for lane in range(32) if seen.active >> lane & 1]


def check_addresses(launches: Launches) -> tuple[int, int]:
    """Compare addresses with what is claimed of them; return how many instructions were executed,
    and of how many something is claimed."""
    known = known_addresses(launches)
    facts = {access.address: access for access in inspect_kernel(*launches.kernels[0]).accesses}
    for seen in launches.records:
        addresses, lanes = known.get(seen.pc), active_lanes(seen)
        if addresses is None or not lanes:
            continue
        offsets = addresses.offsets[32 * seen.half : 32 * seen.half + 32]
        first = lanes[0]
        differences = [int(seen.lanes[lane] - seen.lanes[first]) for lane in lanes]
        assert differences == [offsets[lane] - offsets[first] for lane in lanes], hex(seen.pc)
        check_facts(facts[seen.pc], seen, lanes)
    executed = {seen.pc for seen in launches.records}
    return len(executed), len(executed & known.keys())


def check_facts(facts: AccessFacts, seen: Seen, lanes: list[int]) -> None:
    places = [int(seen.lanes[lane]) for lane in lanes]
    if facts.uniform:
        assert len(set(places)) == 1
    if facts.lane_stride is not None:
        steps = zip(lanes[1:], lanes, places[1:], places, strict=False)
        assert all(b - a == facts.lane_stride * (i - j) for i, j, b, a in steps)
        assert facts.uniform == (facts.lane_stride == 0)
    whole = facts.bank_conflicts is not None and len(lanes) == 32
    if whole and facts.width <= 4 and facts.kind != "atomic":
        cycles = bank_cycles(places, facts.width)
        assert cycles.conflicts <= facts.bank_conflicts


def check_case(case: Case, level: str, wave_size: int) -> tuple[int, int]:
    flags = ["-mwavefrontsize64"] if wave_size == 64 else []
    code = compile_kernel(case.file, level, *flags, "-ffp-contract=off")
    with observed() as launches:
        emulate(code, case.kernel, GRID, case.block, case.arguments(np.random.default_rng(3)))
    return check_addresses(launches)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("index", "wave_size"), [(0, 32), (2, 64), (3, 32), (9, 32), (11, 64)])
def test_c_kernels_access_what_is_claimed(index: int, wave_size: int) -> None:
    _, with_claims = check_case(CASES[index], "-O2", wave_size)
    assert with_claims


@pytest.mark.exhaustive
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_c_kernels_access_what_is_claimed(case: Case, wave_size: int) -> None:
    for level in ("-O0", "-O1", "-O2", "-O3"):
        check_case(case, level, wave_size)


def tiles(source, target):  # type: ignore[no-untyped-def]
    x, y = threadIdx.x, threadIdx.y
    tile = shared.array((64, 65), f32)
    tile[y, x] = source[64 * y + x]
    syncthreads()
    target[65 * x + y] = tile[x, y] + tile[x, x]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("wide", "high"), [(8, 8), (16, 4), (32, 4), (64, 2), (24, 4), (4, 16)])
def test_workgroups_of_two_dimensions_access_what_is_claimed(wide: int, high: int) -> None:
    data = np.zeros(8192, np.float32)
    with amdjit.use("emulator:gfx1201"), observed() as launches:
        amdjit.kernel(block=(wide, high))(tiles)[2, (wide, high)](data, data.copy())
    executed, with_claims = check_addresses(launches)
    # 24 is neither a part nor a multiple of a wave: its waves differ.
    assert with_claims == (0 if wide == 24 else executed)


@pytest.mark.sample(1)
@pytest.mark.parametrize("example", [transpose_shuffle, wmma_gemm])
def test_examples_access_what_is_claimed(example: ModuleType) -> None:
    with amdjit.use("emulator:gfx1201"), observed() as launches:
        example.main()
    assert check_addresses(launches)[1]


def accesses_of(text: str, **options: Any) -> list[AccessFacts]:
    return [a for a in inspect_object(assemble(text, **options)).accesses if a.space != "scalar"]


def test_each_instruction_says_what_it_moves_and_where() -> None:
    found = accesses_of(
        """
        global_load_b128 v[4:7], v0, s[0:1] th:TH_LOAD_NT scope:SCOPE_DEV
        global_store_b8 v0, v1, s[0:1]
        flat_load_b64 v[4:5], v[2:3]
        scratch_store_b96 off, v[4:6], off
        ds_load_2addr_b64 v[4:7], v0 offset1:1
        ds_add_rtn_u32 v4, v0, v1
        global_atomic_add_u32 v4, v0, v1, s[0:1] th:TH_ATOMIC_RETURN
        buffer_load_d16_b16 v1, v0, s[4:7], null offen
        global_load_addtid_b32 v1, s[0:1]
        """,
        private=64,
    )
    assert [(a.space, a.kind, a.width, a.policy) for a in found] == [
        ("global", "load", 16, "th:TH_LOAD_NT scope:SCOPE_DEV"),
        ("global", "store", 1, ""),
        ("flat", "load", 8, ""),
        ("private", "store", 12, ""),
        ("LDS", "load", 16, ""),
        ("LDS", "atomic", 4, ""),
        ("global", "atomic", 4, "th:TH_ATOMIC_RETURN"),
        ("global", "load", 2, ""),
        ("global", "load", 4, ""),
    ]
    assert found[-1].lane_stride == 4
    # A resource in registers may add what it likes.
    assert (found[-2].uniform, found[-2].lane_stride) == (None, None)


@pytest.mark.covering(1)
@pytest.mark.parametrize("stride", [1, 2, 3, 4, 8, 16, 17, 32, 33, 64])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_strides_in_lds_have_the_conflicts_of_their_common_divisor(width: int, stride: int) -> None:
    name = {4: "b32", 8: "b64", 16: "b128"}[width]
    (found,) = accesses_of(
        f"v_mul_u32_u24 v1, {stride * width}, v0\n ds_load_{name} v[4:{3 + width // 4}], v1"
        if width > 4
        else f"v_mul_u32_u24 v1, {4 * stride}, v0\n ds_load_b32 v4, v1",
        lds=65536,
    )
    lanes = 128 // width
    # Lanes of a group that begin in one place of the banks, each group as often as it takes.
    rounds = len({stride * width * lane % 128 for lane in range(lanes)})
    assert found.lane_stride == stride * width
    assert found.bank_conflicts == 32 // lanes * (lanes // rounds - 1)


def test_atomics_on_one_place_wait_for_each_other() -> None:
    found = accesses_of("v_mov_b32 v1, 64\n ds_add_u32 v1, v0\n ds_load_b32 v2, v1", lds=256)
    assert [a.bank_conflicts for a in found] == [31, 0]
    assert [a.uniform for a in found] == [True, True]


def test_what_a_conditional_write_leaves_is_not_known() -> None:
    (first, second) = accesses_of(
        """
        v_mov_b32 v1, 0
        v_cmp_gt_u32 vcc_lo, 7, v0
        s_and_saveexec_b32 s4, vcc_lo
        v_mov_b32 v1, 16
        ds_load_b32 v2, v1
        s_or_b32 exec_lo, exec_lo, s4
        ds_load_b32 v2, v1
        """,
        lds=256,
    )
    assert (first.uniform, second.uniform) == (True, None)


def compiled(function: Any, block: Any) -> Inspection:
    kernel = amdjit.kernel(block=block)(function) if block else amdjit.kernel(function)
    return kernel.compile(f32[:], f32[:], target="gfx1201").inspect()


def test_strides_rest_on_one_dimension_only_if_a_kernel_asks_for_no_other() -> None:
    one = inspect_object(compile_kernel("saxpy", "-O2"))
    assert any("one dimension" in text for text in one.missing)
    fixed = compiled(tiles, (16, 4))
    assert not any("dimension" in text for text in fixed.missing)
    several = compiled(tiles, None)
    assert any("several dimensions" in text for text in several.missing)
    assert {a.uniform for a in several.accesses if a.space != "scalar"} == {None}


def numbered(x: Any, y: Any) -> None:
    i = threadIdx.x
    y[i] = x[i] * wave_id()


def test_numbers_of_waves_ask_for_no_second_dimension() -> None:
    flat, shaped = compiled(numbered, 128), compiled(numbered, (128, 1, 1))
    strides = [access.lane_stride for access in flat.accesses if access.space != "scalar"]
    assert strides == [access.lane_stride for access in shaped.accesses if access.space != "scalar"]
    assert set(strides) == {4}
    assert any("numbers of waves" in text for text in flat.missing)
    # The code alone does not tell: it asks for ids along y and z as well.
    alone = inspect_object(flat.code_object)
    assert {a.uniform for a in alone.accesses if a.space != "scalar"} == {None}
    assert any("block=(64, 4, 1) in amdjit" in text for text in alone.missing)


def test_what_a_mask_chooses_differs_between_lanes() -> None:
    (found,) = accesses_of(
        "v_mov_b32 v1, 0\n v_mov_b32 v2, 16\n v_cmp_gt_u32 vcc_lo, 7, v0\n"
        "v_cndmask_b32 v3, v1, v2, vcc_lo\n ds_load_b32 v4, v3",
        lds=256,
    )
    assert found.uniform is None


@amdjit.kernel(block=(32, 32))
def swizzled(x, out):
    tile = shared.array((32, 32), f32)
    i, j = threadIdx.x, threadIdx.y
    tile[j, i ^ j] = x[j, i]
    syncthreads()
    out[j, i] = tile[i, j ^ i]


@pytest.mark.parametrize("wave", [0, 1, 13])
def test_of_one_wave_the_addresses_in_lds_are_known_themselves(wave: int) -> None:
    compiled = swizzled.compile(f32[:, ::1], f32[:, ::1], target="gfx1201")
    whole = CodeObject.read(compiled.code_object)
    code = read_machine_code(whole, whole.kernels[compiled.name])
    assert code is not None

    def in_lds(wave: int | None) -> list[Addresses | None]:
        found = {
            instruction.pc: lane_addresses(state, instruction, code.wave_size)
            for instruction, state in known_states(code, (32, 32, 1), wave)
            if instruction.traits.memory is not None and instruction.access.space is Space.LDS
        }
        return [found[pc] for pc in sorted(found)]

    stored = [4 * (32 * wave + (lane ^ wave)) for lane in range(32)]
    loaded = [4 * (32 * lane + (lane ^ wave)) for lane in range(32)]
    for known, addresses in zip(in_lds(wave), [stored, loaded], strict=True):
        assert known is not None
        assert known.first is not None
        assert [known.first + offset for offset in known.offsets] == addresses
    assert in_lds(None) == [None, None]
