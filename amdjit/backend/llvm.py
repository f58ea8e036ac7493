"""LLVM, by way of llvmlite: verify, optimise and emit the IR of a kernel.

llvmlite's LLVM is built with assertions and ends the process on many mistakes, so whatever can be
checked is checked before the stage that would fail. Each call parses its own module in its own
context: a module must not be emitted twice, and contexts keep calls from several threads apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from amdjit.backend.atomic_marks import mark_atomic_accesses, mark_fences
from amdjit.backend.blocks import cut_long_blocks
from amdjit.backend.checks import (
    check_calls,
    check_lds,
    check_scratch,
    has_inline_assembly,
    has_whole_wave_code,
)
from amdjit.backend.convergent import keep_convergent_in_place
from amdjit.backend.dpp_moves import fence_risky_moves
from amdjit.backend.lds import keep_narrow_loads, place_lds_arrays
from amdjit.backend.libraries import with_libraries
from amdjit.backend.masked_addresses import (
    compute_addresses_first,
    inline_all,
    may_read_masks_before_addresses,
    without_noinline,
)
from amdjit.backend.phi_inputs import keep_phi_inputs
from amdjit.backend.selection_losses import keep_ones_of_wide_or, keep_signs_of_zeros
from amdjit.diagnostics.errors import BackendError
from amdjit.forking import Lock, wait_before_fork
from amdjit.options import CompileOptions
from amdjit.target import TRIPLE, Target, feature_string

__all__ = [
    "emit_assembly",
    "emit_object_or_assembly",
    "loses_spilled_scalars",
    "may_spill_scalars",
    "optimise",
]


# llvmlite cannot tell whether a thread is inside LLVM.
wait_before_fork(llvm.ffi.lib._lock)

# Target machines are shared between calls, and LLVM does not lock them.
_LOCK = Lock()

Code = TypeVar("Code", bytes, str)


def optimise(
    llvm_text: str, target: Target, options: CompileOptions, libraries: tuple[bytes, ...] = ()
) -> str:
    """Return the IR after the passes that clang runs at the options' level.

    libraries: bitcode or IR; the functions that are called become part of the module. BackendError
    in LLVM's words.
    """
    with _LOCK:
        machine = _machine(target, options.wave_size, options.opt_level)
        if libraries:
            llvm_text = with_libraries(
                llvm_text, libraries, str(machine.target_data), target, options.wave_size
            )
        inlines_all = may_read_masks_before_addresses(target, options.wave_size)
        with _parsed(without_noinline(llvm_text) if inlines_all else llvm_text, machine) as module:
            check_calls(module)
            if inlines_all:
                inline_all(module)
            tuning = llvm.create_pipeline_tuning_options(speed_level=options.opt_level)
            # As clang -O2 and -O3 do; llvmlite's default leaves the SLP vectoriser off.
            tuning.slp_vectorization = options.opt_level >= 2
            _run_pipeline(module, llvm.create_pass_builder(machine, tuning))
            text = place_lds_arrays(str(module), module, machine.target_data)
            text = keep_signs_of_zeros(keep_narrow_loads(text, target), target)
            text = keep_convergent_in_place(keep_ones_of_wide_or(text), target)
            text = fence_risky_moves(text, target)
            text = compute_addresses_first(text, target, options.wave_size)
            text = cut_long_blocks(keep_phi_inputs(text))
            return mark_fences(mark_atomic_accesses(text))


def _run_pipeline(module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
    manager = builder.getModulePassManager()
    try:
        manager.run(module, builder)
    finally:
        # llvmlite's own `close` leaks 68 KiB: the order of the class's bases hides the method that
        # frees them.
        NewPassManager._dispose(manager)
        manager.detach()


def emit_assembly(llvm_text: str, target: Target, options: CompileOptions) -> str:
    """Return LLVM's assembly text of optimised IR, with comments; BackendError in LLVM's words."""
    with _LOCK:
        return _emitted(_commented, llvm_text, target, options)


def emit_object_or_assembly(llvm_text: str, target: Target, options: CompileOptions) -> bytes | str:
    """Return the unlinked object of optimised IR, or assembly text if it has inline assembly.

    llvmlite's LLVM has no AMDGPU assembly parser, and ends the process when it has to make an
    object of inline assembly. It can print it as text, from which `amdjit.backend.tools` makes
    the object.
    """
    with _LOCK:
        if has_inline_assembly(llvm_text):
            return _emitted(_plain, llvm_text, target, options)
        return _emitted(_object, llvm_text, target, options)


def _commented(machine: llvm.TargetMachine, module: llvm.ModuleRef) -> str:
    machine.set_asm_verbosity(True)
    return str(machine.emit_assembly(module))


def _plain(machine: llvm.TargetMachine, module: llvm.ModuleRef) -> str:
    machine.set_asm_verbosity(False)
    return str(machine.emit_assembly(module))


def _object(machine: llvm.TargetMachine, module: llvm.ModuleRef) -> bytes:
    return bytes(machine.emit_object(module))


def _emitted(
    emit: Callable[[llvm.TargetMachine, llvm.ModuleRef], Code],
    llvm_text: str,
    target: Target,
    options: CompileOptions,
) -> Code:
    """Emit IR with SGPRs spilled to lanes of VGPRs, or to memory if the lanes would lose them
    (`loses_spilled_scalars`)."""
    code = _emitted_once(emit, llvm_text, target, options)
    if not may_spill_scalars(llvm_text, code):
        return code
    if not loses_spilled_scalars(_emitted_once(_commented, llvm_text, target, options)):
        return code
    # LLVM reads the option when a machine compiles its first function, so each setting needs a
    # machine of its own.
    llvm.set_option("amdjit", "-amdgpu-spill-sgpr-to-vgpr=0")
    try:
        return _emitted_once(emit, llvm_text, target, options, spill_to_lanes=False)
    finally:
        llvm.set_option("amdjit", "-amdgpu-spill-sgpr-to-vgpr=1")


def _emitted_once(
    emit: Callable[[llvm.TargetMachine, llvm.ModuleRef], Code],
    llvm_text: str,
    target: Target,
    options: CompileOptions,
    spill_to_lanes: bool = True,
) -> Code:
    machine = _machine(target, options.wave_size, options.opt_level, spill_to_lanes)
    with _checked_for_emission(llvm_text, machine, target, options) as module:
        return emit(machine, module)


@cache
def _initialise() -> None:
    # llvmlite can initialise all targets or the native one only; all take about a millisecond.
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # LLVM 22 drops the masks of factors of 24 bits, and may then select `v_mad_u64_u32`, which uses
    # 32 bits of them, for their sum with 64 bits (fixed by its pull request 198729). This cannot
    # happen if products of 24 bits are formed in instruction selection only.
    llvm.set_option("amdjit", "-amdgpu-codegenprepare-mul24=0")
    # LLVM 22's AMDGPUUniformIntrinsicCombine says that it preserves what is known of uniform values
    # although it changes the function. The next pass that asks reads freed memory and, for new
    # values, an outdated answer: compilations hung or crashed at random (fixed by its pull request
    # 222357).
    llvm.set_option("amdjit", "-amdgpu-enable-uniform-intrinsic-combine=0")


@cache
def _machine(
    target: Target, wave_size: int, opt_level: int, spill_to_lanes: bool = True
) -> llvm.TargetMachine:
    """Make a target machine. spill_to_lanes: keeps apart the machines that read either option."""
    _initialise()
    features = "+wavefrontsize64,-wavefrontsize32" if wave_size == 64 else "+wavefrontsize32"
    # The code object says which settings its code is for: in the ELF header and the metadata.
    settings = feature_string(target)
    # Position-independent code in the small model is what clang makes for amdhsa.
    return llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu=target.name,
        features=f"{features},{settings}" if settings else features,
        opt=opt_level,
        reloc="pic",
        codemodel="small",
    )


@contextmanager
def _checked_for_emission(
    llvm_text: str, machine: llvm.TargetMachine, target: Target, options: CompileOptions
) -> Iterator[llvm.ModuleRef]:
    # SIOptimizeVGPRLiveRange takes a register that only the `else` of a branch reads for free in
    # the `then`, where the lanes of the `else` are off. But whole-wave code writes to these, too.
    is_free = "0" if has_whole_wave_code(llvm_text) else "1"
    llvm.set_option("amdjit", f"-amdgpu-opt-vgpr-liverange={is_free}")
    with _parsed(llvm_text, machine) as module:
        check_calls(module)
        check_lds(module, machine.target_data, target)
        check_scratch(llvm_text, machine.target_data, options.wave_size)
        yield module


@contextmanager
def _parsed(llvm_text: str, machine: llvm.TargetMachine) -> Iterator[llvm.ModuleRef]:
    """Parse and verify a module for amdhsa; llvmlite's RuntimeErrors become BackendErrors."""
    if "\0" in llvm_text:
        raise BackendError("the LLVM IR holds a NUL character")
    context = llvm.create_context()
    try:
        module = llvm.parse_assembly(llvm_text, context)
    except RuntimeError as error:
        raise BackendError(f"LLVM cannot parse the IR: {error}") from error
    try:
        _set_platform(module, machine)
        module.verify()
        yield module
    except RuntimeError as error:
        raise BackendError(f"LLVM refuses the IR: {error}") from error
    finally:
        # The module lives in the context, and must be closed first.
        module.close()
        context.close()


