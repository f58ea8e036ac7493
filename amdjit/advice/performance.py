"""What is slow by accident in a compiled kernel, by its typed tree and its resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from amdjit.advice.lane_stride import strided_accesses
from amdjit.diagnostics.performance import Finding
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import AddressSpace, Array, Scalar, Type, Vector, f64, i64, u64

if TYPE_CHECKING:
    from amdjit.code_object.metadata import KernelMetadata


def slow_parts(
    program: tree.Program,
    metadata: KernelMetadata,
    optimized_llvm: str,
    is_optimised: bool = True,
) -> tuple[Finding, ...]:
    """Return what to warn about, each kind at most once per line. is_optimised: whether LLVM kept
    values in registers where it could."""
    scratch = _scratch(program, metadata, optimized_llvm, is_optimised)
    found = [*_doubles(program), *scratch]
    block = metadata.required_workgroup_size
    if block is None or block[0] > 1:
        found += strided_accesses(program)
    by_line = {
        (finding.name, finding.span.file, finding.span.line): finding for finding in reversed(found)
    }
    return tuple(reversed(by_line.values()))


def _scalar(type: Type) -> Scalar | None:
    element = type.element if isinstance(type, (Array, Vector)) else type
    if isinstance(element, Vector):
        element = element.element
    return element if isinstance(element, Scalar) else None


def _doubles(program: tree.Program) -> Iterator[Finding]:
    """Find f64 arithmetic on operands of other types, in a kernel without f64 parameters."""
    if any(_scalar(parameter.type) is f64 for parameter in program.kernel.parameters):
        return
    for function in (program.kernel, *program.functions):
        if function.transparent:
            continue
        for node in walk(function.body):
            types = _promoted(node)
            if types and isinstance(node, tree.Expression):
                sources = " and ".join(dict.fromkeys(str(type) for type in types))
                yield Finding(
                    "double",
                    node.span,
                    f"f64 arithmetic in `{function.name}`, which no argument asks for: it comes "
                    f"from {sources}",
                    "is computed in f64",
                    "convert first, `f32(...)`, or write `f64(...)` to say that it is meant; "
                    f"{_SLOW_DOUBLES}",
                )


# They have one lane for f64 where they have many for f32 (RDNA4 ISA, "VALU").
_SLOW_DOUBLES = "these processors compute f64 many times slower than f32"


def _promoted(node: tree.Node) -> list[Type]:
    """Return the types of an operation's operands before promotion, if that alone made it f64."""
    if isinstance(node, tree.Call):
        return _promoted_by_library(node)
    operands: list[object] = []
    if isinstance(node, (tree.Binary, tree.Compare)):
        operands = [node.left, node.right]
    elif isinstance(node, tree.CallIntrinsic):
        operands = [
            argument for argument in node.arguments if isinstance(argument, tree.Expression)
        ]
    sources: list[Type] = []
    for operand in operands:
        if (
            isinstance(operand, tree.Convert)
            and operand.type == f64
            and _is_implicit(operand, node)
        ):
            sources.append(operand.operand.type)
        elif (
            not isinstance(operand, tree.Constant)
            or operand.type != f64
            or operand.span != node.span
        ):
            return []
    return sources


def _promoted_by_library(call: tree.Call) -> list[Type]:
    """Return the types of the arguments if a library function computes 64-bit integers in f64.

    Such a call is `math.sqrt(n)`.
    """
    sources = [argument.type for argument in call.arguments]
    is_made = (
        call.function.transparent
        and call.type == f64
        and all(type in (i64, u64) for type in sources)
    )
    return sources if is_made else []


def _is_implicit(conversion: tree.Convert, consumer: tree.Node) -> bool:
    """Whether a conversion is a promotion: an explicit `f64(x)` has a place of its own."""
    return conversion.span in (consumer.span, conversion.operand.span)


def _scratch(
    program: tree.Program, metadata: KernelMetadata, optimized_llvm: str, is_optimised: bool
) -> Iterator[Finding]:
    """Find spilled registers, which say nothing of code that is not optimised, and local arrays
    that LLVM could not keep in registers."""
    kernel = program.kernel
    spilled = metadata.vgpr_spills
    if spilled and is_optimised:
        yield Finding(
            "spill",
            kernel.span,
            f"`{kernel.name}` spills {spilled} VGPRs to scratch memory",
            "needs more registers than it has",
            "keep fewer values at once, unroll less, or allow more registers: a smaller block= or "
            "waves_per_eu=",
        )
    # Spilled registers lie in scratch as well: then only the optimiser's result shows whether
    # arrays do.
    if not metadata.private_segment_bytes or (spilled and " = alloca " not in optimized_llvm):
        return
    for name, allocation in _local_arrays(program).items():
        yield Finding(
            "scratch",
            allocation.span,
            f"the local array `{name}` of `{kernel.name}` lies in scratch memory: "
            f"{metadata.private_segment_bytes} bytes of each lane do",
            "not in registers",
            "index it by constants (`static_range`, `unroll`) so that it fits into registers, or "
            "use `shared.array`",
        )


def _local_arrays(program: tree.Program) -> Mapping[str, tree.AllocateArray]:
    """Return the local arrays by their names in the source."""
    found: dict[str, tree.AllocateArray] = {}
    for function in (program.kernel, *program.functions):
        made: dict[tree.Variable, tree.AllocateArray] = {}
        names: dict[tree.Variable, str] = {}
        for node in walk(function.body):
            if not isinstance(node, tree.Assign):
                continue
            if isinstance(node.value, tree.AllocateArray) and _is_private(node.value):
                made[node.variable] = node.value
                names[node.variable] = _assigned_name(node.value)
        found |= {names[variable]: allocation for variable, allocation in made.items()}
    return found


def _is_private(allocation: tree.AllocateArray) -> bool:
    return (
        isinstance(allocation.type, Array) and allocation.type.address_space is AddressSpace.PRIVATE
    )


def _assigned_name(allocation: tree.AllocateArray) -> str:
    """Return the name to which an array is assigned, else the text of the call that makes it."""
    span = allocation.span
    text = span.source.line(span.line)
    target, is_assigned, _ = text[: span.column].partition("=")
    name = target.partition(":")[0].strip()
    return name if is_assigned and name.isidentifier() else text[span.column : span.end_column]
