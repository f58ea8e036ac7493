"""Code objects that are written without LLVM are those that LLVM writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from amdjit.backend.linking.plain import link_plain
from amdjit.code_object import CodeObject
from amdjit.probe.machine_code.kernel_object import KernelFacts, Mode, make_code_object
from amdjit.target import TARGETS, Target, with_settings
from tests.probe.machine_code.assembled_kernels import assembled, headers, linked, section

_TOOLS = ("llvm-mc-22", "ld.lld-22", "llvm-objcopy-22", "llvm-readelf-22")
pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in _TOOLS), reason=f"needs {', '.join(_TOOLS)}"
)
_EMULATED = [target for target in TARGETS if target.is_emulated]
_ALTERED = Mode(1, 2, 0, 1, overflow=True, ieee=False, dx10_clamp=False)


def _facts(target: Target) -> list[KernelFacts]:
    most = 256 if target.isa[0] == 9 and target.isa >= (9, 0, 10) else 0
    wave = target.wave_sizes[-1]
    return [
        KernelFacts("kernel", target.wave_size),
        KernelFacts("other", wave, 40, most, 48, 4096, 64, _ALTERED, 256),
        KernelFacts("k", wave, 256, 8 if most else 0, 96, 65536, 0, Mode(overflow=True), 64),
    ]


@pytest.mark.sample(7)
@pytest.mark.parametrize("target", _EMULATED, ids=str)
def test_a_code_object_is_what_the_assembler_makes(target: Target, tmp_path: Path) -> None:
    code = target.isa[0].to_bytes(4, "little") * 70
    for facts in _facts(target):
        mine = make_code_object(target, facts, code)
        other = assembled(target, facts, code, tmp_path)
        # Everything but the order of strings in the object is alike; linked, even that is.
        assert mine == link_plain(other.read_bytes()), facts


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["gfx1201", "gfx1100", "gfx908", "gfx942"])
def test_descriptor_and_notes_are_those_of_lld(name: str, tmp_path: Path) -> None:
    target = next(target for target in TARGETS if target.name == name)
    if target.id_features:
        target = with_settings(target, {"sramecc": True, "xnack": False})
    for facts in _facts(target):
        code = bytes(300)
        mine, lld = (
            make_code_object(target, facts, code),
            linked(assembled(target, facts, code, tmp_path)),
        )
        for part in (".rodata", ".note", ".text", ".dynsym"):
            assert section(mine, part, tmp_path) == section(lld, part, tmp_path), (facts, part)
        assert headers(mine, tmp_path) == headers(lld, tmp_path)


def test_the_descriptor_reads_back() -> None:
    target = next(target for target in TARGETS if target.name == "gfx1201")
    facts = KernelFacts("k", 64, 100, 0, 96, 512, 32, Mode(rounding_32=3, denormals_16_64=1))
    kernel = CodeObject.read(make_code_object(target, facts, bytes(8))).kernels["k"]
    found = kernel.descriptor
    assert (found.wave_size, found.vgpr_count, found.group_segment_bytes) == (64, 100, 512)
    assert (found.private_segment_bytes, found.kernarg_size) == (32, 16)
    assert (found.float_round_mode_32, found.float_denorm_mode_16_64) == (3, 1)
