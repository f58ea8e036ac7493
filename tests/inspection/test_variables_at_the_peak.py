"""The peak names the variables that live registers hold, if debug information has them."""

from __future__ import annotations

import re

import amdjit
from amdjit import f16, f32
from amdjit.examples import saxpy, wmma_matmul

TYPES = (f16[:], f16[:], f16[:])


def test_the_values_at_the_peak_have_python_s_names_and_live_registers() -> None:
    compiled = wmma_matmul.wmma_matmul.compile(*TYPES, target="gfx1201", debug_variables=True)
    found = compiled.inspect()
    (highest,) = (one for one in found.instructions if one.address == found.peak.address)
    assert {(value.name, value.type) for value in found.peak.values} >= {("a_fragment", "f16x8")}
    for value in found.peak.values:
        first, last = re.fullmatch(r"v(?:\[(\d+):)?(\d+)\]?", value.registers).groups()  # type: ignore[union-attr]
        assert highest.live_vgprs & set(range(int(first or last), int(last) + 1)), value
    assert not [sentence for sentence in found.missing if "Names" in sentence]


def test_without_variables_the_inspection_says_how_to_get_them() -> None:
    compiled = saxpy.saxpy.compile(f32, *[f32[:]] * 3, target="gfx1201")
    found = compiled.inspect()
    assert found.peak.values == ()
    assert [sentence for sentence in found.missing if "debug_variables=True" in sentence]


def test_compilations_with_and_without_variables_have_the_same_facts() -> None:
    plain, described = (
        wmma_matmul.wmma_matmul.compile(*TYPES, target="gfx1201", debug_variables=wanted).inspect()
        for wanted in (False, True)
    )
    assert isinstance(plain, amdjit.Inspection)
    assert plain.instructions == described.instructions
    assert plain.blocks == described.blocks
