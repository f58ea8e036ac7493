"""Kernels that use the builtins of the table. Run as a script it compiles all that a processor has:
`test_builtins`.

    python builtin_kernels.py FOLDER TARGET BUILTINS_A_KERNEL [highest]

`highest`: each constant is the last of those that the processor has, instead of a usual one.

Each kernel's names are printed before it is compiled, because LLVM ends the process where it cannot
select something.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import amdjit
from amdjit.declarations import Intrinsic, Parameter
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.builtins.table import Row, python_name, rows
from amdjit.target import Target, find_target
from amdjit.types import (
    SCALARS,
    VOID,
    AddressSpace,
    Choice,
    Immediate,
    Pointer,
    PointerPattern,
    Scalar,
    Tuple,
    Type,
    TypeVariable,
    Vector,
    boolean,
)

# Nothing after them is reached.
ENDINGS = {"endpgm"}
SCALAR = ("s_", "ds_gws")
# wave32 has no upper half to count in; what a descriptor is put together by depends on what is
# known of its parts; where a pointer points is known of all that a kernel can write down.
FOLDED = {"mbcnt_hi", "make_buffer_rsrc", "is_private", "is_shared"}
_ELEMENTS = tuple(scalar for scalar in SCALARS if scalar is not boolean)
_LENGTH = 1024
# Constants that are in the range but whose meaning LLVM checks: a counter's or a message's number.
_CONSTANTS = {
    ("s_sendmsg", 0): 1, ("s_sendmsghalt", 0): 1, ("s_sendmsg_rtn", 0): 128,
    ("s_sendmsg_rtnl", 0): 131,
}  # fmt: skip


def wave_size(row: Row, target: Target) -> int:
    """Return the wave size to use a builtin in."""
    return next(size for size in target.wave_sizes if size in row.wave_sizes)


def batches(target: Target, count: int) -> Iterator[tuple[int, list[Row]]]:
    """Yield the builtins that a processor has, `count` of one wave size at a time; what ends a wave
    is alone."""
    there = [row for row in rows().values() if target.name in row.targets]
    for size in target.wave_sizes:
        chosen = [row for row in there if wave_size(row, target) == size]
        yield from ((size, [row]) for row in chosen if row.name in ENDINGS)
        rest = [row for row in chosen if row.name not in ENDINGS]
        yield from ((size, rest[start : start + count]) for start in range(0, len(rest), count))


def chosen(type: Type | None) -> Type:
    """Return a type for a parameter: the first of a variable's, f32 or i32 where there is a
    choice."""
    assert type is not None
    return type.constraints[0] if isinstance(type, TypeVariable) else type


def highest(mark: Immediate, target: str) -> int:
    """Return the last constant that a processor has."""
    there = mark.on(target)
    return there.only[-1] if there.only else there.hi


def argument(name: str, place: int, parameter: Parameter, target: str = "") -> str:
    """Return an argument: a constant, the highest that a processor has if one is given, or the same
    in all lanes."""
    mark, type = parameter.immediate, parameter.type
    if isinstance(mark, Immediate) and target:
        value = highest(mark, target)
        return repr(bool(value) if parameter.is_boolean_immediate else value)
    if isinstance(mark, Choice):
        return repr(mark.values[1])
    if isinstance(mark, Immediate):
        # All processors load 4 bytes into LDS.
        usual = 4 if mark.only and name.endswith("lds") else mark.only[0] if mark.only else mark.lo
        is_mask = name.startswith("image_") and (mark.lo, mark.hi) == (0, 15)
        value = _CONSTANTS.get((name, place), 1 if is_mask else usual)
        return repr(bool(value) if parameter.is_boolean_immediate else value)
    if isinstance(type, PointerPattern):
        space = type.address_spaces[0]
        return {AddressSpace.LDS: "address_of(lds, 4)", AddressSpace.BUFFER: "resource"}.get(
            space, "address_of(m_i32, 4)"
        )
    # Scalar instructions take what is the same in all lanes, vector instructions become others for
    # that.
    return value_of(chosen(type), f"{8 * place}" if name.startswith(SCALAR) else f"{8 * place} + i")


def value_of(type: Type, place: str) -> str:
    """Return a value of a type, read from an array."""
    if isinstance(type, Vector):
        parts = ", ".join(f"m_{type.element}[{place} + {number}]" for number in range(type.length))
        return f"amdjit.vector(amdjit.{type.element}, {type.length})({parts})"
    assert isinstance(type, Scalar)
    return f"m_i32[{place}] != 0" if type is boolean else f"m_{type}[{place}]"


def stores(type: Type, value: str, place: int) -> list[str]:
    """Return statements that keep a result alive."""
    if isinstance(type, Tuple):
        return [
            line
            for n, part in enumerate(type.elements)
            for line in stores(part, f"{value}[{n}]", place + 40 * n)
        ]
    if isinstance(type, Vector):
        return [
            f"m_{type.element}[{place + number} + i] = {value}[{number}]"
            for number in range(type.length)
        ]
    if isinstance(type, Pointer) or type == VOID:
        return []
    return [
        f"m_i32[{place} + i] = i32({value})"
        if type is boolean
        else f"m_{type}[{place} + i] = {value}"
    ]


def kernel_text(name: str, batch: Sequence[Row], target: str = "") -> str:
    """Return a kernel that calls some builtins, one after another; target: with the highest
    constants there."""
    lines = ["i = amdjit.grid(1)", "lds = amdjit.shared.array(64, i32)"]
    lines.append("resource = amdgcn.make_buffer_rsrc(address_of(m_i32, 0), 0, 4096, 0)")
    for number, row in enumerate(batch):
        declared: Intrinsic = getattr(amdgcn, python_name(row.name))
        arguments = [
            argument(row.name, n, parameter, target)
            for n, parameter in enumerate(declared.parameters)
        ]
        call = f"amdgcn.{python_name(row.name)}({', '.join(arguments)})"
        result = chosen(declared.result)
        lines.append(call if result == VOID else f"r{number} = {call}")
        lines += stores(result, f"r{number}", 128 * (number + 1))
    parameters = ", ".join(f"m_{element}" for element in _ELEMENTS)
    return f"def {name}({parameters}):\n" + "".join(f"    {line}\n" for line in lines) + "\n\n"


def write_module(texts: Sequence[str], folder: Path) -> Any:
    """Write kernels to a file and import it."""
    path = folder / "builtin_kernels_module.py"
    head = (
        "import amdjit\nfrom amdjit import address_of, i32\nfrom amdjit.intrinsics import "
        "amdgcn\n\n"
    )
    path.write_text(head + "".join(texts))
    spec = importlib.util.spec_from_file_location("builtin_kernels_module", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def missing(row: Row, target: str, assembly: str) -> bool:
    """Whether an instruction of a builtin is not there. LLVM finds out where generic pointers
    point."""
    if row.group.startswith("workitem") or row.name in FOLDED:
        # values that the machine puts into registers; what LLVM does with them depends on their use
        return False
    names = row.mnemonics(target)
    seen = [name.removesuffix("_dpp") for name in names] + [
        name.replace("flat_", "global_") for name in names
    ]
    return bool(names) and not any(name in assembly for name in seen)


def main(folder: Path, target_name: str, count: int, constants: str = "") -> None:
    """Compile all builtins of a processor; say which ones did not become their instructions."""
    target = find_target(target_name)
    assert target is not None
    work = list(batches(target, count))
    of = target_name if constants == "highest" else ""
    module = write_module(
        [kernel_text(f"kernel_{n}", batch, of) for n, (_, batch) in enumerate(work)], folder
    )
    arrays = [element[:] for element in _ELEMENTS]
    for number, (size, batch) in enumerate(work):
        print("compile", *(row.name for row in batch), flush=True)
        kernel = amdjit.kernel(getattr(module, f"kernel_{number}"))
        assembly = kernel.compile(*arrays, target=target_name, wave_size=size).asm_full
        for row in batch:
            if missing(row, target_name, assembly):
                print("missing", row.name, *row.mnemonics(target_name), flush=True)
    print("compiled", sum(len(batch) for _, batch in work))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
