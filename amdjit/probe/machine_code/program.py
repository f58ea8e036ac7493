"""A kernel as a list of instructions: `kernel(input, output)`, without an assembler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amdjit.isa.encoding.choosing import assemble, rows_named, without_suffix
from amdjit.isa.encoding.encode import Half, assemble_dual
from amdjit.isa.encoding.operands import (
    EXEC,
    EXEC_LO,
    NOTHING,
    VCC,
    VCC_LO,
    Value,
    s,
    ttmp,
    v,
)
from amdjit.isa.errors import EncodingError
from amdjit.isa.instruction import Register, RegisterFile
from amdjit.isa.instruction_set import InstructionSet, instruction_set_of
from amdjit.probe.machine_code.kernel_object import (
    KernelFacts,
    Mode,
    make_code_object,
    needs_scratch_init,
)
from amdjit.target import Target

__all__ = ["GROUP", "INPUT", "OUTPUT", "PLACE", "Program"]

INPUT, OUTPUT = s(0, 2), s(2, 2)
"""Where a kernel's two pointers are after `begin`."""
GROUP = s(4)
"""The number of the workgroup after `begin`."""
PLACE, _ADDRESS = v(250), v(251)
FLAT_SCRATCH_LO = Register(RegisterFile.FLAT_SCRATCH, 0)
FLAT_SCRATCH_HI = Register(RegisterFile.FLAT_SCRATCH, 1)
_LANE_BITS = 0x3FF


@dataclass(frozen=True)
class _Branch:
    """A branch at some dword of the code, to a label."""

    at: int
    label: str


