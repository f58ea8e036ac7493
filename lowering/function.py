"""One function: its LLVM declaration, its parameters and its body.

before: `kernel scale(x: f32[:] (written), factor: f32) -> None`
after:  `define protected amdgpu_kernel void @scale(ptr addrspace(1) %x, i32 ..., float ...)`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from llvmlite import ir

from amdjit.abi.kernarg import kernarg_order
from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.abi import components, flatten, kernel_argument_types, result_type, unflatten
from amdjit.lowering.builder import Builder, TextAttributes, TextInstruction
from amdjit.lowering.debug_info import FunctionVariables
from amdjit.lowering.expressions import address, evaluate
from amdjit.lowering.global_memory import Ordered
from amdjit.lowering.loops import range_loop, return_values, while_loop
from amdjit.lowering.memory import store
from amdjit.lowering.reports import fault, print_line
from amdjit.lowering.state import FunctionState, ModuleState
from amdjit.lowering.types import I1, I8, I64, VOID, literal, mangled, pointer_to
from amdjit.options import CompileOptions
from amdjit.target import Feature, feature_string
from amdjit.tree import nodes as tree
from amdjit.tree.parameter_uses import parameter_uses
from amdjit.tree.walk import may_be_own_memory, walk
from amdjit.types import AddressSpace, Array, Type, Void

__all__ = [
    "declare_device_function",
    "declare_kernel",
    "lower_function",
    "promise_arguments",
    "variables_in_memory",
]


_NO_NAME = re.compile(r"[^\w.]+")
_RECORD = pointer_to(AddressSpace.GLOBAL)


class _KernelFunction(ir.Function):  # type: ignore[misc]
    """A function whose metadata are printed without commas, as LLVM's grammar demands; llvmlite
    adds commas."""

    def _stringify_metadata(self, leading_comma: bool = False) -> str:
        return " ".join(f"!{kind} {node.get_reference()}" for kind, node in self.metadata.items())


def declare_kernel(state: ModuleState, kernel: tree.Function) -> Any:
    """Declare the kernel: its arguments are flattened as in abi.py."""
    options = state.options
    in_order = [
        llvm for parameter in kernel.parameters for llvm in kernel_argument_types(parameter.type)
    ]
    types = [
        in_order[place]
        for place in kernarg_order([parameter.type for parameter in kernel.parameters])
    ]
    if kernel.reports:
        types.append(_RECORD)
    function = _KernelFunction(state.module, ir.FunctionType(VOID, types), kernel.name)
    function.calling_convention = "amdgpu_kernel"
    function.linkage = "protected"
    function.attributes = TextAttributes(
        [*_common_attributes(options), *_launch_attributes(options)]
    )
    names = [name for parameter in kernel.parameters for name in _argument_names(parameter)]
    for argument, name in zip(kernel_arguments(kernel, function.args), names, strict=True):
        argument.name = name
    if kernel.reports:
        function.args[-1].name = "amdjit.record"
    shape = options.required_workgroup_size
    if shape is not None:
        sizes = [literal(ir.IntType(32), extent) for extent in shape]
        function.set_metadata("reqd_work_group_size", state.module.add_metadata(sizes))
    return function


def promise_arguments(
    state: ModuleState, program: tree.Program, function: Any, promises: Mapping[str, Array]
) -> None:
    """Let what the kernel does and every launch promises become attributes of its arguments. Its
    body is lowered."""
    if state.ordered is not Ordered.NONE and synchronises(state.module):
        # While a wave waits at a barrier or a fence, others write to these: LLVM takes neither for
        # a write to memory that has one name only, and reads a value that it knows. It knows none
        # of an atomic instruction, which it leaves where it is.
        changed = program.written & parameter_uses(program).plain
        promises = {name: each for name, each in promises.items() if name not in changed}
    arguments = iter(kernel_arguments(program.kernel, function.args))
    for parameter in program.kernel.parameters:
        for llvm in components(parameter.type):
            next(arguments).attributes = TextAttributes(
                _argument_attributes(parameter, llvm, program.written, promises)
            )
    if program.kernel.reports:
        meets = state.reports is not None and state.reports.meets
        alone = ["noalias"] * (not meets)
        function.args[-1].attributes = TextAttributes(["noundef", *alone, "align 16"])


def kernel_arguments(kernel: tree.Function, arguments: Sequence[Any]) -> list[Any]:
    """Return the kernel's LLVM arguments in the order of its parameters, not that of the kernarg
    segment."""
    order = kernarg_order([parameter.type for parameter in kernel.parameters])
    arguments = arguments[: len(order)]
    return [
        argument
        for _, argument in sorted(zip(order, arguments, strict=True), key=lambda pair: pair[0])
    ]


def declare_device_function(state: ModuleState, function: tree.Function) -> Any:
    """Declare a function that the kernel calls. It is internal, so LLVM chooses how its arguments
    are passed."""
    types = [llvm for parameter in function.parameters for llvm in components(parameter.type)]
    if function.reports:
        types += [_RECORD, I64]
    function_type = ir.FunctionType(result_type(function.result), types)
    # LLVM takes what begins so for an intrinsic, and several functions `llvm` have numbers.
    base = f"_{function.name}" if function.name.startswith("llvm") else function.name
    declared = ir.Function(state.module, function_type, state.module.get_unique_name(base))
    declared.linkage = "internal"
    keeps = state.options.inline is None or function.transparent or function.inline is None
    wanted = function.inline if keeps else state.options.inline
    inline = "alwaysinline" if wanted or may_be_own_memory(function.result) else "noinline"
    declared.attributes = TextAttributes([inline, *_common_attributes(state.options)])
    return declared


def lower_function(module: ModuleState, function: tree.Function, declared: Any) -> None:
    """Lower a function's body into its declaration."""
    locations = variables = None
    # LLVM's inliner gives code without lines the line of the call.
    if module.debug_info is not None and not function.transparent:
        locations = module.debug_info.function(declared, function.name, function.span)
        if module.debug_types is not None:
            is_optimised = module.options.opt_level > 0
            variables = FunctionVariables(module.debug_types, locations, function, is_optimised)
    builder = Builder(
        declared,
        module.library_fast_math if function.transparent else module.fast_math,
        Feature.OCP_FLOATS in module.options.target.features,
    )
    in_memory = variables_in_memory(function, for_debugging=module.options.opt_level == 0)
    state = FunctionState(
        module,
        function,
        builder=builder,
        locations=locations,
        variables=variables,
        in_memory=in_memory,
    )
    builder.debug_metadata = state.location(function.span)
    is_kernel = declared.calling_convention == "amdgpu_kernel"
    _bind_parameters(
        state, kernel_arguments(function, declared.args) if is_kernel else declared.args
    )
    if function.reports:
        _bind_record(state, declared.args, is_kernel)
    lower_block(state, function.body)
    if not builder.block.is_terminated:
        if isinstance(function.result, Void):
            builder.ret_void()
        else:
            # The verifier has checked that the end cannot be reached.
            builder.unreachable()
    if may_be_own_memory(function.result):
        _outlive_the_function(state)
    builder.finish()
    if builder.crossings:
        module.crossing[function] = state.whole.ends(builder.crossings)


