"""One kernel for each way to use each intrinsic. Run as a script it compiles them all: see
`test_selection`."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import amdjit
from amdjit.declarations import Intrinsic, Parameter
from amdjit.target import find_target
from amdjit.types import (
    VOID,
    AddressSpace,
    Choice,
    Immediate,
    Pointer,
    PointerPattern,
    Scalar,
    Type,
    TypeVariable,
    Vector,
    boolean,
    f32,
    i32,
)

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.intrinsics.declared_intrinsics import declared

TARGET = find_target("gfx1201")
assert TARGET is not None
DECLARED = declared()
HERE = {
    label: value
    for label, value in DECLARED.items()
    if value.features <= TARGET.features and TARGET.name in (value.targets or (TARGET.name,))
}
ELSEWHERE = {label: value for label, value in DECLARED.items() if label not in HERE}
PROPERTIES = ("threadIdx.", "blockIdx.", "blockDim.", "gridDim.", "wavefront_size")


@dataclass(frozen=True)
class Case:
    """An intrinsic with a choice for each of its type variables and named values."""

    label: str
    types: dict[TypeVariable, Type]
    values: dict[str, str]
    space: AddressSpace = AddressSpace.GLOBAL
    wave_size: int = 32
    intrinsic: Intrinsic = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "intrinsic", DECLARED[self.label])

    def __str__(self) -> str:
        types = [f"{variable.name}={type}" for variable, type in self.types.items()]
        return " ".join(
            [self.label, *types, *self.values.values(), self.space.name, f"wave{self.wave_size}"]
        )

    def chosen(self, type: Type | None) -> Type:
        """Return the type that a parameter or the result has here."""
        if isinstance(type, PointerPattern):
            return i32 if type.element is None else self.chosen(type.element)
        assert type is not None
        return self.types[type] if isinstance(type, TypeVariable) else type


def usual(label: str) -> Case:
    """Return the plainest use: f32 or i32 where there is a choice."""
    intrinsic = DECLARED[label]
    types = {
        variable: next(
            (type for type in (f32, i32) if type in variable.constraints), variable.constraints[0]
        )
        for variable in type_variables(intrinsic)
    }
    # LLVM makes a compare-and-swap loop of some operations in system scope: PCIe lacks them.
    values = {
        name: "agent" if "agent" in choice.values else choice.values[0]
        for name, choice in choices(intrinsic)
    }
    return Case(label, types, values, wave_size=intrinsic.wave_sizes[0])


def all_cases() -> Iterator[Case]:
    """Yield each type, each memory, each wave size, and each named value of every intrinsic that
    gfx1201 has."""
    for label, intrinsic in HERE.items():
        plain = usual(label)
        variables = list(type_variables(intrinsic))
        patterns = [
            parameter.type
            for parameter in intrinsic.parameters
            if isinstance(parameter.type, PointerPattern)
        ]
        has_pointer = any(AddressSpace.LDS in pattern.address_spaces for pattern in patterns)
        spaces = (AddressSpace.GLOBAL, AddressSpace.LDS) if has_pointer else (AddressSpace.GLOBAL,)
        for types in itertools.product(*(variable.constraints for variable in variables)):
            for space, wave_size in itertools.product(spaces, intrinsic.wave_sizes):
                yield Case(
                    label, dict(zip(variables, types, strict=True)), plain.values, space, wave_size
                )
        names = [name for name, _ in choices(intrinsic)]
        for values in itertools.product(*(choice.values for _, choice in choices(intrinsic))):
            yield Case(label, plain.types, dict(zip(names, values, strict=True)))


def type_variables(intrinsic: Intrinsic) -> dict[TypeVariable, None]:
    """Return the intrinsic's type variables in the order of its parameters."""
    types = (
        p.type.element if isinstance(p.type, PointerPattern) else p.type
        for p in intrinsic.parameters
    )
    return dict.fromkeys(type for type in types if isinstance(type, TypeVariable))


def choices(intrinsic: Intrinsic) -> list[tuple[str, Choice]]:
    """Return the parameters that take one of some strings."""
    return [(p.name, p.immediate) for p in intrinsic.parameters if isinstance(p.immediate, Choice)]


def element_type(type: Type) -> Scalar:
    """Return the element type of the array that values of a type are loaded from."""
    if isinstance(type, Vector):
        return type.element
    assert isinstance(type, Scalar)
    return i32 if type is boolean else type