class Program:
    """Instructions in the order in which they are added.

    `add` adds one instruction and nothing else; `safe` also adds waits for everything that the
    instruction does. After `begin`, s[0:1] and s[2:3] are the pointers, s4 is the workgroup, v0 the
    work-item and v250 the offset of the work-item in a row of dwords, in bytes. `load` and `store`
    use v251.
    """

    def __init__(self, target: Target, wave_size: int, scratch: int = 0) -> None:
        """scratch: bytes of each work-item. EncodingError if the emulator has no table of the
        target's instructions, or if the target has no waves of that size."""
        sets = instruction_set_of(target.name)
        if sets is None:
            raise EncodingError(f"there is no table of the instructions of {target.name}")
        if wave_size not in target.wave_sizes:
            raise EncodingError(f"{target.name} has no waves of {wave_size} lanes")
        self.target, self.wave_size, self.scratch = target, wave_size, scratch
        self.sets: InstructionSet = sets
        self._names = {newest: name for name, newest in sets.renamed.items()}
        self._code = bytearray()
        self._labels: dict[str, int] = {}
        self._branches: list[_Branch] = []
        self._drain_code: bytes | None = None

    @property
    def vcc(self) -> Register:
        """The mask VCC of a wave: one or two dwords."""
        return VCC if self.wave_size == 64 else VCC_LO

    @property
    def exec(self) -> Register:
        """The mask EXEC of a wave: one or two dwords."""
        return EXEC if self.wave_size == 64 else EXEC_LO

    @property
    def is_gfx9(self) -> bool:
        """Whether the target is a gfx9 processor."""
        return self.sets.family == "gfx9"

    def has(self, mnemonic: str) -> bool:
        """Whether the target has an instruction of that name, or the one that newer families call
        so."""
        try:
            rows_named(self._own_name(mnemonic), self.sets, self.wave_size)
        except EncodingError:
            return False
        return True

    def _own_name(self, mnemonic: str) -> str:
        """Return this family's name of an instruction that is called differently in the newest
        family."""
        try:
            rows_named(mnemonic, self.sets, self.wave_size)
        except EncodingError:
            name, suffix = without_suffix(mnemonic)
            return self._names.get(name, name) + suffix
        return mnemonic

    def add(self, mnemonic: str, *operands: Value | str, **modifiers: Any) -> None:
        """Add an instruction.

        mnemonic: the name in this family, or in the newest one; with a suffix (_e32, _e64, _dpp,
        _sdwa) only that encoding. operands: in the assembler's order, numbers for constants, None
        for `off`, a label's name where a branch leads. modifiers: fields of the decoder's
        `Modifiers` (neg, abs, neg_hi, op_sel, op_sel_hi: bit n for source n; clamp, omod, dpp,
        sdwa) and immediates by name (offset, offset0, scope, th, glc, offen, simm16, ...).
        EncodingError if there is no such instruction.
        """
        labels = [value for value in operands if isinstance(value, str)]
        values = [0 if isinstance(value, str) else value for value in operands]
        name = self._own_name(mnemonic)
        choice = assemble(name, values, modifiers, self.sets, self.wave_size)
        if labels:
            if not choice.is_branch:
                raise EncodingError(f"{mnemonic} leads to no label")
            self._branches.append(_Branch(len(self._code), labels[0]))
        self._code += choice.code

    def add_dual(self, first: Half, second: Half) -> None:
        """Add a dual-issue instruction of two halves, each a mnemonic (v_dual_...) and its
        operands."""
        self._code += assemble_dual(first, second, self.sets)

    def add_encoded(self, code: bytes) -> None:
        """Add an instruction that is encoded already."""
        self._code += code

    def safe(self, mnemonic: str, *operands: Value | str, **modifiers: Any) -> None:
        """Add an instruction and all waits that another instruction may need after it."""
        self.add(mnemonic, *operands, **modifiers)
        self.drain()

    def drain(self) -> None:
        """Wait until nothing is in flight and every wait state has passed (see
        `drain_instructions`)."""
        if self._drain_code is None:
            before, self._code = self._code, bytearray()
            for mnemonic, *operands in drain_instructions(self.sets):
                self.add(mnemonic, *operands)
            self._drain_code, self._code = bytes(self._code), before
        self._code += self._drain_code

    def label(self, name: str) -> None:
        """Name the place of the next instruction, for branches; EncodingError if the name
        exists."""
        if name in self._labels:
            raise EncodingError(f"there are two labels {name}")
        self._labels[name] = len(self._code)

    def begin(self, group_size: int | None = None) -> None:
        """Add the first instructions of a kernel, as the class describes them. group_size:
        work-items of a workgroup, by default one wave."""
        size = self.wave_size if group_size is None else group_size
        self._begin_scratch()
        self.safe("s_mov_b32", GROUP, self._group_register())
        self.safe("s_load_b128", s(0, 4), s(0, 2), offset=0)
        self.safe("s_mul_i32", s(5), GROUP, 4 * size)
        self.safe("v_and_b32", v(0), _LANE_BITS, v(0))
        self.safe("v_lshlrev_b32", PLACE, 2, v(0))
        self.safe("v_add_nc_u32", PLACE, s(5), PLACE)

    def _group_register(self) -> Register:
        if self.target.isa[0] >= 12:
            return ttmp(9)
        return s(4) if self._computes_scratch() else s(2)

    def _computes_scratch(self) -> bool:
        return bool(self.scratch) and needs_scratch_init(self.target)

    def _begin_scratch(self) -> None:
        """Compute FLAT_SCRATCH from its base in s[2:3] and the wave's offset in s5."""
        if self._computes_scratch():
            self.safe("s_add_u32", FLAT_SCRATCH_LO, s(2), s(5))
            self.safe("s_addc_u32", FLAT_SCRATCH_HI, s(3), 0)

    def load(self, register: Register, at: int) -> None:
        """Load each work-item's dword of the row that begins at this byte of the input."""
        self._address(at)
        self.safe("global_load_b32", register, _ADDRESS, INPUT)

    def store(self, register: Register, at: int) -> None:
        """Store a register as the row that begins at this byte of the output."""
        self._address(at)
        self.safe("global_store_b32", _ADDRESS, register, OUTPUT)

    def _address(self, at: int) -> None:
        self.safe("v_add_nc_u32", _ADDRESS, at, PLACE)

    def code(self) -> bytes:
        """Return the machine code so far, with the distances of its branches; EncodingError for a
        branch to a label that does not exist or is too far away."""
        code = bytearray(self._code)
        for branch in self._branches:
            if branch.label not in self._labels:
                raise EncodingError(f"there is no label {branch.label}")
            distance = (self._labels[branch.label] - branch.at - 4) // 4
            if not -0x8000 <= distance < 0x8000:
                raise EncodingError(f"the label {branch.label} is {distance} dwords away")
            code[branch.at : branch.at + 2] = (distance & 0xFFFF).to_bytes(2, "little")
        return bytes(code)

    def code_object(
        self,
        name: str = "kernel",
        vgprs: int = 256,
        agprs: int = 0,
        lds: int = 0,
        mode: Mode = Mode(),  # noqa: B008 - it is frozen
        max_group_size: int = 1024,
    ) -> bytes:
        """Return a code object with a kernel `name(input, output)`, which ends after the last
        instruction.

        vgprs, agprs: of a work-item; lds: bytes of a workgroup.
        """
        end = self.sets.end_of_program.to_bytes(4, "little")
        facts = KernelFacts(
            name,
            self.wave_size,
            vgprs=vgprs,
            agprs=agprs,
            sgprs=96,
            lds=lds,
            scratch=self.scratch,
            mode=mode,
            max_group_size=max_group_size,
        )
        return make_code_object(self.target, facts, self.code() + end)