def _outlive_the_function(state: FunctionState) -> None:
    """Say where the lives of the private arrays begin, and never where they end.

    The function becomes a part of its caller, which reads the array that is returned. LLVM's
    inliner lets allocas whose lives nothing marks end with the function (`llvm.lifetime.end`), and
    then drops the stores to them.
    """
    state.builder.position_at_end(state.builder.entry)
    for _, array in state.private.values():
        name = f"llvm.lifetime.start.{mangled(array.pointer.type)}"
        state.builder.invoke_name(name, VOID, [array.pointer])


def _bind_record(state: FunctionState, arguments: Sequence[Any], is_kernel: bool) -> None:
    """Bind the record, a kernel's last argument. Device functions have one more: the calls that led
    to them."""
    state.record = arguments[-1 if is_kernel else -2]
    if state.module.reports is not None and state.module.reports.base:
        state.calls = literal(I64, 0) if is_kernel else arguments[-1]


def _bind_parameters(state: FunctionState, arguments: Iterable[Any]) -> None:
    remaining = iter(arguments)
    for parameter in state.function.parameters:
        values = []
        for llvm in components(parameter.type):
            argument = next(remaining)
            if llvm == I1 and argument.type == I8:
                argument = state.builder.icmp_unsigned("!=", argument, literal(I8, 0))
            values.append(argument)
        state.assign(parameter, unflatten(parameter.type, values))


