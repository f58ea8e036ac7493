"""The result of a compilation: a kernel's code object, and the value of every stage."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING

from amdjit.abi.launch_shape import check_launch
from amdjit.frontend import CompileTime
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.options import CompileOptions
from amdjit.runtime.device import Device
from amdjit.target import Target
from amdjit.types import Type

if TYPE_CHECKING:
    from amdjit import advice, backend, code_object, devices
    from amdjit.abi.reports import ReportTable
    from amdjit.code_object import CodeObject, Resources, resources
    from amdjit.code_object.metadata import KernelMetadata
    from amdjit.diagnostics.performance import Finding
    from amdjit.frontend import Dependency, OutsideArray
    from amdjit.inspection import facts, notebook, reading
    from amdjit.inspection import hazards as hazard_search
    from amdjit.inspection.hazards import Hazards
    from amdjit.inspection.inspection import Inspection
    from amdjit.isa import decode, instruction_set
    from amdjit.language.launch_numbers import LaunchUse
    from amdjit.tree import nodes as tree
    from amdjit.tree import printer, walk
else:
    # Most kernels are compiled and launched without a look at what they became.
    backend = late("amdjit.backend")
    code_object = late("amdjit.code_object")
    decode = late("amdjit.isa.decode")
    instruction_set = late("amdjit.isa.instruction_set")
    facts = late("amdjit.inspection.facts")
    notebook = late("amdjit.inspection.notebook")
    hazard_search = late("amdjit.inspection.hazards")
    advice = late("amdjit.advice")
    devices = late("amdjit.devices")
    resources = late("amdjit.code_object.resources")
    printer = late("amdjit.tree.printer")
    tree, walk = late("amdjit.tree.nodes"), late("amdjit.tree.walk")
    reading = late("amdjit.inspection.reading")

__all__ = [
    "Argument",
    "CompiledKernel",
    "describe_argument",
    "max_active_blocks",
    "resident_workgroups",
]

Argument = Type | CompileTime
_GRID_SIZES = frozenset({"global_size", "gridDim.x", "gridDim.y", "gridDim.z"})


@dataclass(frozen=True, repr=False)
class CompiledKernel:
    """A kernel compiled for one combination of argument types, with the result of every stage.

    arguments: a type for each parameter, or the value of a `Const` one. llvm, optimized_llvm: the
    IR before and after the optimiser. code_object: the linked ELF that hipModuleLoadData takes.
    reads: what the code depends on outside the kernel. launch_uses: for each run-time parameter the
    number that the launch computes from Python's numbers, or the array that it finds outside of the
    kernel; None for an argument that is passed as it is. findings: likely mistakes.
    parameter_names: of all parameters, in the order of `arguments`.
    """

    name: str
    arguments: tuple[Argument, ...]
    options: CompileOptions
    program: tree.Program
    llvm: str
    optimized_llvm: str
    code_object: bytes
    reads: tuple[Dependency, ...]
    launch_uses: tuple[LaunchUse | OutsideArray | None, ...]
    findings: tuple[Finding, ...]
    parameter_names: tuple[str, ...]

    def __repr__(self) -> str:
        facts = self._metadata
        return (
            f"<{self.signature} for {self.target}: {facts.vgpr_count} VGPRs, {facts.sgpr_count} "
            f"SGPRs, {facts.group_segment_bytes} bytes of LDS, {facts.private_segment_bytes} of "
            "scratch>"
        )

    @property
    def target(self) -> Target:
        """The processor that the code is for."""
        return self.options.target

    @property
    def signature(self) -> str:
        """The kernel's name with its arguments' types."""
        return f"{self.name}({', '.join(map(describe_argument, self.arguments))})"

    @property
    def parameters(self) -> tuple[tree.Variable, ...]:
        """The parameters that are passed at run time."""
        return self.program.kernel.parameters

    @property
    def written(self) -> tuple[bool, ...]:
        """For each run-time parameter, whether the kernel may write the array."""
        return tuple(variable.name in self.program.written for variable in self.parameters)

    @property
    def reports(self) -> ReportTable | None:
        """What the kernel may report to the host; None if nothing: it then takes no record."""
        return self.program.reports

    @property
    def cooperative(self) -> bool:
        """Whether the kernel waits for all workgroups, so that its launches are cooperative."""
        return self.reports is not None and self.reports.meets

    @property
    def regs_per_thread(self) -> int:
        """VGPRs of a work-item, as Numba names it."""
        return self._metadata.vgpr_count

    @property
    def shared_mem_per_block(self) -> int:
        """Bytes of static LDS of a workgroup, as Numba names it."""
        return self._metadata.group_segment_bytes

    @property
    def local_mem_per_thread(self) -> int:
        """Bytes of scratch memory of a work-item, as Numba names it."""
        return self._metadata.private_segment_bytes

    @property
    def max_threads_per_block(self) -> int:
        """The most work-items of a workgroup, as Numba names it."""
        return self._metadata.max_flat_workgroup_size

    @property
    def const_mem_size(self) -> int:
        """Bytes of constants in memory, as Numba names it."""
        return self.linked.constant_bytes

    def max_cooperative_grid_blocks(
        self, block: int | tuple[int, ...], dynamic_lds: int = 0
    ) -> int:
        """Return the most workgroups of a cooperative launch on the current device, as Numba names
        it. dynamic_lds: bytes."""
        return resident_workgroups(self, devices.current_device(), block, dynamic_lds)

    @cached_property
    def asks_for_grid(self) -> bool:
        """Whether the kernel reads the size of the grid."""
        calls = (node for function in self._functions for node in walk.walk(function.body))
        return any(
            isinstance(node, tree.CallIntrinsic) and node.intrinsic.name in _GRID_SIZES
            for node in calls
        )

    @cached_property
    def slow_parts(self) -> tuple[Finding, ...]:
        """The parts of the kernel that are slow by accident."""
        return advice.slow_parts(
            self.program,
            self.linked.kernels[self.name].metadata,
            self.optimized_llvm,
            self.options.opt_level > 0,
        )

    @cached_property
    def typed_tree(self) -> str:
        """The typed tree as text."""
        return printer.print_program(self.program)

    @cached_property
    def asm(self) -> str:
        """The machine code as assembly text, with the Python source lines in it."""
        return backend.list_assembly(self.asm_full)

    @cached_property
    def asm_full(self) -> str:
        """The same with all directives, kernel descriptors and metadata: it assembles to the
        code."""
        text = backend.emit_assembly(self.optimized_llvm, self.target, self.options)
        return backend.annotate_assembly(text, _source_lines(self.program))

    @cached_property
    def linked(self) -> CodeObject:
        """The code object read back from its bytes."""
        return code_object.CodeObject.read(self.code_object)

    @cached_property
    def resources(self) -> Resources:
        """Registers, LDS, scratch, code size and occupancy, read back from the code object."""
        instructions = self._count_instructions()
        return code_object.read_resources(self.linked, self.name, self.target, instructions)

    def inspect(self) -> Inspection:
        """Return the facts of the machine code, instruction by instruction."""
        return self._inspection

    def hazards(self) -> Hazards:
        """Return what is missing between the machine instructions, on any path, and what is spare:
        waits for loads, and wait states. BackendError for processors whose machine code is not
        decoded."""
        return hazard_search.kernel_hazards(self.code_object, self.name)

    def _repr_html_(self) -> str:
        """What notebooks show: signature, resources, occupancy, and the listing to unfold."""
        return notebook.kernel_html(self.inspect(), self.signature, with_lines=False)

    @cached_property
    def _inspection(self) -> Inspection:
        companion = facts.Companion(
            sources={
                file: "".join(lines) for file, lines in _source_lines(self.program).items() if lines
            },
            typed_tree=self.typed_tree,
            llvm=self.llvm,
            optimized_llvm=self.optimized_llvm,
            labels=self._labels(),
        )
        kernel = self.linked.kernels[self.name]
        return reading.inspect_kernel(self.linked, kernel, companion, self._is_flat)

    @property
    def _is_flat(self) -> bool:
        """Whether the kernel asks for no work-item ids along y and z by themselves."""
        return not any(
            isinstance(node, tree.CallIntrinsic)
            and (
                node.intrinsic.name in ("threadIdx.y", "threadIdx.z")
                or (node.intrinsic.name == "global_id" and node.arguments != (0,))
            )
            for function in self._functions
            for node in walk.walk(function.body)
        )

    def _labels(self) -> dict[str, str]:
        """Return what may tell this compilation from another one: arguments, options, the time at
        which it was looked at first."""
        pairs = zip(self.parameter_names, self.arguments, strict=True)
        labels = {name: describe_argument(argument) for name, argument in pairs}
        names = [option.name for option in fields(self.options) if option.name != "target"]
        options = {name: repr(getattr(self.options, name)) for name in names}
        return labels | options | {"time": time.strftime("%H:%M:%S")}

    @property
    def _metadata(self) -> KernelMetadata:
        return self.linked.kernels[self.name].metadata

    @property
    def _functions(self) -> tuple[tree.Function, ...]:
        return self.program.kernel, *self.program.functions

    def _count_instructions(self) -> int:
        """Count machine instructions: decoded if the emulator has the processor, else as
        printed."""
        kernel = self.linked.kernels[self.name]
        sets = instruction_set.instruction_set_of(self.target.name)
        if sets is not None:
            code, size = self.linked.code(kernel), self.options.wave_size
            return sum(1 for _ in decode.decode_all(code, kernel.entry_address, size, sets))
        lines = (line.split(";")[0].strip() for line in self.asm.splitlines())
        return sum(
            bool(line) and not line.startswith(".") and not line.endswith(":") for line in lines
        )


def describe_argument(argument: Argument) -> str:
    """Return an argument of a signature as text."""
    return repr(argument.value) if isinstance(argument, CompileTime) else str(argument)


def _source_lines(program: tree.Program) -> Mapping[str, Sequence[str]]:
    texts = (function.span.source for function in (program.kernel, *program.functions))
    return {text.file: text.lines for text in texts}


def max_active_blocks(compiled: CompiledKernel, block: object, dynamic_lds: int = 0) -> int:
    """Return how many workgroups of a block a workgroup processor holds at a time.

    Where there are no workgroup processors, how many a compute unit holds: one multiprocessor in
    HIP's words. dynamic_lds: bytes. LaunchError for a block or LDS that no launch can have.
    """
    kernel = compiled.linked.kernels[compiled.name]
    shape = check_launch(
        1,
        block,
        dynamic_lds,
        compiled.target,
        max_flat_workgroup_size=kernel.metadata.max_flat_workgroup_size,
        static_lds=kernel.metadata.group_segment_bytes,
        required_block=compiled.options.required_workgroup_size,
    )
    return resources.resident_workgroups(kernel, compiled.target, shape.items, shape.dynamic_lds)


def resident_workgroups(
    compiled: CompiledKernel, device: Device, block: object, dynamic_lds: int = 0
) -> int:
    """Return how many workgroups of a block the whole device holds at a time: the most of a
    cooperative launch."""
    return max_active_blocks(compiled, block, dynamic_lds) * device.multiprocessor_count
