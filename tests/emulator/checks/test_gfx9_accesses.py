"""The checks follow accesses that only gfx9 has: loads into LDS, scalar stores and atomics, LDS
operands of LDS atomics."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.building import device, using
from tests.emulator.checks.checked_device import CheckedDevice
from tests.emulator.gfx9_instruction import CDNA, random_words, run_gfx9
from tests.emulator.required_tools import needs_tools

_CHECKS = ("memory", "race", "init", "sync")


def _kinds(cpu: str, body: str, outputs: tuple[int, ...] = (9,)) -> list[str]:
    """Return what the checks find in instructions that run in one wave."""
    with using(cpu=cpu):
        checked: Any = CheckedDevice(device(), *_CHECKS)
        with using(device=checked):
            run_gfx9(cpu, body, random_words(1, 2), outputs, lds=1024)
    return [f"{report.check}/{report.kind}" for report in checked.reports]


def _load(cpu: str, name: str) -> str:
    if cpu in ("gfx906", "gfx908", "gfx90a"):
        return f"global_load_{name} v250, s[4:5] lds"
    return f"global_load_lds_{name} v250, s[4:5]"


@pytest.mark.sample(3)
@pytest.mark.covering(1)
@needs_tools
@pytest.mark.parametrize("cpu", CDNA)
@pytest.mark.parametrize("name", ["dword", "ubyte"])
def test_what_is_loaded_into_lds_is_defined_there(cpu: str, name: str) -> None:
    body = f"""
  s_mov_b32 m0, 64
  s_nop 0
  {_load(cpu, name)}
  s_waitcnt vmcnt(0)
  ds_read_b32 v9, v250 offset:64
"""
    assert _kinds(cpu, body) == []
    assert _kinds(cpu, body.replace("offset:64", "offset:320")) == ["init/undefined-store"]


@needs_tools
def test_buffers_are_loaded_into_lds() -> None:
    body = """
  s_mov_b64 s[20:21], s[4:5]
  s_mov_b64 s[22:23], 0x100
  s_mov_b32 s23, 0x00027000
  s_mov_b32 m0, 0
  s_nop 0
  buffer_load_{name} v250, s[20:23], 0 offen lds
  s_waitcnt vmcnt(0)
  ds_read_b32 v9, v250
"""
    for cpu, name in (("gfx908", "dword"), ("gfx942", "dword"), ("gfx90a", "format_x")):
        assert _kinds(cpu, body.replace("{name}", name)) == []


@needs_tools
@pytest.mark.parametrize(
    ("cpu", "access", "kind"),
    [
        ("gfx908", "s_store_dword s20, s[6:7], 0x0", "store"),
        ("gfx90a", "s_store_dword s20, s[6:7], 0x0", "store"),
        ("gfx908", "s_atomic_add s20, s[6:7], 0x0 glc", "atomic"),
    ],
)
def test_scalar_stores_have_defined_data(cpu: str, access: str, kind: str) -> None:
    body = f"""
  ds_read_b32 v20, v250
  v_mov_b32 v9, 1
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s20, v20
  {access}
  s_waitcnt lgkmcnt(0)
"""
    assert _kinds(cpu, body) == [f"init/undefined-{kind}"]
    assert _kinds(cpu, body.replace("ds_read_b32 v20, v250", "v_mov_b32 v20, 1")) == []


@needs_tools
def test_an_undefined_operand_in_lds_makes_the_result_undefined() -> None:
    body = """
  ds_write_b32 v250, v1
  ds_write_b32 v250, v2 offset:256
  ds_add_src2_u32 v250 offset:64
  ds_read_b32 v9, v250
"""
    assert _kinds("gfx908", body) == []
    assert _kinds("gfx908", body.replace("offset:256", "offset:512")) == ["init/undefined-store"]
