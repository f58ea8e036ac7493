"""The batches of instructions: each has some opcodes of one format, for one wave size and one
MODE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from amdjit.emulator.instructions.tables import emitters_of
from amdjit.isa.instruction_set import InstructionSet, instruction_set_of
from amdjit.isa.rows import Row, row_of
from amdjit.isa.traits import Flow, Idle, Immediate, MemoryKind
from amdjit.probe.case import Batch, Case, Group
from amdjit.probe.corpus.instructions.forms import Extent
from amdjit.probe.corpus.instructions.memory import memory_trials
from amdjit.probe.corpus.instructions.scalar import scalar_load_trials, scalar_trials
from amdjit.probe.corpus.instructions.trials import Bundle, Result, Source, Trial, bundled, cases_of
from amdjit.probe.corpus.instructions.vector import dual_trials, vector_trials
from amdjit.probe.machine_code import Mode, Program, a, v
from amdjit.target import Target

__all__ = [
    "Run",
    "batches",
    "bundles",
    "executed_rows",
    "rows_of",
    "runs",
    "trials_of",
    "why_left_out",
]

_AT_ONCE = 32
_SCALAR = ("SOP1", "SOP2", "SOPC", "SOPK", "SOPP")
_VECTOR = ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "MAI")
_MEMORY = ("DS", "VFLAT", "VGLOBAL", "VSCRATCH", "VBUFFER", "VTBUFFER")
_DUAL = ("VOPDX", "VOPDY")
# The number of opcodes in a batch, by how many forms each opcode has.
_OPCODES = {"VOP3": 30, "VOP3P": 30, "VBUFFER": 30, "VTBUFFER": 20}
_USUAL_OPCODES = 60
_LDS, _SCRATCH = 16384, 256
_QUICK = ("VOP2", "SOP2")
_MODES = {
    "up, no denormals": Mode(1, 1, 0, 0),
    "down, no denormal results": Mode(2, 2, 1, 1),
    "towards zero, no denormal sources": Mode(3, 3, 2, 2),
    "FP16_OVFL": Mode(overflow=True),
    "no IEEE, no DX10_CLAMP": Mode(ieee=False, dx10_clamp=False),
}
_OPEN = (
    "v_mac_f16",
    "v_madmk_f16",
    "v_madak_f16",
    "v_mad_f16",
    "v_mad_legacy_f16",
    "v_cvt_scalef32_",
    "v_cvt_sr_f16_f32",
)
_FLOATS = ("f16", "f32", "f64", "bf16", "fp8", "bf8")


@dataclass(frozen=True)
class Run:
    """What one batch runs: some opcodes of a format, in the order of the tables."""

    format: str
    """The format, as the decoder's tables name it."""
    first: int
    """The number of the first opcode, in the order of the format's table."""
    count: int
    """How many opcodes of the table it takes."""
    wave_size: int
    extent: Extent
    """Which forms of each opcode are tried."""
    mode: str = ""
    """The name of the MODE; empty for the usual one."""

    @property
    def name(self) -> str:
        """The batch's name."""
        parts = [self.format]
        if self.extent is Extent.LANES:
            parts.append(f"wave{self.wave_size}")
        parts += [self.mode] if self.mode else []
        return f"instructions/{' '.join(parts)} {self.first // self.count + 1}"


def runs(target: Target) -> Iterator[Run]:
    """Yield what the batches run: all forms in waves of the usual size, the forms about lanes also
    in waves of the other size, and the forms without modifiers also in other modes."""
    sets = instruction_set_of(target.name)
    assert sets is not None
    for run in _possible_runs(target, sets):
        if next(rows_of(run, sets), None) is not None:
            yield run


