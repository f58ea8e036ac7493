"""The kernel descriptor is decoded as llvm-objdump decodes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from amdjit.code_object import CodeObject, Kernel, KernelDescriptor, MalformedCodeObject
from amdjit.code_object.descriptor import read_descriptor
from tests.code_object import oracles

USER_SGPRS = (
    "dispatch_ptr",
    "queue_ptr",
    "kernarg_segment_ptr",
    "dispatch_id",
    "private_segment_size",
)


def directives(kernel: Kernel) -> dict[str, int]:
    """Return our reading of a descriptor as `.amdhsa_` directives."""
    d = kernel.descriptor
    x, y, z = d.enable_workgroup_id
    on = {sgpr.name for sgpr in d.user_sgprs}
    assert d.inst_pref_size is not None
    return {
        "group_segment_fixed_size": d.group_segment_bytes,
        "private_segment_fixed_size": d.private_segment_bytes,
        "kernarg_size": d.kernarg_size,
        "inst_pref_size": d.inst_pref_size,
        "next_free_vgpr": d.vgpr_count,
        "float_round_mode_32": d.float_round_mode_32,
        "float_round_mode_16_64": d.float_round_mode_16_64,
        "float_denorm_mode_32": d.float_denorm_mode_32,
        "float_denorm_mode_16_64": d.float_denorm_mode_16_64,
        "fp16_overflow": int(d.fp16_overflow),
        "workgroup_processor_mode": int(d.wgp_mode),
        "memory_ordered": int(d.memory_ordered),
        "forward_progress": int(d.forward_progress),
        "enable_private_segment": int(d.enable_private_segment),
        "system_sgpr_workgroup_id_x": int(x),
        "system_sgpr_workgroup_id_y": int(y),
        "system_sgpr_workgroup_id_z": int(z),
        "system_sgpr_workgroup_info": int(d.enable_workgroup_info),
        "system_vgpr_workitem_id": d.workitem_id_components - 1,
        "wavefront_size32": int(d.wave_size == 32),
        "uses_dynamic_stack": int(d.uses_dynamic_stack),
    } | {f"user_sgpr_{name}": int(name in on) for name in USER_SGPRS}


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("name", ["saxpy", "everything"])
def test_every_field_is_that_of_objdump(
    build: Callable[..., bytes], tmp_path: Path, name: str, wave_size: int
) -> None:
    path = tmp_path / "linked.co"
    path.write_bytes(build(name, wave_size))
    expected = oracles.descriptor_directives(path)
    kernels = CodeObject.read(path.read_bytes()).kernels
    assert set(kernels) == set(expected)
    for kernel in kernels.values():
        ours = directives(kernel)
        theirs = expected[kernel.name]
        assert ours == {key: theirs[key] for key in ours}


def test_user_sgprs_have_their_places_in_the_hardware_order(build: Callable[..., bytes]) -> None:
    descriptor = CodeObject.read(build("everything")).kernels["reverse"].descriptor
    places = [(sgpr.name, sgpr.first, sgpr.dwords) for sgpr in descriptor.user_sgprs]
    assert places == [("dispatch_ptr", 0, 2), ("kernarg_segment_ptr", 2, 2), ("dispatch_id", 4, 2)]
    assert descriptor.user_sgpr_count == 6


def test_recursion_shows_as_a_dynamic_stack(build: Callable[..., bytes]) -> None:
    kernels = CodeObject.read(build("everything")).kernels
    assert kernels["recursive"].descriptor.uses_dynamic_stack
    assert not kernels["reverse"].descriptor.uses_dynamic_stack


def _descriptor(
    rsrc1: int = 0, rsrc2: int = 0, properties: int = 0, preload: int = 0
) -> KernelDescriptor:
    return KernelDescriptor(0, 0, 0, 0, rsrc1, rsrc2, 0, properties, preload, is_gfx12=True)


def test_fields_that_these_kernels_leave_off_are_at_their_bits() -> None:
    # LLVM AMDGPU guide, tables of compute_pgm_rsrc1 and of the kernel descriptor.
    assert _descriptor(rsrc1=2 << 12).float_round_mode_32 == 2
    assert _descriptor(rsrc1=3 << 14).float_round_mode_16_64 == 3
    assert _descriptor(rsrc1=1 << 26).fp16_overflow
    assert _descriptor(preload=5 | 3 << 7).kernarg_preload_dwords == 5
    assert _descriptor(preload=5 | 3 << 7).kernarg_preload_offset == 3
    assert _descriptor(rsrc1=4, properties=1 << 10).vgpr_count == 40
    assert _descriptor(rsrc1=4).vgpr_count == 20
    everything = _descriptor(properties=0x7F).user_sgprs
    assert [sgpr.first for sgpr in everything] == [0, 4, 6, 8, 10, 12, 14]


def test_processors_before_gfx12_have_ieee_mode_and_dx10_clamp() -> None:
    data = bytearray(64)
    data[48:52] = (1 << 21 | 1 << 23).to_bytes(4, "little")
    before = read_descriptor(bytes(data), is_gfx12=False)
    assert (before.dx10_clamp, before.ieee_mode, before.inst_pref_size) == (True, True, None)
    after = read_descriptor(bytes(data), is_gfx12=True)
    assert (after.dx10_clamp, after.ieee_mode, after.inst_pref_size) == (None, None, 0)


def test_an_undefined_work_item_id_mode_is_refused() -> None:
    data = bytearray(64)
    data[52:56] = (3 << 11).to_bytes(4, "little")
    with pytest.raises(MalformedCodeObject, match="WORKITEM_ID"):
        read_descriptor(bytes(data), is_gfx12=True)
