"""Decoded machine code: plain, frozen values.

Fields have the names of the RDNA 4 ISA document (chapter 15, "Microcode Formats").
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.operand_codes import RegisterFile as RegisterFile
from amdjit.isa.traits import Access, MemoryKind, Traits, Unit
from amdjit.late_methods import dataclass, field

DEVICE_SCOPE = 2


@dataclass(frozen=True, slots=True)
class Register:
    """`dwords` consecutive 32-bit registers of one file, the first at `index`.

    half: which half of a VGPR a 16-bit operand names: 0 for bits 15:0, 1 for bits 31:16; None if
    it cannot name one.
    """

    file: RegisterFile
    index: int
    dwords: int = 1
    half: int | None = None


@dataclass(frozen=True, slots=True)
class InlineConstant:
    """A constant that the operand's code stands for: an integer -16..64, or a float (0.5, ...,
    1/(2*pi))."""

    value: int | float
    code: int


@dataclass(frozen=True, slots=True)
class Literal:
    """The 32-bit constant that follows the instruction, as an unsigned number."""

    value: int


@dataclass(frozen=True, slots=True)
class SpecialSource:
    """A read-only source such as `src_shared_base`, `src_private_limit` or
    `src_pops_exiting_wave_id`."""

    name: str


Operand = Register | InlineConstant | Literal | SpecialSource


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """One operand of an opcode, from the opcode table.

    role: the field's name in the ISA document: vdst, sdst, src0, src1, src2 (SALU and VALU), vaddr,
        saddr, vdata (VFLAT, VGLOBAL, VSCRATCH, VBUFFER), rsrc, soffset, sbase, addr, data0, data1
        (DS); `literal` for the constant of fmaak, fmamk and setreg_imm32; `vcc` for the mask that
        v_div_fmas reads.
    type: how the instruction reads the bits: f16, bf16, f32, f64, b16, ..., u64, b96, b128; v2f16,
        v8f32, v4iu8, ... for packed elements and matrices; `mask` for a lane mask, which is as wide
        as the wave.
    dwords: the registers that it covers (1 for 16 bits).
    written, read: which way the data goes; read-modify-write destinations have both.
    """

    role: str
    type: str
    dwords: int
    written: bool = False
    read: bool = True


@dataclass(frozen=True, slots=True)
class Opcode:
    """One row of the opcode table. `mnemonic` has no `_e32`/`_e64`/`_dpp` suffix: `encoding` says
    that.

    What the instruction is and does is in `traits`; the mnemonic is for tables and texts. Opcodes
    of two families differ, even if all that is written of them is the same.
    """

    mnemonic: str
    encoding: str
    code: int
    operands: tuple[OperandSpec, ...]
    traits: Traits = field(compare=False, repr=False)
    instruction_set: InstructionSet = field(repr=False)
    selects_halves: bool = False
    """The operands of 16 bits are halves of registers that op_sel names, not the operands
    themselves."""

    @property
    def source_places(self) -> Sequence[int]:
        """The indices of an ALU instruction's sources among its operands, in the order of its
        expression. The result is operand 0; if the instruction also reads it, it is the last
        source."""
        specs = self.operands
        places = [place for place in range(1, len(specs)) if specs[place].read]
        return (*places, 0) if specs and specs[0].read else places

    @property
    def zeroes_high_half(self) -> bool:
        """Whether a result of 16 bits clears the rest of its register."""
        is_alu = self.traits.unit in (Unit.VALU, Unit.TRANSCENDENTAL)
        return is_alu and not (self.instruction_set.keeps_high_halves or self.selects_halves)


@dataclass(frozen=True, slots=True)
class Dpp:
    """Data-parallel primitives of one instruction: DPP16 (`control`, masks) or DPP8 (`lanes`)."""

    control: int | None = None
    row_mask: int = 0xF
    bank_mask: int = 0xF
    bound_control: bool = False
    fetch_inactive: bool = False
    lanes: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Sdwa:
    """The parts of registers that an instruction reads and writes (sub-dword addressing).

    destination, sources: 0 to 3 for bytes, 4 and 5 for halves, 6 for all; destination is None if a
    lane mask is written, or always whole registers. unused: what the rest of the result becomes: 0
    zeros, 1 the sign, 2 what it was. extended: bit n: the part that source n names is extended by
    its sign.
    """

    destination: int | None
    unused: int
    sources: tuple[int, int]
    extended: int

    @property
    def keeps_rest(self) -> bool:
        """Whether a part of the destination stays what it was."""
        return self.destination not in (None, 6) and self.unused == 2


@dataclass(frozen=True, slots=True)
class Modifiers:
    """Modifier fields. Bit n of each mask is for source n; bit 3 of op_sel chooses the
    destination's half."""

    neg: int = 0
    neg_hi: int = 0
    abs: int = 0
    op_sel: int = 0
    op_sel_hi: int = 0
    clamp: bool = False
    omod: int = 0
    dpp: Dpp | None = None
    sdwa: Sdwa | None = None


