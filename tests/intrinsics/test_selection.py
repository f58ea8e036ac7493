"""Every declaration, alone in a kernel: LLVM selects it for gfx1201 and it becomes the instruction that it names."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from declared_intrinsics import declared

import amdjit
from amdjit.declarations import Intrinsic
from amdjit.target import find_target
from amdjit.types import (
    VOID,
    Choice,
    Immediate,
    Layout,
    PointerPattern,
    Scalar,
    Type,
    TypeVariable,
    Vector,
    boolean,
    f32,
    i32,
)

DECLARED = declared()
TARGET = find_target("gfx1201")
assert TARGET is not None
HERE = {label: value for label, value in DECLARED.items() if value.features <= TARGET.features}
ELSEWHERE = {label: value for label, value in DECLARED.items() if label not in HERE}
PROPERTIES = ("threadIdx.", "blockIdx.", "blockDim.", "gridDim.", "wavefront_size")


def chosen(type: Type | None) -> Type:
    """Return the type that a parameter gets here."""
    if isinstance(type, PointerPattern):
        return chosen(type.element)
    if isinstance(type, TypeVariable):
        return next((wanted for wanted in (f32, i32) if wanted in type.constraints), type.constraints[0])
    assert type is not None
    return type


def element_type(type: Type) -> Scalar:
    if isinstance(type, Vector):
        return type.element
    assert isinstance(type, Scalar)
    return i32 if type is boolean else type


def argument(name: str, intrinsic: Intrinsic, number: int) -> str:
    parameter = intrinsic.parameters[number]
    if isinstance(parameter.immediate, Immediate):
        return repr(bool(parameter.immediate.lo) if parameter.is_boolean_immediate else parameter.immediate.lo)
    if isinstance(parameter.immediate, Choice):
        # LLVM makes a compare-and-swap loop of some operations in system scope: PCIe lacks them.
        values = parameter.immediate.values
        return repr("agent" if "agent" in values else values[0])
    type = chosen(parameter.type)
    if isinstance(parameter.type, PointerPattern):
        return f"address_of({name}, i)"
    if isinstance(type, Vector):
        return f"{name}.load({type.length} * i, {type.length})"
    return f"{name}[i] != 0" if type is boolean else f"{name}[i]"


def kernel_text(number: int, label: str, intrinsic: Intrinsic) -> tuple[str, list[Scalar]]:
    """Return a kernel that uses the intrinsic on what it loads from arrays, and the arrays' element types."""
    run_time = [n for n, parameter in enumerate(intrinsic.parameters) if parameter.immediate is None]
    names = {n: f"p{n}" for n in run_time}
    types = [element_type(chosen(intrinsic.parameters[n].type)) for n in run_time]
    arguments = ", ".join(argument(names.get(n, ""), intrinsic, n) for n in range(len(intrinsic.parameters)))
    is_property = any(word in label for word in PROPERTIES)
    expression = label if is_property else f"{label}({arguments})"
    parameters = [names[n] for n in run_time]
    if intrinsic.result == VOID:
        line = expression
    else:
        result = chosen(intrinsic.result)
        types.append(element_type(result))
        parameters.append("out")
        store = f"out.store({result.length} * i, {expression})" if isinstance(result, Vector) else ""
        line = store or (f"out[i] = i32({expression})" if result is boolean else f"out[i] = {expression}")
    return f"def kernel_{number}({', '.join(parameters)}):\n    i = amdjit.grid(1)\n    {line}\n\n\n", types


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    modules = sorted({label.split(".")[0] for label in DECLARED})
    text = (
        f"import amdjit\nfrom amdjit import address_of, i32\nfrom amdjit.intrinsics import {', '.join(modules)}\n\n\n"
    )
    for number, (label, intrinsic) in enumerate(DECLARED.items()):
        text += kernel_text(number, label, intrinsic)[0]
    path: Path = tmp_path_factory.mktemp("selection") / "selection_kernels.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("selection_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(module: ModuleType, label: str, **options: object) -> object:
    number = list(DECLARED).index(label)
    types = kernel_text(number, label, DECLARED[label])[1]
    arrays = [type[:] for type in types]
    assert all(array.layout is Layout.ANY for array in arrays)
    return amdjit.kernel(getattr(module, f"kernel_{number}")).compile(*arrays, target="gfx1201", **options)


@pytest.mark.parametrize("label", HERE)
def test_it_becomes_its_instruction(label: str, generated: ModuleType) -> None:
    assembly = compiled(generated, label).asm
    assert "call" not in assembly
    assert (HERE[label].isa or "s_endpgm") in assembly


@pytest.mark.parametrize("label", ELSEWHERE)
def test_what_gfx1201_lacks_is_an_error_that_says_what_to_use(label: str, generated: ModuleType) -> None:
    with pytest.raises(amdjit.TargetError) as caught:
        compiled(generated, label)
    assert ELSEWHERE[label].alternative in str(caught.value)
