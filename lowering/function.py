"""One function: its LLVM declaration, its parameters and its body.

before: `kernel scale(x: f32[:] (written), factor: f32) -> None`
after:  `define protected amdgpu_kernel void @scale(ptr addrspace(1) %x, i32 ..., float ...)`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from amdjit.abi.kernarg import kernarg_order
from amdjit.lowering.abi import components, kernel_argument_types, result_type, unflatten
from amdjit.lowering.builder import Builder, TextAttributes
from amdjit.lowering.debug_variables import FunctionVariables
from amdjit.lowering.global_memory import Ordered
from amdjit.lowering.state import FunctionState, ModuleState
from amdjit.lowering.statements import lower_block
from amdjit.lowering.synchronisation import synchronises
from amdjit.lowering.types import I1, I8, I64, VOID, literal, mangled, pointer_to
from amdjit.lowering.variables import variables_in_memory
from amdjit.options import CompileOptions
from amdjit.target import Feature, feature_string
from amdjit.tree import nodes as tree
from amdjit.tree.inlining import may_be_own_memory
from amdjit.tree.parameter_uses import parameter_uses
from amdjit.types import AddressSpace, Array, Void

__all__ = ["declare_device_function", "declare_kernel", "lower_function", "promise_arguments"]


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
    declared = ir.Function(state.module, function_type, state.module.get_unique_name(function.name))
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
    state = FunctionState(module, function, builder, locations, variables, in_memory)
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