def _common_attributes(options: CompileOptions) -> list[str]:
    attributes = [
        "convergent",
        "norecurse",
        "nounwind",
        f'"target-cpu"="{options.target.name}"',
        f'"target-features"="{_features(options)}"',
    ]
    if options.exact_lines:
        # A clause is a bundle, and the assembly printer gives a whole bundle one line (LLVM:
        # SIInsertHardClauses).
        attributes.append('"amdgpu-hard-clause-length-limit"="1"')
    if options.denormals == "flush":
        # The mode of f32 only, like clang's -fgpu-flush-denormals-to-zero: f16 and f64 share
        # another one.
        attributes.append('"denormal-fp-math-f32"="preserve-sign,preserve-sign"')
    return attributes


def _features(options: CompileOptions) -> str:
    """Return the subtarget features of LLVM's that the options choose."""
    settings = feature_string(options.target)
    return f"+wavefrontsize{options.wave_size}" + (f",{settings}" if settings else "")


def _launch_attributes(options: CompileOptions) -> list[str]:
    """Return attributes for what every launch obeys (LLVM AMDGPU guide, "LLVM IR Attributes")."""
    most = options.max_workgroup_size
    least = most if options.required_workgroup_size is not None else 1
    attributes = [
        f'"amdgpu-flat-work-group-size"="{least},{most}"',
        '"uniform-work-group-size"="true"',
    ]
    if options.waves_per_eu is not None:
        attributes.append(f'"amdgpu-waves-per-eu"="{options.waves_per_eu}"')
    if options.max_registers is not None:
        attributes.append(f'"amdgpu-num-vgpr"="{options.max_registers}"')
    return attributes


def _argument_names(parameter: tree.Variable) -> list[str]:
    """Return the names of a kernel's arguments, which the code object's metadata contain.

    A number that the launch computes is named after its expression; assemblers would read `//` in
    it as a comment.
    """
    count = len(components(parameter.type))
    name = _NO_NAME.sub("_", parameter.name)
    if not isinstance(parameter.type, Array):
        return [name] if count == 1 else [f"{name}.{number}" for number in range(count)]
    ndim = parameter.type.ndim
    kinds = ["extent"] * ndim + ["stride"] * ndim
    return [name] + [f"{name}.{kinds[n]}{n % ndim}" for n in range(count - 1)]


def _argument_attributes(
    parameter: tree.Variable, llvm: Any, written: frozenset[str], promises: Mapping[str, Array]
) -> list[str]:
    attributes = ["noundef"]
    if isinstance(parameter.type, Array) and isinstance(llvm, ir.PointerType):
        promised = promises.get(parameter.name, parameter.type)
        if parameter.type.alignment:
            attributes.append(f"align {parameter.type.alignment}")
        if promised.distinct:
            attributes.append("noalias")
        if parameter.name not in written:
            attributes.append("readonly")
    return attributes


# Whether a kernel's work-items wait for each other, so that memory changes between two of its
# instructions without it.
#
# LLVM takes the memory of a `noalias` argument for one that only this work-item's instructions
# change: it reads a value that it has just stored, across any fence or barrier.

_ATOMIC = ("atomicrmw", "cmpxchg", "load atomic", "store atomic")
_ORDERINGS = frozenset({"acquire", "release", "acq_rel", "seq_cst"})
# Of intrinsics' names. A barrier of the scheduler is not one of waves.
_WAITS, _IS_NONE = (".barrier", ".gws."), "llvm.amdgcn.sched."


def synchronises(module: ir.Module) -> bool:
    """Return whether a module has a fence, a barrier, an atomic operation that orders others, or
    assembly that may contain one."""
    return any(
        _orders(instruction)
        for function in module.functions
        for block in function.blocks
        for instruction in block.instructions
    )


def _orders(instruction: Any) -> bool:
    if isinstance(instruction, TextInstruction):
        return instruction.opname.startswith("fence") or (
            instruction.opname.startswith(_ATOMIC)
            and not _ORDERINGS.isdisjoint(instruction.tail.split())
        )
    if isinstance(instruction, ir.CallInstr):
        return _waits(instruction.callee)
    # Instructions of llvmlite's own builder, in a user's intrinsic.
    return isinstance(instruction, ir.instructions.Fence) or (
        getattr(instruction, "ordering", None) in _ORDERINGS
    )


