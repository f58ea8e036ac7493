"""The declarations agree with the inventories of clang's builtins and LLVM's intrinsics, if these
are available."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amdjit.declarations import As, Emit, Intrinsic, LlvmCall, Parameter
from amdjit.intrinsics import amdgcn, python_builtins
from amdjit.intrinsics.builtins.table import nearest
from amdjit.target import TARGETS
from amdjit.types import (
    Choice,
    Immediate,
    Scalar,
    Type,
    TypeVariable,
    Vector,
    boolean,
    f16,
    f32,
    f64,
    i16,
    i32,
    u32,
    u64,
)
from tests.intrinsics.declared_intrinsics import declared

DATA = Path(__file__).parents[3] / "shared" / "data"
DECLARED = declared()
GENERIC = ("llvm.fma", "llvm.ctpop", "llvm.ctlz", "llvm.cttz", "llvm.bitreverse", "llvm.fshl",
    "llvm.fshr", "llvm.sqrt",
           "llvm.sin", "llvm.cos",
           "llvm.exp", "llvm.exp2", "llvm.exp10", "llvm.log", "llvm.log2", "llvm.log10",
           "llvm.floor", "llvm.ceil",
           "llvm.trunc", "llvm.rint", "llvm.fabs", "llvm.copysign", "llvm.ldexp", "llvm.minnum",
           "llvm.maxnum",
           "llvm.is.fpclass", "llvm.fptosi.sat", "llvm.fptoui.sat")  # fmt: skip
CLANG_SCALARS = {"int": i32, "uint": u32, "ulong": u64, "float": f32, "double": f64, "half": f16,
    "short": i16,
                 "bool": boolean}  # fmt: skip
CLANG_BUILTINS = sorted(amdgcn.BUILTINS)
# LLVM 22 moves these out of branches and loops; tests/intrinsics/lanes has what they must give.
FENCED = ("mov_dpp8",)


def table(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"../shared/data/{name} is not there")
    entries: list[dict[str, Any]] = json.loads(path.read_text())
    return entries


@pytest.fixture(scope="module")
def builtins() -> dict[str, dict[str, Any]]:
    return {
        entry["builtin"].removeprefix("__builtin_amdgcn_"): entry
        for entry in table("amdgcn_builtins.json")
    }


def clang_type(name: str) -> Type:
    letters = name.rstrip("0123456789")
    length = name.removeprefix(letters)
    scalar = CLANG_SCALARS[letters]
    return Vector(scalar, int(length)) if length else scalar


def accepts(type: Type | None, wanted: Type) -> bool:
    return wanted in type.constraints if isinstance(type, TypeVariable) else type == wanted


def same_parameter(parameter: Parameter, clang: str, is_constant: bool) -> bool:
    if is_constant:
        return parameter.immediate is not None and parameter.is_boolean_immediate == (
            clang == "bool"
        )
    return parameter.immediate is None and accepts(parameter.type, clang_type(clang))


def test_the_documentation_of_every_intrinsic_opens_with_a_sentence() -> None:
    for label, intrinsic in DECLARED.items():
        assert intrinsic.documentation, label
        assert intrinsic.documentation.split("\n\n")[0].endswith("."), label


def test_names_in_llvm_exist() -> None:
    known = {entry["name"] for entry in table("amdgcn_llvm_intrinsics.json")} | set(GENERIC)
    for label, intrinsic in DECLARED.items():
        if isinstance(intrinsic.lowering, LlvmCall) and intrinsic.lowering.library is None:
            parts = intrinsic.lowering.name.split(".")
            prefixes = {".".join(parts[:count]) for count in range(2, len(parts) + 1)}
            assert prefixes & known, f"{label}: {intrinsic.lowering.name}"


@pytest.mark.parametrize("name", CLANG_BUILTINS)
def test_a_builtin_has_the_types_and_the_lowering_that_clang_gives_it(
    name: str, builtins: dict[str, dict[str, Any]]
) -> None:
    entry, intrinsic = builtins[name], getattr(amdgcn, name)
    assert len(intrinsic.parameters) == len(entry["clang_args"])
    for number, (parameter, clang) in enumerate(
        zip(intrinsic.parameters, entry["clang_args"], strict=True)
    ):
        assert same_parameter(parameter, clang, number in entry["clang_const_args"]), parameter
    if entry["clang_ret"] != "void" and entry["clang_ret"] not in ("short2", "ushort2"):
        assert accepts(intrinsic.result, clang_type(entry["clang_ret"]))
    if name in FENCED:
        assert isinstance(intrinsic.lowering, Emit)
        return
    assert isinstance(intrinsic.lowering, LlvmCall)
    assert intrinsic.lowering.name == entry["llvm"]
    assert llvm_operands(intrinsic) == entry["arg_map"]


def llvm_operands(intrinsic: Intrinsic) -> list[Any]:
    assert isinstance(intrinsic.lowering, LlvmCall)
    names = [parameter.name for parameter in intrinsic.parameters]
    operands = intrinsic.lowering.operands
    if operands is None:
        return list(range(len(names)))
    return [_operand(operand, names) for operand in operands]


def _operand(operand: str | As | bool | int, names: list[str]) -> Any:
    if isinstance(operand, As):
        return names.index(operand.name)
    return names.index(operand) if isinstance(operand, str) else {"const": str(operand).lower()}


@pytest.mark.parametrize("name", CLANG_BUILTINS)
def test_a_builtin_is_declared_for_gfx1201_if_and_only_if_it_exists_there(
    name: str, builtins: dict[str, dict[str, Any]]
) -> None:
    intrinsic: Intrinsic = getattr(amdgcn, name)
    # The inventory has no gfx908, nor what is like another processor.
    named = [target.name for target in TARGETS if target.like is None and target.name != "gfx908"]
    there = [name for name in intrinsic.targets or () if name in named]
    assert there == builtins[name]["targets"]
    if "gfx1201" in builtins[name]["targets"]:
        assert list(intrinsic.wave_sizes) == builtins[name]["target_waves"]["gfx1201"]


def test_all_dense_gfx12_wave32_wmma_builtins_are_declared(
    builtins: dict[str, dict[str, Any]],
) -> None:
    dense = {name for name in builtins if name.startswith("wmma_") and name.endswith("_w32_gfx12")}
    assert len(dense) == 11
    assert dense <= set(dir(amdgcn))


def test_each_gfx11_wmma_names_a_gfx12_builtin_instead() -> None:
    gfx11 = [
        name for name in dir(amdgcn) if name.startswith("wmma_") and name.endswith(("_w32", "_w64"))
    ]
    assert len(gfx11) == 16
    for name in gfx11:
        alternative = nearest(name, "gfx1201").removeprefix("amdgcn.")
        assert alternative == f"{name.replace('_tied', '')}_gfx12"


def test_an_undeclared_builtin_is_named_in_the_error() -> None:
    with pytest.raises(AttributeError, match="no_such_builtin"):
        _ = amdgcn.no_such_builtin


def test_immediates_have_ranges() -> None:
    for label, intrinsic in DECLARED.items():
        for parameter in intrinsic.parameters:
            if isinstance(parameter.immediate, Immediate):
                assert parameter.immediate.lo <= parameter.immediate.hi, label
            elif isinstance(parameter.immediate, Choice):
                assert parameter.immediate.values, label
            else:
                assert parameter.type is not None, label


def test_every_math_operation_is_selected_by_llvm_for_each_type_it_is_declared_for() -> None:
    selected = {
        entry["op"]: entry["targets"]["gfx1201:w32"]["ok"]
        for entry in table("amdgcn_math_selection.json")
    }
    checked = 0
    for label, intrinsic in DECLARED.items():
        if not isinstance(intrinsic.lowering, LlvmCall) or "{" in intrinsic.lowering.name.replace(
            "{x}", ""
        ):
            continue
        for scalar in _float_types(intrinsic):
            name = intrinsic.lowering.name.format(x=scalar.name)
            if name in selected:
                assert selected[name], f"{label}: {name}"
                checked += 1
    assert checked > 60


def _float_types(intrinsic: Intrinsic) -> list[Scalar]:
    first = intrinsic.parameters[0].type if intrinsic.parameters else None
    constraints = first.constraints if isinstance(first, TypeVariable) else (first,)
    return [scalar for scalar in constraints if isinstance(scalar, Scalar)]


def test_python_functions_map_to_declarations() -> None:
    assert python_builtins.PYTHON_FUNCTIONS[math.fabs].name == "fabs"
    assert python_builtins.PYTHON_FUNCTIONS[math.floor](2.5) == 2
    assert python_builtins.PYTHON_FUNCTIONS[math.sin] is python_builtins.PYTHON_FUNCTIONS[np.sin]
    assert math.fsum not in python_builtins.PYTHON_FUNCTIONS
