"""`hazards`: what is missing is named, what is spare could go, and what is not known is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import amdjit
from amdjit import f32, i32
from amdjit.code_object import CodeObject, MalformedCodeObject
from amdjit.diagnostics import BackendError
from amdjit.inspection.hazards import Hazards, hazards, kernel_hazards
from tests.emulator.building import assemble, compile_source, using
from tests.emulator.required_tools import needs_tools

FOREIGN = sorted((Path(__file__).parents[1] / "foreign" / "objects").glob("*.co"))


@amdjit.kernel
def scaled(x, out):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] / x[0]


def found(body: str, cpu: str = "gfx90a") -> Hazards:
    return hazards(assemble(body, cpu=cpu, wave_size=64))


def spare(body: str, cpu: str = "gfx90a") -> list[tuple[str, int]]:
    return [(one.text, one.needed) for one in found(body, cpu).spare]


@pytest.mark.parametrize("target", ["gfx906", "gfx942", "gfx1100", "gfx1201"])
def test_a_compiled_kernel_is_proved(target: str) -> None:
    result = scaled.compile(f32[:], f32[:], target=target).hazards()
    assert result.proved
    assert result.kernels == ("scaled",)
    assert str(result).endswith(
        f"scaled for {target}: nothing is missing on any path, {len(result.spare)} spare"
    )


@pytest.mark.parametrize("file", FOREIGN, ids=lambda file: file.stem)
def test_stored_code_of_other_compilers_lacks_nothing(file: Path) -> None:
    result = amdjit.hazards(file.read_bytes())
    assert result.proved, str(result)


@needs_tools
def test_what_is_missing_is_named_with_its_row() -> None:
    result = found("v_readfirstlane_b32 s4, v0\n s_nop 1\n global_load_dword v1, v2, s[4:5]")
    (one,) = result.missing
    assert not result.proved
    assert one.kernel == "kernel"
    assert one.wait.hazard == "SGPR for a memory instruction"
    assert one.wait.message == (
        "s4 is read while v_readfirstlane_b32 s4, v0 may still be writing it: s_nop 2 is missing"
    )
    assert str(result).endswith("kernel for gfx90a: 1 missing, 0 spare")


@needs_tools
def test_hazards_without_a_register_have_a_sentence_of_their_own() -> None:
    product = "v_mfma_f64_4x4x4f64 v[20:21], v[22:23], v[24:25], v[26:27]"
    (one,) = found(f"{product}\n v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]").missing
    assert one.wait.message == (
        "v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7] follows v_mfma_f64_4x4x4f64 v[20:21], "
        "v[22:23], v[24:25], v[26:27] too soon: s_nop 1 is missing"
    )


@needs_tools
def test_counters_are_looked_at_too() -> None:
    (one,) = found("global_load_dword v1, v2, s[0:1]\n v_mov_b32 v3, v1").missing
    assert (one.wait.wait, one.wait.hazard) == ("s_waitcnt vmcnt(0)", "")


_LANE, _SELECT = "v_readfirstlane_b32 s4, v0", "v_readlane_b32 s6, v9, s4"
_LOAD = "global_load_dword v1, v2, s[0:1]"
# Code for gfx90a, and what is spare in it: the text, and how many wait states are needed.
SPARE = {
    "s_nop 0": [("s_nop 0", 0)],
    f"{_LANE}\n s_nop 3\n {_SELECT}": [],
    f"{_LANE}\n s_nop 6\n {_SELECT}": [("s_nop 6", 4)],
    f"{_LANE}\n s_nop 3\n s_nop 0\n {_SELECT}": [("s_nop 3", 3)],
    # Either could go, but not both.
    f"{_LANE}\n s_nop 3\n s_nop 3\n {_SELECT}": [("s_nop 3", 0)],
    f"{_LANE}\n v_mov_b32 v5, 0\n s_nop 3\n {_SELECT}": [("s_nop 3", 3)],
    # On one of two paths it is needed.
    f"{_LANE}\n s_cbranch_scc0 1f\n s_nop 7\n 1: s_nop 2\n {_SELECT}": [("s_nop 7", 0)],
    # It waits for a load, and its wait state counts: it is needed for either.
    f"{_LOAD}\n s_waitcnt vmcnt(0)\n v_mov_b32 v3, v1": [],
    f"{_LOAD}\n v_mov_b32 v3, v5\n s_waitcnt vmcnt(0)": [("s_waitcnt vmcnt(0)", 0)],
    f"{_LOAD}\n s_waitcnt vmcnt(0)\n s_waitcnt vmcnt(0)\n v_mov_b32 v3, v1": [
        ("s_waitcnt vmcnt(0)", 0)
    ],
    f"{_LANE}\n s_waitcnt lgkmcnt(0)\n s_nop 2\n {_SELECT}": [],
    # What others may wait for is not spare, unless nothing is in flight.
    "global_store_dword v2, v1, s[0:1]\n s_waitcnt vmcnt(0)\n s_barrier": [],
    "global_store_dword v2, v1, s[0:1]\n s_waitcnt vmcnt(0)": [("s_waitcnt vmcnt(0)", 0)],
    "s_waitcnt vmcnt(0)\n s_barrier": [("s_waitcnt vmcnt(0)", 0)],
    "buffer_load_dword v1, s[4:7], 0 offen lds\n s_waitcnt vmcnt(0)\n ds_read_b32 v3, v4\n"
    " s_waitcnt lgkmcnt(0)\n v_mov_b32 v5, v3": [],
    "flat_store_dword v[2:3], v1\n s_waitcnt vmcnt(0) lgkmcnt(0)\n ds_read_b32 v3, v4\n"
    " s_waitcnt lgkmcnt(0)\n v_mov_b32 v5, v3": [],
    # The start of a loop is aligned.
    "s_nop 0\n s_nop 0\n .p2align 5, , 4\n s_cbranch_scc0 1f\n .p2align 6\n 1: v_mov_b32 v1, v2\n"
    " s_cbranch_scc1 1b": [("s_nop 0", 0)] * 2,
}


@needs_tools
@pytest.mark.parametrize("body", SPARE)
def test_what_nothing_needs_is_spare(body: str) -> None:
    assert spare(body) == SPARE[body]


@needs_tools
def test_of_two_v_nops_that_stand_in_for_each_other_one_is_spare() -> None:
    first = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]"
    then = "v_wmma_f32_16x16x16_f16 v[24:31], v[0:7], v[16:23], v[24:31]"
    for nops, expected in ((1, []), (2, [("v_nop", 0)]), (3, [("v_nop", 0)] * 2)):
        code = assemble("\n".join([first, *["v_nop"] * nops, then]), cpu="gfx1100")
        assert [(one.text, one.needed) for one in hazards(code).spare] == expected


@needs_tools
def test_waits_of_the_alus_are_spare_only_if_all_their_fields_are_known() -> None:
    read = "v_mov_b32 v0, s4\n s_mov_b32 s4, 0\n {wait}\n v_mov_b32 v1, {source}"
    for wait, source, expected in (
        ("s_wait_alu 0xfffe", "s4", 0),
        ("s_wait_alu 0xfffe", "s9", 1),
        ("s_wait_alu 0xffff", "s9", 1),
        ("s_wait_alu 0xffe3", "s9", 0),  # vm_vsrc(0)
        ("s_wait_alu 0x1fff", "s9", 0),  # va_vdst(1)
    ):
        assert len(spare(read.format(wait=wait, source=source), "gfx1201")) == expected, wait


@needs_tools
def test_a_function_is_spare_only_where_no_kernel_needs_it() -> None:
    """One kernel loads what the function reads, the other one does not."""
    source = """
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel)) void
__attribute__((noinline)) int twice(int x) { return x * 2 + 1; }
KERNEL loads(GLOBAL int *a) { a[0] = twice(a[__builtin_amdgcn_workitem_id_x()]); }
KERNEL counts() { *(GLOBAL int *)4096 = twice(__builtin_amdgcn_workitem_id_x()); }
"""
    with using(cpu="gfx1100"):
        code = compile_source(source, "-O2")
    whole = hazards(code)
    assert whole.proved
    assert whole.kernels == ("loads", "counts")
    alone = [{one.address for one in kernel_hazards(code, name).spare} for name in whole.kernels]
    assert alone[1] - alone[0]
    assert {one.address for one in whole.spare} & set.union(*alone) <= alone[1]
    assert not {one.address for one in whole.spare} & (alone[1] - alone[0])


@needs_tools
def test_a_kernel_whose_path_is_lost_may_need_what_the_others_do_not() -> None:
    source = """
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel)) void
__attribute__((noinline)) int twice(int x) { return x * 2 + 1; }
KERNEL counts() { *(GLOBAL int *)4096 = twice(__builtin_amdgcn_workitem_id_x()); }
KERNEL lost(GLOBAL int *a) { if (a[0]) __asm__ volatile(".long 0xffffffff"); a[1] = 0; }
"""
    with using(cpu="gfx1100"):
        code = compile_source(source, "-O2")
    assert kernel_hazards(code, "counts").spare
    assert not hazards(code).spare


@needs_tools
def test_paths_that_are_not_known_prevent_a_proof() -> None:
    result = found("s_cbranch_scc0 1f\n .long 0xffffffff\n 1: s_nop 0")
    assert not result.missing
    assert not result.proved
    assert "and after it is not known" in result.unknown[0]
    assert "nothing is missing as far as is known" in str(result)


# Code whose paths are not known, with the branch that says so.
UNKNOWN_PATHS = {
    "s_setpc_b64 s[4:5]": "s_setpc_b64 s[4:5]",
    "s_swappc_b64 s[30:31], s[4:5]\n v_mov_b32 v1, v2": "s_swappc_b64 s[30:31], s[4:5]",
    "s_load_dwordx2 s[8:9], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n global_load_dword v1, v0, s[0:1]\n"
    " s_setpc_b64 s[8:9]": "s_setpc_b64 s[8:9]",
    # The address is changed by what nobody knows, or by half of it, or past all code.
    "s_getpc_b64 s[4:5]\n s_add_u32 s4, s4, s6\n s_setpc_b64 s[4:5]": "s_setpc_b64 s[4:5]",
    "s_getpc_b64 s[4:5]\n s_mov_b32 s5, s6\n s_setpc_b64 s[4:5]": "s_setpc_b64 s[4:5]",
    "s_getpc_b64 s[4:5]\n s_add_u32 s4, s4, 0x10000\n s_addc_u32 s5, s5, 0\n s_setpc_b64 s[4:5]": (
        "s_setpc_b64 s[4:5]"
    ),
    # Into the middle of an instruction's way: nothing says that code begins there.
    "s_getpc_b64 s[4:5]\n s_mov_b32 s4, 0x1508\n s_setpc_b64 s[4:5]": "s_setpc_b64 s[4:5]",
    # One way of two.
    "s_getpc_b64 s[4:5]\n s_cbranch_scc0 1f\n s_mov_b32 s4, s6\n 1: s_setpc_b64 s[4:5]": (
        "s_setpc_b64 s[4:5]"
    ),
    # The function overwrites the lane with its return address.
    "s_call_b64 s[4:5], .Lf\n s_endpgm\n .Lf: v_writelane_b32 v8, s4, 0\n v_mov_b32 v8, v1\n"
    " s_nop 3\n v_readlane_b32 s4, v8, 0\n s_nop 3\n s_setpc_b64 s[4:5]": "s_setpc_b64 s[4:5]",
    # The index may be that of the address.
    "s_call_b64 s[4:5], .Lf\n s_endpgm\n .Lf: s_movreld_b32 s8, s9\n s_setpc_b64 s[4:5]": (
        "s_setpc_b64 s[4:5]"
    ),
    "s_cbranch_i_fork s[4:5], 1f\n s_nop 0\n 1: s_endpgm": "s_cbranch_i_fork s[4:5]",
}


@needs_tools
@pytest.mark.parametrize("body", UNKNOWN_PATHS)
def test_branches_to_where_no_constant_says_prevent_a_proof(body: str) -> None:
    result = found(f"s_nop 5\n {body}", "gfx90a")
    assert not result.proved
    assert result.unknown[0].startswith(f"kernel: where {UNKNOWN_PATHS[body]}")
    assert not result.spare


# Code for gfx90a whose branches through registers go to known places.
KNOWN_PATHS = [
    "s_getpc_b64 s[8:9]\n s_add_u32 s8, s8, 20\n s_addc_u32 s9, s9, 0\n"
    " global_load_dword v1, v0, s[0:1]\n s_setpc_b64 s[8:9]\n s_waitcnt vmcnt(0)\n"
    " v_mov_b32 v4, v1",
    "s_call_b64 s[4:5], .Lf\n s_endpgm\n .Lf: v_mov_b32 v8, v1\n s_setpc_b64 s[4:5]",
    "s_call_b64 s[4:5], .Lf\n s_call_b64 s[4:5], .Lf\n s_endpgm\n .Lf: s_mov_b64 s[6:7], s[4:5]\n"
    " s_setpc_b64 s[6:7]",
    "s_call_b64 s[4:5], .Lf\n s_endpgm\n .Lf: v_writelane_b32 v8, s4, 0\n"
    " v_writelane_b32 v8, s5, 1\n v_mov_b32 v9, v1\n s_mov_b64 s[4:5], 0\n"
    " v_readlane_b32 s4, v8, 0\n v_readlane_b32 s5, v8, 1\n s_setpc_b64 s[4:5]",
]


@needs_tools
@pytest.mark.parametrize("body", KNOWN_PATHS)
def test_branches_to_where_constants_say_are_followed(body: str) -> None:
    assert found(body).proved


@needs_tools
def test_what_is_missing_past_a_computed_branch_is_found() -> None:
    (body,) = (body for body in KNOWN_PATHS if "vmcnt" in body)
    (one,) = found(body.replace("s_waitcnt vmcnt(0)", "s_nop 0")).missing
    assert one.wait.register == "v1"


@needs_tools
def test_hazards_past_a_call_or_a_return_prevent_a_proof() -> None:
    product = "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]"
    callee = f"s_call_b64 s[4:5], .Lf\n v_mov_b32 v9, v0\n s_endpgm\n .Lf: {product}\n %s\n"
    caller = f"{product}\n %s\n s_call_b64 s[4:5], .Lf\n s_endpgm\n .Lf: v_mov_b32 v9, v0\n"
    for body in (callee, caller):
        ends = f"{body} s_setpc_b64 s[4:5]"
        result = found(ends % "s_nop 4", "gfx942")
        assert not result.proved
        assert "past a call or a return" in result.unknown[0]
        assert "s_nop 0 may be missing" in result.unknown[0]
        assert not result.spare
        enough = found(ends % "s_nop 5", "gfx942")
        assert enough.proved
        assert not enough.spare


POINTERS = """
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel)) void
#define NOINLINE __attribute__((noinline))
typedef int (*function)(int, int);
NOINLINE static int leaf(int x, int y) { return x * 2 + y; }
NOINLINE int sum(int x, int y) { int s = 0; while (y--) s += leaf(x, s) * leaf(s, y); return s; }
// Others may define it, too: its address is in the global offset table.
__attribute__((visibility("default"))) NOINLINE int other(int x, int y);
int other(int x, int y) { int s = 1; while (y--) s *= leaf(y, s) + leaf(s, x); return s; }
KERNEL direct(GLOBAL int *a, int n) { a[0] = leaf(a[n], n); }
KERNEL nested(GLOBAL int *a, int n) { a[0] = sum(a[n], n) + other(a[n], n); }
KERNEL chosen(GLOBAL int *a, int n) { function f = n > 3 ? sum : other; a[0] = f(a[0], n); }
KERNEL loaded(GLOBAL int *a, GLOBAL function *f) { a[0] = f[0](a[1], 2); }
KERNEL given(GLOBAL int *a, function f) { a[0] = f(a[1], 2); }
"""


@needs_tools
@pytest.mark.parametrize("cpu", ["gfx906", "gfx942", "gfx1100", "gfx1201"])
def test_calls_of_clang_are_known_unless_memory_holds_the_function(cpu: str) -> None:
    with using(cpu=cpu):
        code = compile_source(POINTERS, "-O2")
    for name in ("direct", "nested", "chosen"):
        assert kernel_hazards(code, name).proved, name
    for name in ("loaded", "given"):
        result = kernel_hazards(code, name)
        assert not result.proved
        assert not result.spare
        (sentence,) = result.unknown
        assert sentence.startswith(f"{name}: where s_swappc_b64 ")


# Moves between registers that M0 chooses: the processor, and the instruction that says so.
INDEXED = {
    "v_movrels_b32 v5, v3": ("gfx1201", "v_movrels_b32"),
    "v_movreld_b32 v5, v3": ("gfx1201", "v_movreld_b32"),
    "v_movrelsd_b32 v5, v3": ("gfx1100", "v_movrelsd_b32"),
    "v_movrelsd_2_b32 v5, v3": ("gfx1201", "v_movrelsd_2_b32"),
    "s_movrels_b32 s5, s6": ("gfx942", "s_movrels_b32"),
    "s_movreld_b64 s[8:9], s[6:7]": ("gfx1201", "s_movreld_b64"),
    "s_set_gpr_idx_on s4, 1\n v_mov_b32 v5, v3\n s_set_gpr_idx_off": ("gfx942", "v_mov_b32"),
    "s_set_gpr_idx_on s4, 8\n v_add_u32 v5, v3, v6": ("gfx906", "v_add_u32"),
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1\n v_mov_b32 v5, v3": ("gfx906", "v_mov_b32"),
    # On one of two ways it is not switched off.
    "s_set_gpr_idx_on s4, 1\n s_cbranch_scc0 1f\n s_set_gpr_idx_off\n 1: v_mov_b32 v5, v3": (
        "gfx942",
        "v_mov_b32",
    ),
}


@needs_tools
@pytest.mark.parametrize("body", INDEXED)
def test_what_is_in_flight_where_registers_are_chosen_prevents_a_proof(body: str) -> None:
    """A wait before them is not spare: they may use what is loaded."""
    cpu, name = INDEXED[body]
    load, wait = "global_load_dword v4, v0, s[0:1]", "s_waitcnt vmcnt(0)"
    if cpu == "gfx1201":
        load, wait = "global_load_b32 v4, v0, s[0:1]", "s_wait_loadcnt 0x0"
    if name.startswith("s_"):
        load = (
            "s_load_b32 s12, s[0:1], 0x0" if cpu == "gfx1201" else "s_load_dword s12, s[0:1], 0x0"
        )
        wait = "s_wait_kmcnt 0x0" if cpu == "gfx1201" else "s_waitcnt lgkmcnt(0)"
    waited = found(f"{load}\n {wait}\n {body}", cpu)
    assert waited.proved
    assert not waited.spare
    early = found(f"{load}\n {body}", cpu)
    assert not early.proved
    assert not early.spare
    (sentence,) = early.unknown
    assert sentence.startswith(f"kernel: which registers {name}")


@needs_tools
def test_a_register_that_is_chosen_may_be_the_result_of_a_product() -> None:
    product = "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]"
    index, off = "s_set_gpr_idx_on s4, 9", "s_set_gpr_idx_off"
    move = f"{index}\n v_mov_b32 v20, v21\n {off}"
    assert not found(f"{product}\n {move}", "gfx942").proved
    # Seven wait states before the move are enough for it, and all of them are needed.
    waited = found(f"{product}\n s_nop 5\n {move}", "gfx942")
    assert waited.proved
    assert not waited.spare
    (one,) = found(f"{product}\n s_nop 6\n {move}", "gfx942").spare
    assert one.needed == 6


@needs_tools
def test_where_an_index_is_off_registers_are_known() -> None:
    for code in (
        "s_set_gpr_idx_on s4, 1\n s_set_gpr_idx_off\n v_mov_b32 v5, v3",
        "s_set_gpr_idx_on s4, 1\n s_branch 1f\n 1: s_set_gpr_idx_off\n v_mov_b32 v5, v3",
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 1\n v_mov_b32 v5, v3",
    ):
        assert found(code, "gfx942").proved


def test_the_json_form_has_all_findings() -> None:
    result = scaled.compile(f32[:], f32[:], target="gfx1201").hazards()
    read = json.loads(result.to_json())
    assert read["schema"] == "amdjit.hazards/1"
    assert read["target"] == "gfx1201"
    assert read["missing"] == []


def test_bundles_ask_for_a_target() -> None:
    bundle = scaled.compile(f32[:], f32[:], target=["gfx1100", "gfx942"])
    assert amdjit.hazards(bundle.bytes, target="gfx942").target == "gfx942"
    with pytest.raises(amdjit.AmdjitError, match="say which target"):
        amdjit.hazards(bundle.bytes)


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(MalformedCodeObject):
        amdjit.hazards(b"no code object")
    compiled = scaled.compile(f32[:], f32[:], target="gfx1030")
    with pytest.raises(BackendError, match="gfx1030 is not decoded"):
        compiled.hazards()
    assert CodeObject.read(compiled.code_object).kernels


@pytest.mark.parametrize("data", [None, "x", 3, [b"x"]], ids=str)
def test_what_is_no_bytes_is_refused_with_the_remedy(data: object) -> None:
    for read in (amdjit.hazards, amdjit.inspect_object):
        with pytest.raises(amdjit.AmdjitError, match=r"bytes, not .*read_bytes\(\) reads them"):
            read(data)  # type: ignore[operator]


def test_buffers_are_read_as_bytes_are() -> None:
    code = scaled.compile(f32[:], f32[:], target="gfx942").code_object
    for data in (memoryview(code), bytearray(code)):
        assert amdjit.hazards(data) == amdjit.hazards(code)  # type: ignore[arg-type]


@needs_tools
def test_accumulation_registers_have_their_own_names() -> None:
    (one,) = found("global_load_dword a1, v0, s[0:1]\n v_accvgpr_read_b32 v2, a1").missing
    assert one.wait.register == "a1"


@amdjit.kernel
def counted(out):
    out[0] = i32(1)


def test_a_kernel_without_anything_to_wait_for_is_proved() -> None:
    assert counted.compile(i32[:], target="gfx1201").hazards().proved