def _waits(callee: Any) -> bool:
    if isinstance(callee, ir.InlineAsm):
        return bool(callee.side_effect)
    name: str = callee.name
    return any(part in name for part in _WAITS) and not name.startswith(_IS_NONE)


# The variables that need memory: those with a read that several assignments may reach.
#
# before: `x = a + 1; if c: x = 2; y = x`
# after:  `x` gets an alloca, `y` is the value that was loaded from it
#
# A read of any other variable, such as nearly all in unrolled loops and small device functions, is
# the value of the assignment before it. LLVM would find that out too, but only after parsing and
# inlining three instructions for each of them.


def variables_in_memory(
    function: tree.Function, for_debugging: bool = False
) -> frozenset[tree.Variable]:
    """Return the variables whose reads depend on control flow.

    A read of any other variable returns the last assignment before it in source order.
    for_debugging: return every variable that is assigned, so that there is an instruction for each
    line.
    """
    if for_debugging:
        return frozenset(_assigned(function.body))
    search = _Search(set(function.parameters))
    search.block(function.body)
    return frozenset(search.unclear)


class _Search:
    """Searches a function. known: the variables whose last assignment is the same on every path to
    this place."""

    def __init__(self, known: set[tree.Variable]) -> None:
        self.known = known
        self.unclear: set[tree.Variable] = set()

    def block(self, statements: Sequence[tree.Statement]) -> None:
        for statement in statements:
            if isinstance(statement, tree.Assign):
                self.reads(statement.value)
                self.known.add(statement.variable)
            elif isinstance(statement, tree.If):
                self.reads(statement.condition)
                self.branches((statement.then, statement.otherwise))
            elif isinstance(statement, (tree.While, tree.ForRange)):
                self.loop(statement)
            else:
                self.reads(statement)

    def branches(self, branches: Sequence[Sequence[tree.Statement]]) -> None:
        """Search branches. What one of them assigns is unclear afterwards, also in the other
        branch."""
        before = self.known
        for branch in branches:
            self.known = set(before)
            self.block(branch)
            before = before.difference(_assigned(branch))
        self.known = before

    def loop(self, loop: tree.While | tree.ForRange) -> None:
        """Search a loop. What an iteration assigns is unclear in the next one until it is assigned
        there."""
        if isinstance(loop, tree.ForRange):
            for bound in (loop.start, loop.stop, loop.step):
                self.reads(bound)
        before = self.known
        self.known = before.difference(_assigned((loop,)))
        if isinstance(loop, tree.While):
            self.reads(loop.condition)
        after = set(self.known)
        if isinstance(loop, tree.ForRange):
            self.known.add(loop.variable)
        self.block(loop.body)
        self.known = set(after)
        self.block(loop.otherwise)
        self.known = after

    def reads(self, node: object) -> None:
        """Record the unclear variables that an expression, or a statement without inner blocks,
        reads."""
        for part in walk(node):
            if isinstance(part, tree.Read) and part.variable not in self.known:
                self.unclear.add(part.variable)


def _assigned(statements: Sequence[tree.Statement]) -> Iterator[tree.Variable]:
    """Yield the variables that statements assign."""
    for statement in statements:
        if isinstance(statement, tree.Assign):
            yield statement.variable
        elif isinstance(statement, tree.If):
            yield from _assigned(statement.then)
            yield from _assigned(statement.otherwise)
        elif isinstance(statement, (tree.While, tree.ForRange)):
            if isinstance(statement, tree.ForRange):
                yield statement.variable
            yield from _assigned(statement.body)
            yield from _assigned(statement.otherwise)


# Statements, except loops, to instructions and basic blocks.
#
# before: `if c: x = f32(1)`
# after:  `br i1 %c, label %then, label %endif`, and a store or a new value for `x` in `then`


def lower_block(state: FunctionState, statements: Sequence[tree.Statement]) -> None:
    """Lower statements in order; those after a break, continue or return cannot run and are left
    out."""
    builder = state.builder
    for statement in statements:
        if builder.block.is_terminated:
            return
        builder.debug_metadata = state.location(statement.span)
        handler = _HANDLERS.get(type(statement))
        if handler is None:
            raise InternalError(f"no lowering of {type(statement).__name__}")
        handler(state, statement)


def _assign(state: FunctionState, node: tree.Assign) -> None:
    state.assign(node.variable, evaluate(state, node.value))