def _set_platform(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    layout = str(machine.target_data)
    if module.triple not in ("", TRIPLE):
        raise BackendError(f"the IR is for {module.triple}, not {TRIPLE}")
    if module.data_layout not in ("", layout):
        raise BackendError(
            f"the IR has the data layout {module.data_layout!r}; {TRIPLE} has {layout!r}"
        )
    module.triple = TRIPLE
    module.data_layout = layout


# Find code that loses spilled SGPRs.
#
#     s_or_b32 exec_lo, exec_lo, s0
#     v_writelane_b32 v7, s4, 0     ; for the next iteration; v7 is stored at offset 536
#     ...
#     s_cbranch_execnz .LBB0_243
#     ...
#   .LBB0_243:                      ; =>This Inner Loop Header: Depth=1
#                                   ; implicit-def: $vgpr9 : SGPR spill to VGPR lane
#     v_readlane_b32 s3, v9, 0      ; v9 holds anything: offset 536 is not loaded
#
# LLVM spills SGPRs to the lanes of VGPRs, and defines such a VGPR in the block that dominates all
# of its uses (SILowerSGPRSpills.cpp). LLVM 22 does so even if the block is in a loop. The
# definition has no instruction, but ends what the register held: what one iteration leaves for the
# next, as the masks of lanes that left the loop, is lost as soon as a register allocator gives the
# VGPR to something else, or keeps it in memory, as at `opt_level=0`. LLVM's pull request 186348
# fixes this by moving the definition out of the loop.
#
# The comments of assembly text tell where the definitions are. `amdjit.backend.llvm` emits such
# code again with SGPRs spilled to memory: about twice the instructions. VGPRs that are defined
# outside loops lose nothing, so code with only these is emitted once.


_FUNCTION = re.compile(r"^define (?![^@\n]*\bamdgpu_kernel\b)", re.MULTILINE)
# The metadata of a kernel: a key of MessagePack, and the number that follows it.
_SPILLS_IN_OBJECT = re.compile(rb"\.sgpr_spill_count[^\0]", re.DOTALL)
_SPILLS_IN_TEXT = re.compile(r"\.sgpr_spill_count: +[1-9]")
_BLOCK = re.compile(r"(?:\.LBB\d+_|; %bb\.)\d+:")
_IN_LOOP = re.compile(r";\s.*\b(?:Loop Header|in Loop):? ")
_LANES_DEFINED = re.compile(r";\s+implicit-def: \$vgpr\d+ : SGPR spill to VGPR lane")


def may_spill_scalars(llvm_text: str, emitted: bytes | str) -> bool:
    """Return whether a kernel, or a function that is called, may spill SGPRs.

    emitted: object or assembly text, whose metadata tell it of kernels alone.
    """
    if _FUNCTION.search(llvm_text) is not None:
        return True
    if isinstance(emitted, bytes):
        return _SPILLS_IN_OBJECT.search(emitted) is not None
    return _SPILLS_IN_TEXT.search(emitted) is not None


def loses_spilled_scalars(assembly: str) -> bool:
    """Return whether a VGPR for spilled SGPRs is defined in a loop. assembly: with comments."""
    in_loop = False
    for line in assembly.splitlines():
        if _BLOCK.match(line):
            in_loop = False
        in_loop |= _IN_LOOP.search(line) is not None
        if in_loop and _LANES_DEFINED.search(line):
            return True
    return False