def _possible_runs(target: Target, sets: InstructionSet) -> Iterator[Run]:
    usual, *others = target.wave_sizes
    for name in (*_SCALAR, "SMEM", *_VECTOR, *_DUAL, *_MEMORY):
        opcodes = len(sets.rows.get(name, ()))
        count = _OPCODES.get(name, _USUAL_OPCODES)
        for first in range(0, opcodes, count):
            yield Run(name, first, count, usual, Extent.ALL)
        for wave_size in others if name not in _DUAL else ():
            for first in range(0, opcodes, 4 * count):
                yield Run(name, first, 4 * count, wave_size, Extent.LANES)
        for mode in _modes_of(sets) if name in _VECTOR else ():
            for first in range(0, opcodes, 8 * count):
                yield Run(
                    name, first, count=8 * count, wave_size=usual, extent=Extent.PLAIN, mode=mode
                )


def rows_of(run: Run, sets: InstructionSet) -> Iterator[Row]:
    """Yield the opcodes of a run that have trials."""
    emitters = emitters_of(sets.name)
    for code in list(sets.rows[run.format])[run.first : run.first + run.count]:
        row = row_of(run.format, code, run.wave_size, sets)
        assert row is not None
        executed = row.opcode.traits.operation in emitters
        if executed and _has_mode(row, run.mode) and why_left_out(row) is None:
            yield row


def _has_mode(row: Row, mode: str) -> bool:
    """Return whether an opcode is worth trying in a mode. It is not known what FP16_OVFL does to
    quotients, to products that are rounded before they are added, and to scaled conversions."""
    if not mode:
        return True
    has_floats = any(operand.spec.type.endswith(_FLOATS) for operand in row.operands)
    is_open = row.opcode.traits.is_quotient or row.opcode.mnemonic.startswith(_OPEN)
    return has_floats and not (_MODES[mode].overflow and is_open)


def _modes_of(sets: InstructionSet) -> list[str]:
    return [name for name, mode in _MODES.items() if sets.has_nan_modes or mode.ieee]


def batches(target: Target) -> tuple[Batch, ...]:
    """Return the batches of a processor; none if the emulator has no table of its instructions."""
    if instruction_set_of(target.name) is None:
        return ()
    return tuple(
        Batch(
            run.name,
            Group.INSTRUCTIONS,
            is_quick=run.format in _QUICK and run.extent is Extent.ALL,
            cases=partial(_cases, run),
            expected=2.0,
        )
        for run in runs(target)
    )


def _cases(run: Run, target: Target) -> Iterator[Case]:
    for bundle in bundles(run, target):
        yield from cases_of(bundle)


def bundles(run: Run, target: Target) -> Iterator[Bundle]:
    """Yield the launches of a run."""
    mode = _MODES.get(run.mode, Mode())
    for part in bundled(_trials(run, target), _AT_ONCE):
        bundle = Bundle(target, run.wave_size, part, mode)
        if run.format in _SCALAR:
            bundle = replace(bundle, lanes=256, group=1)
        elif run.format in _MEMORY:
            bundle = replace(bundle, lds=_LDS, scratch=_SCRATCH, has_cells=True)
        yield bundle


def _trials(run: Run, target: Target) -> Iterator[Trial]:
    """Yield each trial once, since forms of an opcode may coincide."""
    sets = instruction_set_of(target.name)
    assert sets is not None
    seen = set()
    for row in rows_of(run, sets):
        for trial in trials_of(row, run.wave_size, run.extent):
            if trial.name not in seen:
                seen.add(trial.name)
                yield trial


def trials_of(row: Row, wave_size: int, extent: Extent) -> Iterator[Trial]:
    """Yield an opcode's trials: none if it is left out."""
    if why_left_out(row) is not None:
        return
    name = row.opcode.encoding
    if row.opcode.mnemonic.startswith("v_accvgpr_"):
        yield accumulation_trial(row)
    elif name in _DUAL:
        yield from dual_trials(name, row.opcode.code, row.opcode.instruction_set)
    elif row.format.name in _SCALAR:
        yield from scalar_trials(row, wave_size, extent)
    elif row.format.name == "SMEM":
        yield from scalar_load_trials(row, wave_size, extent)
    elif row.format.name in _VECTOR:
        yield from vector_trials(row, wave_size, extent)
    elif row.format.name in _MEMORY:
        yield from memory_trials(row, wave_size, extent)