# Waits after which any instruction may follow any other.
#
# A compiler inserts the wait states that the hardware does not; here nobody does. Instead of
# following the rules for each pair of instructions, `drain_instructions` satisfies all of them:
#
# - Memory: it waits for every counter to reach 0. Then results are in registers, and registers that
#   were data or addresses may be written.
# - RDNA 3 and 4: S_WAIT_ALU 0 (S_WAITCNT_DEPCTR 0) waits for the results of VALU and SALU in VGPRs,
#   SGPRs, VCC and EXEC, and for reads in flight. This covers the hazards that LLVM's
#   GCNHazardRecognizer fixes with this instruction: VALU reads of SGPRs that the SALU rewrites,
#   masks, transcendental results (gfx11), partial forwarding (gfx11), LDS-direct loads.
#   S_WAIT_IDLE waits for everything else. V_NOP separates matrix products, and V_CMPX from
#   V_PERMLANE, where those need a VALU instruction in between.
# - CDNA: the rules count wait states (CDNA 3 ISA document, 4.5 "Manually Inserted Wait States";
#   LLVM's GCNHazardRecognizer). The longest is for the result of a matrix product of 16 passes, at
#   most 21. Others are shorter, such as a VALU's write of an SGPR before VMEM (5), of EXEC before
#   DPP (5), of VCC before V_DIV_FMAS (4), or of a lane number before V_READLANE (4). Two S_NOP 15
#   are 32 wait states.

_LONGEST_NOP = 15
_GFX12 = (
    ("s_wait_loadcnt_dscnt", 0),
    ("s_wait_storecnt_dscnt", 0),
    ("s_wait_kmcnt", 0),
    ("s_wait_expcnt", 0),
    ("s_wait_alu", 0),
    ("s_wait_idle",),
    ("v_nop",),
    ("s_nop", _LONGEST_NOP),
)
_GFX11 = (
    ("s_waitcnt", 0),
    ("s_waitcnt_vscnt", NOTHING, 0),
    ("s_waitcnt_depctr", 0),
    ("s_wait_idle",),
    ("v_nop",),
    ("s_nop", _LONGEST_NOP),
)
_GFX9 = (("s_waitcnt", 0), ("s_nop", _LONGEST_NOP), ("s_nop", _LONGEST_NOP))


def drain_instructions(sets: InstructionSet) -> Sequence[tuple[Any, ...]]:
    """Return the instructions, each as a mnemonic and its operands."""
    if sets.family == "gfx9":
        return _GFX9
    return _GFX12 if sets.family == "gfx12" else _GFX11