def _spread(name: str, count: int) -> str:
    return ", ".join(f"{name}[{count} * i + {number}]" for number in range(count))


def _argument(case: Case, parameter: Parameter, name: str) -> str:
    if isinstance(parameter.immediate, Immediate):
        return repr(
            bool(parameter.immediate.lo)
            if parameter.is_boolean_immediate
            else parameter.immediate.lo
        )
    if isinstance(parameter.immediate, Choice):
        return repr(case.values[parameter.name])
    if (
        isinstance(parameter.type, PointerPattern)
        and AddressSpace.BUFFER in parameter.type.address_spaces
    ):
        return f"buffers.resources.make_buffer(address_of({name}, i), 64)"
    type = case.chosen(parameter.type)
    if isinstance(type, Pointer) and type.address_space is AddressSpace.LDS:
        return f"address_of(lds_{name}, 0)"
    if isinstance(parameter.type, PointerPattern):
        return (
            f"address_of({name}, i)"
            if case.space is AddressSpace.GLOBAL
            else f"address_of(lds_{name}, i)"
        )
    if isinstance(type, Vector):
        return f"amdjit.vector(amdjit.{type.element}, {type.length})({_spread(name, type.length)})"
    return f"{name}[i] != 0" if type is boolean else f"{name}[i]"


def kernel_text(number: int, case: Case) -> tuple[str, list[Scalar]]:
    """Return a kernel that uses the intrinsic on what it loads from arrays, and the arrays' element
    types."""
    lines, names, types, arguments = ["i = amdjit.grid(1)"], [], [], []
    for position, parameter in enumerate(case.intrinsic.parameters):
        name = f"p{position}"
        arguments.append(_argument(case, parameter, name))
        pointer = case.chosen(parameter.type) if parameter.immediate is None else None
        if isinstance(pointer, Pointer) and pointer.address_space is AddressSpace.LDS:
            lines.append(f"lds_{name} = amdjit.shared.array(64, amdjit.{pointer.element})")
            lines.append(f"lds_{name}[i % 64] = i")
        elif parameter.immediate is None:
            names.append(name)
            types.append(element_type(case.chosen(parameter.type)))
            if f"lds_{name}" in arguments[-1]:
                lines.append(f"lds_{name} = amdjit.shared.array(64, amdjit.{types[-1]})")
    is_property = any(word in case.label for word in PROPERTIES)
    expression = case.label if is_property else f"{case.label}({', '.join(arguments)})"
    if case.intrinsic.result == VOID or isinstance(case.intrinsic.result, Pointer):
        lines.append(expression)
    else:
        result = case.chosen(case.intrinsic.result)
        names.append("out")
        types.append(element_type(result))
        lines += [f"result = {expression}", *_store(result)]
    body = "".join(f"    {line}\n" for line in lines)
    return f"def kernel_{number}({', '.join(names)}):\n{body}\n\n", types


def _store(result: Type) -> list[str]:
    if isinstance(result, Vector):
        return [
            f"out[{result.length} * i + {number}] = result[{number}]"
            for number in range(result.length)
        ]
    return ["out[i] = i32(result)" if result is boolean else "out[i] = result"]


def write_module(cases: list[Case], folder: Path) -> ModuleType:
    """Write the cases' kernels to a file and import it."""
    modules = sorted({"buffers", *(case.label.split(".")[0] for case in cases)})
    text = (
        "import amdjit\nfrom amdjit import address_of, i32\nfrom amdjit.intrinsics import "
        f"{', '.join(modules)}\n\n"
    )
    text += "".join(kernel_text(number, case)[0] for number, case in enumerate(cases))
    path = folder / "selection_kernels.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("selection_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_case(module: ModuleType, number: int, case: Case) -> amdjit.CompiledKernel:
    """Compile the kernel of one case for gfx1201."""
    arrays = [type[:] for type in kernel_text(number, case)[1]]
    kernel = amdjit.kernel(getattr(module, f"kernel_{number}"))
    return kernel.compile(*arrays, target="gfx1201", wave_size=case.wave_size)


def main(folder: Path) -> None:
    """Compile all cases; each is named before, because LLVM ends the process where it cannot select
    something."""
    cases = list(all_cases())
    module = write_module(cases, folder)
    for number, case in enumerate(cases):
        print(case, flush=True)
        compile_case(module, number, case)
    print(f"{len(cases)} cases compiled")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
