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
def test_paths_that_are_not_known_prevent_a_proof() -> None:
    result = found("s_cbranch_scc0 1f\n .long 0xffffffff\n 1: s_nop 0")
    assert not result.missing
    assert not result.proved
    assert "and after it is not known" in result.unknown[0]
    assert "nothing is missing on the paths that are known" in str(result)


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


@amdjit.kernel
def counted(out):
    out[0] = i32(1)


def test_a_kernel_without_anything_to_wait_for_is_proved() -> None:
    assert counted.compile(i32[:], target="gfx1201").hazards().proved
