"""Every builtin of the table on every processor: it becomes its instruction where it is, and is
refused where not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import amdjit
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.builtins.irregular import EMITTERS
from amdjit.intrinsics.builtins.table import Row, nearest, python_name, rows
from amdjit.target import TARGETS, Target
from amdjit.types import SCALARS, boolean
from tests.intrinsics.builtins import builtin_kernels
from tests.intrinsics.builtins.builtin_kernels import ENDINGS, kernel_text, wave_size, write_module

INVENTORY = Path(__file__).parents[4] / "shared" / "data" / "amdgcn_builtins.json"
# Those of which it knows.
LISTED = [target for target in TARGETS if target.like is None and target.name != "gfx908"]
# Whose builtins are always compiled: one processor of each family.
ALWAYS = ("gfx942", "gfx1100", "gfx1201", "gfx1250")
ARRAYS = [scalar[:] for scalar in SCALARS if scalar is not boolean]


def compile_all(target: Target, folder: Path, builtins_a_kernel: int, *constants: str) -> str:
    command = [
        sys.executable,
        builtin_kernels.__file__,
        str(folder),
        target.name,
        str(builtins_a_kernel),
        *constants,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = [line for line in done.stdout.splitlines() if line.startswith("compile ")][-1:]
    assert done.returncode == 0, f"at {last}: {done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "target",
    [
        pytest.param(target, marks=() if target.name in ALWAYS else pytest.mark.exhaustive)
        for target in TARGETS
    ],
    ids=str,
)
def test_builtins_become_their_instructions(target: Target, tmp_path: Path) -> None:
    output = compile_all(target, tmp_path, 25)
    there = sum(target.name in row.targets for row in rows().values())
    assert output.splitlines()[-1] == f"compiled {there}"
    assert [line for line in output.splitlines() if line.startswith("missing")] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_each_builtin_alone_becomes_its_instruction(target: Target, tmp_path: Path) -> None:
    output = compile_all(target, tmp_path, 1)
    assert [line for line in output.splitlines() if line.startswith("missing")] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_llvm_selects_each_builtin_with_its_highest_constants(
    target: Target, tmp_path: Path
) -> None:
    output = compile_all(target, tmp_path, 25, "highest")
    assert output.splitlines()[-1].startswith("compiled ")


def test_a_builtin_that_a_processor_lacks_is_refused_before_llvm(tmp_path: Path) -> None:
    lacking = [
        (row, target)
        for row in rows().values()
        for target in TARGETS
        if target.name not in row.targets
    ]
    assert len(lacking) > 3000
    chosen = [pair for pair in lacking if pair[0].name not in ENDINGS][::101]
    module = write_module(
        [kernel_text(f"kernel_{n}", [row]) for n, (row, _) in enumerate(chosen)], tmp_path
    )
    for number, (row, target) in enumerate(chosen):
        size = (
            wave_size(row, target)
            if set(row.wave_sizes) & set(target.wave_sizes)
            else target.wave_size
        )
        kernel = amdjit.kernel(getattr(module, f"kernel_{number}"))
        with pytest.raises(amdjit.TargetError) as caught:
            kernel.compile(*ARRAYS, target=target.name, wave_size=size)
        assert f"`{row.name}` does not exist on {target}" in str(caught.value)
        remedy = nearest(row.name, target.name)
        assert (f"use {remedy}" if remedy else "it needs one of gfx") in str(caught.value)


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("wmma_f32_16x16x16_f16_w32", "gfx1201", "amdgcn.wmma_f32_16x16x16_f16_w32_gfx12"),
        ("wmma_i32_16x16x16_iu4_w32", "gfx1201", "amdgcn.wmma_i32_16x16x16_iu4_w32_gfx12"),
        ("mfma_f32_16x16x16f16", "gfx1201", "amdgcn.wmma_f32_16x16x16_f16_w32_gfx12"),
        ("mfma_f32_16x16x16f16", "gfx1100", "amdgcn.wmma_f32_16x16x16_f16_w32"),
        ("swmmac_f32_16x16x32_f16_w32", "gfx942", "amdgcn.smfmac_f32_16x16x32_f16"),
        ("cvt_f32_fp8", "gfx1100", "amdjit.fp8(x) and amdjit.bf8(x), which convert in software"),
        ("image_load_2d_v4f32_i32", "gfx942", "arrays: this processor has no image instructions"),
    ],
)
def test_the_nearest_builtin_is_named(name: str, target: str, expected: str) -> None:
    assert nearest(name, target).startswith(expected)


def test_names_that_clang_has_not_are_refused_with_those_that_are_alike() -> None:
    with pytest.raises(AttributeError, match="did you mean wmma_f32_16x16x16_f16_w32_gfx12"):
        _ = amdgcn.wmma_f32_16x16x16_f16_w32_gfx13
    assert amdgcn.class_.name == "class"


def test_each_builtin_is_declared_once() -> None:
    by_hand = set(amdgcn.BUILTINS)
    in_full = {row.name for row in rows().values() if row.signature}
    assert by_hand | in_full == set(rows())
    assert not by_hand & in_full
    assert set(EMITTERS) == {row.name for row in rows().values() if row.llvm == "emit"}


def test_the_table_has_every_builtin_of_clang_on_its_processors() -> None:
    if not INVENTORY.exists():
        pytest.skip("../shared/data/amdgcn_builtins.json is not there")
    entries: list[dict[str, Any]] = [
        e for e in json.loads(INVENTORY.read_text()) if e["status"] == "verified"
    ]
    assert len(entries) == len(rows()) == 785
    for entry in entries:
        row = rows()[entry["builtin"].removeprefix("__builtin_amdgcn_")]
        # gfx908 has nothing that gfx90a has not.
        assert "gfx908" not in row.targets or "gfx90a" in entry["targets"]
        there = [target for target in LISTED if target.name in row.targets]
        assert [target.name for target in there] == entry["targets"]
        for target in there:
            assert list(row.mnemonics(target.name)) == (entry["isa"].get(target.name) or []), (
                row.name,
                target,
            )
            sizes = tuple(size for size in target.wave_sizes if size in row.wave_sizes)
            assert sizes == tuple(entry["target_waves"][target.name]), row.name
        check_call(row, entry)


def test_processors_that_are_like_another_have_its_builtins() -> None:
    alike = [target for target in TARGETS if target.like is not None]
    assert [target.name for target in alike if target.like == "gfx1100"] == [
        *("gfx1101", "gfx1102", "gfx1103"),
        *("gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx11-generic"),
    ]
    for row in rows().values():
        for target in alike:
            assert target.like is not None
            # LLVM AMDGPU guide, "Processors": gfx9-4-generic has no FP8, BF8 and XF32.
            is_lacking = target.name == "gfx9-4-generic" and any(
                kind in row.name for kind in ("fp8", "bf8", "xf32")
            )
            is_lacking = is_lacking or (target.name == "gfx906" and "mfma" in row.name)
            is_there = target.like in row.targets and not is_lacking
            assert (target.name in row.targets) == is_there, row.name
            # gfx906's dot products have no form that adds to its result.
            if not (target.name == "gfx906" and row.name.startswith("sdot")):
                assert row.mnemonics(target.name) == row.mnemonics(target.like), row.name


def check_call(row: Row, entry: dict[str, Any]) -> None:
    """The LLVM function is the inventory's, and its constants are constants here."""
    declared = getattr(amdgcn, python_name(row.name))
    if row.llvm not in ("", "emit") and not row.llvm.startswith("atomicrmw"):
        assert row.llvm == entry["llvm"]
        constants = {
            m for k, m in enumerate(entry["arg_map"]) if k in entry["immarg"] and isinstance(m, int)
        }
        assert {
            n for n, p in enumerate(declared.parameters) if p.immediate is not None
        } == constants