_NARROW = frozenset({"f16", "bf16", "b16", "i16", "u16"})


@dataclass(frozen=True, slots=True)
class Instruction:
    """One decoded instruction.

    pc: byte address in the code object's virtual addresses. size: bytes, with the literal.
    operands: values in the order of `opcode.operands`, None for an optional operand that is absent,
        for example `saddr` off in a global access.
    immediates: the remaining fields by name, signed where the ISA says so: simm16, offset, offset0,
        offset1, scope, th, hwreg fields, wait counts, ...
    pair: the Y half of a VOPD instruction. This instruction is then the X half, with the same pc
        and size.
    """

    pc: int
    size: int
    opcode: Opcode
    operands: tuple[Operand | None, ...]
    immediates: dict[str, int]
    modifiers: Modifiers = Modifiers()
    pair: Instruction | None = None

    @property
    def mnemonic(self) -> str:
        """The instruction's name without an encoding suffix."""
        return self.opcode.mnemonic

    @property
    def traits(self) -> Traits:
        """What the instruction is and does; of a dual-issue instruction, its X half."""
        return self.opcode.traits

    def half_of(self, index: int) -> int | None:
        """Return which half of its register an operand is: 0 or 1, None if nothing says so."""
        operand = self.operands[index]
        if self.opcode.selects_halves:
            role = self.opcode.operands[index].role
            return self.modifiers.op_sel >> (int(role[3]) if role.startswith("src") else 3) & 1
        return operand.half if isinstance(operand, Register) else None

    def keeps_part(self, index: int) -> bool:
        """Whether a vector register that is written may keep a part of what it held."""
        sdwa = self.modifiers.sdwa
        is_half = self.half_of(index) is not None
        if self.opcode.selects_halves:
            is_half = self.opcode.operands[index].type in _NARROW
        return is_half or (sdwa is not None and sdwa.keeps_rest)

    @property
    def access(self) -> Access:
        """What a memory instruction does to memory."""
        access = self.opcode.traits.memory
        assert access is not None
        return access

    @property
    def returns_old(self) -> bool:
        """Whether an atomic returns what memory held: TH's bit 0, GLC, or SC0."""
        immediates = self.immediates
        for name in ("glc", "sc0"):
            if name in immediates:
                return bool(immediates[name])
        return bool(immediates.get("th", 0) & 1)

    @property
    def scope(self) -> int:
        """Whom an access to memory, or a cache instruction, concerns: 0 the compute unit, 1 the
        shader engine, 2 the device, 3 the system."""
        immediates = self.immediates
        if "sc1" in immediates:
            return self._scope_of_bits()
        if self.traits.cache_scope is not None:
            return self.traits.cache_scope
        if "glc" not in immediates:
            return immediates.get("scope", 0)
        access = self.traits.memory
        if access is not None and access.kind is MemoryKind.ATOMIC:
            return DEVICE_SCOPE
        # LLVM AMDGPU guide, "Memory Model GFX10-GFX11": loads miss the nearer caches. Atomics are
        # done in the L2, and their GLC says that they return.
        return DEVICE_SCOPE * immediates["glc"]

    def _scope_of_bits(self) -> int:
        """LLVM AMDGPU guide, "Memory Model gfx942": SC1 and SC0 are a number, of which 1 is a
        workgroup; SC0 of an atomic says that it returns, and its SC1 is the system."""
        immediates, access = self.immediates, self.traits.memory
        if access is not None and access.kind is MemoryKind.ATOMIC:
            return 3 if immediates["sc1"] else DEVICE_SCOPE
        return (0, 0, DEVICE_SCOPE, 3)[immediates["sc0"] | immediates["sc1"] << 1]

    def operand(self, role: str) -> Operand | None:
        """Return the operand in a role; KeyError if the opcode has none."""
        for spec, value in zip(self.opcode.operands, self.operands, strict=True):
            if spec.role == role:
                return value
        raise KeyError(role)
