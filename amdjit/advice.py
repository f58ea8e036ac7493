"""What is slow by accident in a compiled kernel, by its typed tree and its resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from amdjit.diagnostics.performance import Finding
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator
from amdjit.tree.walk import walk
from amdjit.types import AddressSpace, Array, Layout, Scalar, Type, Vector, f64, i64, u64

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


# Find accesses in which neighbouring lanes provably touch different rows of an array.
#
# A value is followed through the kernel as long as it is the same in all lanes along x, or grows by
# a constant from one lane to the next. Any other value is unknown, and an access with an unknown
# index is not reported.


class _Lanes(Enum):
    """How a value depends on the lane along x."""

    SAME = 0
    GROWING = 1
    UNKNOWN = 2


_Known = _Lanes | tuple["_Known", ...]
_GROWING = frozenset({"threadIdx.x", "lane_id", "flat_work_item_id"})
_SAME = frozenset(
    {f"{name}.{axis}" for name in ("blockIdx", "blockDim", "gridDim") for axis in "xyz"}
    | {"threadIdx.y", "threadIdx.z", "wave_id", "global_size", "wavefront_size"}
)


def strided_accesses(program: tree.Program) -> Iterator[Finding]:
    """Yield accesses whose last index is the same in all lanes while an earlier one grows."""
    # A kernel's arguments are the same in all lanes.
    values = _Values({parameter: _Lanes.SAME for parameter in program.kernel.parameters})
    values.run(program.kernel.body)
    for node in walk(program.kernel.body):
        if not isinstance(node, (tree.Load, tree.Store, tree.AddressOf)):
            continue
        kind = node.array.type
        if not isinstance(kind, Array) or kind.ndim < 2 or kind.layout is Layout.STRIDED:
            continue
        *rows, last = node.indices
        known = values.of(last) is _Lanes.SAME and not isinstance(last, tree.Constant)
        if (
            kind.address_space is AddressSpace.GLOBAL
            and known
            and _Lanes.GROWING in map(values.of, rows)
        ):
            yield Finding(
                "strided",
                node.span,
                "neighbouring lanes along x access different rows of an array: each of them needs "
                "a memory access of its own",
                "the last index is the same in all lanes along x",
                "let the last index grow along x, such as `row, column = ..., "
                "amdjit.global_id(0)`, or stage a tile in LDS",
            )


class _Values:
    """What is known about the variables of a function."""

    def __init__(self, known: dict[tree.Variable, _Known]) -> None:
        self._known = known

    def run(self, statements: Sequence[tree.Statement], is_uniform: bool = True) -> None:
        """Follow assignments in order.

        is_uniform: whether all lanes run the same rounds of the surrounding loops.
        """
        for node in statements:
            if isinstance(node, tree.Assign):
                self._assign(node.variable, self.of(node.value) if is_uniform else _Lanes.UNKNOWN)
            elif isinstance(node, tree.If):
                self.run(node.then, is_uniform)
                self.run(node.otherwise, is_uniform)
            elif isinstance(node, tree.ForRange):
                self._loop(node, is_uniform)
            elif isinstance(node, tree.While):
                self._forget(node.body)
                self.run(node.body, False)
                self.run(node.otherwise, False)

    def _loop(self, node: tree.ForRange, is_uniform: bool) -> None:
        bounds = all(self.of(bound) is _Lanes.SAME for bound in (node.start, node.stop, node.step))
        leaves = (tree.Break, tree.Continue, tree.Return)
        whole = (
            is_uniform
            and bounds
            and not any(isinstance(inner, leaves) for inner in walk(node.body))
        )
        self._forget(node.body)
        self._assign(node.variable, _Lanes.SAME if whole else _Lanes.UNKNOWN)
        self.run(node.body, whole)
        self.run(node.otherwise, whole)

    def _forget(self, body: Sequence[tree.Statement]) -> None:
        """Forget values that a loop changes: they are not followed from round to round."""
        for node in walk(body):
            if isinstance(node, tree.Assign) and node.variable in self._known:
                self._known[node.variable] = _Lanes.UNKNOWN

    def _assign(self, variable: tree.Variable, value: _Known) -> None:
        again = variable in self._known
        self._known[variable] = _Lanes.UNKNOWN if again else value

    def of(self, node: object) -> _Known:
        """Return what is known about an expression."""
        if isinstance(node, tree.Read):
            return self._known.get(node.variable, _Lanes.UNKNOWN)
        if isinstance(node, tree.MakeTuple):
            return tuple(self.of(item) for item in node.elements)
        if isinstance(node, tree.TupleItem):
            items = self.of(node.tuple)
            return items[node.index] if isinstance(items, tuple) else _Lanes.UNKNOWN
        if isinstance(node, tree.Call):
            return self._call(node)
        if isinstance(node, tree.CallIntrinsic):
            return _intrinsic(node)
        if isinstance(node, tree.Binary):
            return _binary(node, self.of(node.left), self.of(node.right))
        if isinstance(node, tree.Convert):
            return self.of(node.operand)
        return (
            _Lanes.SAME
            if isinstance(node, (tree.Constant, tree.Extent, tree.Stride))
            else _Lanes.UNKNOWN
        )

    def _call(self, node: tree.Call) -> _Known:
        pairs = zip(node.function.parameters, map(self.of, node.arguments), strict=True)
        inside = _Values(dict(pairs))
        inside.run(node.function.body)
        last = node.function.body[-1] if node.function.body else None
        returns = [inner for inner in walk(node.function.body) if isinstance(inner, tree.Return)]
        is_plain = isinstance(last, tree.Return) and len(returns) == 1
        return (
            inside.of(last.value) if is_plain and isinstance(last, tree.Return) else _Lanes.UNKNOWN
        )


def _intrinsic(node: tree.CallIntrinsic) -> _Lanes:
    name = node.intrinsic.name
    if name == "global_id":
        return _Lanes.GROWING if node.arguments == (0,) else _Lanes.SAME
    if name in _GROWING:
        return _Lanes.GROWING
    return _Lanes.SAME if name in _SAME else _Lanes.UNKNOWN


def _binary(node: tree.Binary, left: _Known, right: _Known) -> _Known:
    sides = {left, right}
    if sides == {_Lanes.SAME}:
        return _Lanes.SAME
    if sides != {_Lanes.SAME, _Lanes.GROWING}:
        return _Lanes.UNKNOWN
    if node.operator in (BinaryOperator.ADD, BinaryOperator.SUBTRACT):
        return _Lanes.GROWING
    factor = node.right if left is _Lanes.GROWING else node.left
    is_scaled = (
        node.operator is BinaryOperator.MULTIPLY
        and isinstance(factor, tree.Constant)
        and factor.value != 0
    )
    return _Lanes.GROWING if is_scaled else _Lanes.UNKNOWN