# Values are moved from VGPRs to accumulation VGPRs (CDNA) and back, because nothing else shows what
# an accumulation VGPR holds.

_SOURCE, _RESULT = v(8), v(64)


def accumulation_trial(row: Row) -> Trial:
    """Return the trial of v_accvgpr_write_b32, v_accvgpr_read_b32 or v_accvgpr_mov_b32."""
    mnemonic = row.opcode.mnemonic
    return Trial(
        mnemonic,
        mnemonic,
        opcode=(row.format.name, row.opcode.code),
        sources=(Source(_SOURCE, "b32", 1),),
        before=(_RESULT,),
        add=lambda program: _add(program, "mov" in mnemonic),
        results=(Result(_RESULT, "b32"),),
    )


def _add(program: Program, moves: bool) -> None:
    program.safe("v_accvgpr_write_b32", a(2), _SOURCE)
    if moves:
        program.safe("v_accvgpr_mov_b32", a(5), a(2))
    program.safe("v_accvgpr_read_b32", _RESULT, a(5 if moves else 2))


# Which instructions are tried, and why the others are not.

_NOTHING = "it leaves nothing that could be compared"
_PLACES = "its result is an address, or a time, which differs from run to run"
_BARRIERS = "a barrier is between waves, and each workgroup here is one wave"
# Instructions whose results may differ between two chips, or between two runs.
_VARYING = frozenset(
    {
        "s_getpc_b64", "s_memtime", "s_memrealtime", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64",
        "s_get_waveid_in_workgroup",
    }
)  # fmt: skip
_INDEX_MODES = ("s_set_gpr_idx_", "s_setvskip")
_SCALAR_WRITERS = ("s_store_", "s_buffer_store_", "s_atomic_", "s_buffer_atomic_", "s_scratch_")


def executed_rows(sets: InstructionSet, wave_size: int) -> Iterator[Row]:
    """Yield the rows of all opcodes that the emulator executes; those of dual-issue halves for
    wave32."""
    emitters = emitters_of(sets.name)
    for name, entries in sets.rows.items():
        for code in entries:
            row = row_of(name, code, 32 if name.startswith("VOPD") else wave_size, sets)
            assert row is not None
            if row.opcode.traits.operation in emitters:
                yield row


def why_left_out(row: Row) -> str | None:
    """Return why an opcode that the emulator executes has no trial, None if it has one."""
    traits, mnemonic = row.opcode.traits, row.opcode.mnemonic
    if traits.matrix is not None or traits.block_product is not None:
        return "matrix products are tried with data of their own"
    if traits.barrier is not None:
        return _BARRIERS
    if mnemonic in _VARYING:
        return _PLACES
    if mnemonic.startswith(_INDEX_MODES):
        return "compilers do not use modes in which registers are indexed"
    if mnemonic.startswith(_SCALAR_WRITERS):
        return "compilers do not use scalar stores and atomics, whose cache must be written back"
    return _why_silent(row)


def _why_silent(row: Row) -> str | None:
    traits, access = row.opcode.traits, row.opcode.traits.memory
    if access is not None and access.kind in (MemoryKind.PREFETCH, MemoryKind.PROBE):
        return _NOTHING
    if traits.writes_mode is not None:
        return None
    if traits.idle is Idle.MESSAGE or traits.immediate is Immediate.MESSAGE:
        return "it sends a message"
    if traits.cache is not None or traits.idle is not None or traits.flow is not Flow.NEXT:
        return _NOTHING
    if "_lds_" in row.opcode.mnemonic:
        return "it loads into LDS from memory, which only kernels of several instructions show"
    return None if row.operands or row.format.name == "SOPK" else _NOTHING