def _store(state: FunctionState, node: tree.Store) -> None:
    """Lower a store; Python evaluates the value before the target."""
    value = evaluate(state, node.value)
    array = evaluate(state, node.array)
    place = address(state, array, node)
    store(
        state.builder, array, address=place, value=value, width=node.width, alignment=node.alignment
    )


def _evaluate(state: FunctionState, node: tree.Evaluate) -> None:
    evaluate(state, node.expression)


def _if(state: FunctionState, node: tree.If) -> None:
    builder = state.builder
    condition = evaluate(state, node.condition)
    then, after = builder.append_basic_block("then"), builder.append_basic_block("endif")
    otherwise = builder.append_basic_block("else") if node.otherwise else after
    builder.cbranch(condition, then, otherwise)
    for block, statements in ((then, node.then), (otherwise, node.otherwise)):
        if block is not after:
            builder.position_at_end(block)
            with state.branch():
                lower_block(state, statements)
            branch_unless_ended(state, after)
    builder.position_at_end(after)


def branch_unless_ended(state: FunctionState, block: Any) -> None:
    """Branch to a block unless a break, continue or return has left already."""
    if not state.builder.block.is_terminated:
        state.builder.branch(block)


def _while(state: FunctionState, node: tree.While) -> None:
    while_loop(
        state,
        condition=lambda: evaluate(state, node.condition),
        body=lambda: lower_block(state, node.body),
        otherwise=lambda: lower_block(state, node.otherwise),
        unroll=node.unroll or state.module.options.unroll or 0,
        is_unconditional=_is_true(node.condition),
        is_endless=_is_true(node.condition) and not _leaves(node.body),
    )


def _is_true(condition: tree.Expression) -> bool:
    return isinstance(condition, tree.Constant) and bool(condition.value)


def _leaves(statements: Sequence[tree.Statement], is_inner: bool = False) -> bool:
    """Whether statements of a loop's body may leave the loop. is_inner: whether they are in a loop
    inside it."""
    for statement in statements:
        if isinstance(statement, tree.Return) or (
            isinstance(statement, tree.Break) and not is_inner
        ):
            return True
        if isinstance(statement, tree.If) and (
            _leaves(statement.then, is_inner) or _leaves(statement.otherwise, is_inner)
        ):
            return True
        if isinstance(statement, (tree.While, tree.ForRange)) and (
            _leaves(statement.body, True) or _leaves(statement.otherwise, is_inner)
        ):
            return True
    return False


def _for_range(state: FunctionState, node: tree.ForRange) -> None:
    start, stop, step = (evaluate(state, bound) for bound in (node.start, node.stop, node.step))
    range_loop(
        state,
        node.variable,
        (start, stop, step),
        body=lambda: lower_block(state, node.body),
        otherwise=lambda: lower_block(state, node.otherwise),
        unroll=node.unroll or state.module.options.unroll or 0,
    )


def _break(state: FunctionState, node: tree.Break) -> None:
    loop = state.loops[-1]
    loop.breaks.append(state.builder.block)
    state.builder.branch(loop.after)


def _continue(state: FunctionState, node: tree.Continue) -> None:
    loop = state.loops[-1]
    loop.part(state.builder.crossings)
    state.builder.branch(loop.next_iteration)


def _return(state: FunctionState, node: tree.Return) -> None:
    values = list(flatten(evaluate(state, node.value))) if node.value is not None else []
    state.whole.part(state.builder.crossings)
    return_values(state, values)


def _fault(state: FunctionState, node: tree.Fault) -> None:
    fault(state, node.number, _values(state, node.values))


def _print(state: FunctionState, node: tree.Print) -> None:
    print_line(state, node.number, _values(state, node.values))


def _values(state: FunctionState, nodes: Sequence[tree.Expression]) -> list[tuple[Any, Type]]:
    return [(evaluate(state, node), node.type) for node in nodes]


_HANDLERS: Mapping[type, Callable[[FunctionState, Any], None]] = MappingProxyType(
    {
        tree.Assign: _assign,
        tree.Store: _store,
        tree.Evaluate: _evaluate,
        tree.If: _if,
        tree.While: _while,
        tree.ForRange: _for_range,
        tree.Break: _break,
        tree.Continue: _continue,
        tree.Return: _return,
        tree.Fault: _fault,
        tree.Print: _print,
    }
)
