"""What an instruction does with registers, as sets of bits: the two sides of a hazard.

Bits 0 to 255 are the lower halves of VGPRs, 256 to 511 accumulation VGPRs; scalar registers follow
by the ISA's operand codes, then the hardware registers of S_SETREG by number, a bit for the
instruction itself, and the upper halves of VGPRs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto

from amdjit.emulator.checks.waits.places import operands_of
from amdjit.isa.instruction import Instruction, Register, RegisterFile, SpecialSource
from amdjit.isa.register_numbers import EXEC_LO, M0, VCC_LO, scalar_slot
from amdjit.isa.traits import Flag, Idle, Immediate, MemoryKind, SingleLane, Unit

_SCALARS, _HARDWARE, _LAST, _UPPER = 512, 640, 704, 768
_LOWER_BITS = (1 << 256) - 1
_VGPRS = _LOWER_BITS | _LOWER_BITS << _UPPER
_VECTOR_BITS = (1 << _SCALARS) - 1 | _VGPRS
_SCALAR_BITS = (1 << _HARDWARE) - 1 ^ (1 << _SCALARS) - 1
_VCC = 3 << _SCALARS + VCC_LO
_EXEC = 3 << _SCALARS + EXEC_LO
_M0 = 1 << _SCALARS + M0
_ITSELF = 1 << _LAST
# Scalar registers that hold values of the program's own.
_OWN_SCALARS = _SCALAR_BITS & ~(_EXEC | _M0)
_SGPRS = _OWN_SCALARS & ~_VCC
_EVEN = sum(1 << number for number in range(_SCALARS, _HARDWARE, 2))


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction, what it reads and writes, and the units that execute it."""

    instruction: Instruction
    reads: int
    writes: int
    is_valu: bool
    is_salu: bool
    is_vmem: bool
    is_lds: bool

    @staticmethod
    def of(instruction: Instruction) -> Step:
        """Return an instruction with what it reads and writes."""
        traits, unit = instruction.traits, instruction.traits.unit
        reads = writes = 0
        for spec, register in operands_of(instruction):
            bits = bits_of(register)
            reads |= bits * spec.read
            writes |= bits * spec.written
        if traits.condition is not None:
            reads |= {Flag.VCC: _VCC, Flag.EXEC: _EXEC, Flag.SCC: 0}[traits.condition.flag]
        if traits.writes_exec:
            writes |= _EXEC
        return Step(
            instruction,
            reads,
            writes,
            is_valu=unit in (Unit.VALU, Unit.TRANSCENDENTAL),
            is_salu=unit is Unit.SALU,
            is_vmem=unit is Unit.VECTOR_MEMORY,
            is_lds=unit is Unit.LDS,
        )

    @property
    def is_memory(self) -> bool:
        """Whether it is executed beside the vector ALU: vector memory or LDS."""
        return self.is_vmem or self.is_lds

    @property
    def is_transcendental(self) -> bool:
        """Whether the transcendental unit executes it."""
        return self.instruction.traits.unit is Unit.TRANSCENDENTAL

    @property
    def is_product(self) -> bool:
        """Whether it is an MFMA."""
        return self.instruction.traits.block_product is not None

    @property
    def is_store(self) -> bool:
        """Whether it changes memory."""
        access = self.instruction.traits.memory
        return access is not None and access.kind in (MemoryKind.STORE, MemoryKind.ATOMIC)

    def sources(self) -> list[int]:
        """Return the registers of each operand that is read."""
        return [bits_of(one) for spec, one in operands_of(self.instruction) if spec.read]

    def operands(self, *roles: str) -> int:
        """Return the registers of the operands in these roles."""
        found = 0
        for spec, register in operands_of(self.instruction):
            if spec.role in roles:
                found |= bits_of(register)
        return found


def bits_of(register: Register) -> int:
    """Return the registers that an operand covers; none for SCC and `null`."""
    ones = (1 << register.dwords) - 1
    if register.file is RegisterFile.VGPR:
        lower, upper = ones << register.index, ones << _UPPER + register.index
        if register.half is None:
            return lower | upper
        return upper if register.half else lower
    if register.file is RegisterFile.AGPR:
        first = 256 + register.index
    else:
        slot = None if register.file is RegisterFile.SCC else scalar_slot(register)
        if slot is None:
            return 0
        first = _SCALARS + slot
    return ones << first


def name_of(bits: int) -> str:
    """Return the name of the first register of a set; "" if it is the instruction itself."""
    number = (bits & -bits).bit_length() - 1
    if number < 256 or number >= _UPPER:
        return f"v{number % _UPPER}"
    if number < _SCALARS:
        return f"a{number - 256}"
    if number == _LAST:
        return ""
    if number >= _HARDWARE:
        return f"hardware register {number - _HARDWARE}"
    slot = number - _SCALARS
    if slot < VCC_LO:
        return f"s{slot}"
    names = {VCC_LO: "vcc", VCC_LO + 1: "vcc", M0: "m0", EXEC_LO: "exec", EXEC_LO + 1: "exec"}
    return names.get(slot, f"scalar register {slot}")


@dataclass(frozen=True, slots=True, eq=False)
class Act:
    """Something that instructions do with registers.

    text: in words, without a subject. find: the registers with which an instruction does it, 0 if
    it does not. writes: whether they are overwritten.
    """

    text: str
    find: Callable[[Step], int]
    writes: bool = False


def _by(when: Callable[[Step], bool], what: Callable[[Step], int]) -> Callable[[Step], int]:
    return lambda step: what(step) if when(step) else 0


def _is_valu(step: Step) -> bool:
    return step.is_valu


def _is_salu(step: Step) -> bool:
    return step.is_salu


def _is_alu(step: Step) -> bool:
    return step.is_valu or step.is_salu


def _is_product(step: Step) -> bool:
    return step.is_product


def _vectors_written(step: Step) -> int:
    return step.writes & _VECTOR_BITS


def _vectors_read(step: Step) -> int:
    return step.reads & _VECTOR_BITS


# Scalar registers.

VALU_WRITES_SCALAR = Act(
    "the vector ALU writes an SGPR, VCC, EXEC or M0",
    _by(_is_valu, lambda step: step.writes & _SCALAR_BITS),
    writes=True,
)
VALU_READS_SCALAR = Act(
    "the vector ALU reads it", _by(_is_valu, lambda step: step.reads & _SCALAR_BITS)
)
VALU_WRITES_VCC = Act(
    "the vector ALU writes VCC", _by(_is_valu, lambda step: step.writes & _VCC), writes=True
)
VALU_WRITES_EXEC = Act(
    "the vector ALU writes EXEC (V_CMPX)",
    _by(_is_valu, lambda step: step.writes & _EXEC),
    writes=True,
)
SALU_WRITES_M0 = Act(
    "the scalar ALU writes M0", _by(_is_salu, lambda step: step.writes & _M0), writes=True
)


def _read_by_memory(step: Step) -> int:
    return step.reads & _SCALAR_BITS | _EXEC | _M0 * _loads_to_lds(step)


def _loads_to_lds(step: Step) -> bool:
    instruction = step.instruction
    into = instruction.traits.implies_m0 or bool(instruction.immediates.get("lds"))
    return step.is_vmem and into


MEMORY_READS_SCALAR = Act(
    "a vector memory instruction reads it", _by(lambda step: step.is_vmem, _read_by_memory)
)


def _lane_select(step: Step) -> int:
    is_lane = step.instruction.traits.single_lane is not None
    return step.operands("src1") & _SCALAR_BITS if is_lane else 0


LANE_SELECT = Act("V_READLANE or V_WRITELANE selects a lane by it", _lane_select)
DIVISION_READS_VCC = Act("V_DIV_FMAS reads VCC", lambda step: step.operands("vcc"))


def _zero_tests(step: Step) -> int:
    """`src_vccz` and `src_execz` say whether a register is zero."""
    found = 0
    if step.is_valu:
        for operand in step.instruction.operands:
            if isinstance(operand, SpecialSource):
                found |= {"src_vccz": _VCC, "src_execz": _EXEC}.get(operand.name, 0)
    return found


READS_ZERO_TEST = Act("the vector ALU reads VCCZ or EXECZ", _zero_tests)


def _takes_m0(step: Step) -> int:
    traits = step.instruction.traits
    reads = traits.implies_m0 or traits.moves_relative_scalars or _loads_to_lds(step)
    return _M0 * (reads or bool(step.instruction.immediates.get("gds")))


TAKES_M0 = Act(
    "S_MOVREL, S_SENDMSG, S_TTRACEDATA, an add-TID access or a load to LDS takes it", _takes_m0
)


# EXEC, where no register is named.


def _is_dpp(step: Step) -> bool:
    return step.instruction.modifiers.dpp is not None


def _is_permlane(step: Step) -> bool:
    return step.is_valu and step.instruction.traits.moved_role is not None


def _is_lane(step: Step) -> bool:
    return step.instruction.traits.single_lane is not None


def _exec(_: Step) -> int:
    return _EXEC


DPP_UNDER_EXEC = Act("an instruction with DPP is executed", _by(_is_dpp, _exec))
LANE_UNDER_EXEC = Act(
    "V_READLANE, V_READFIRSTLANE or V_WRITELANE is executed", _by(_is_lane, _exec)
)
PERMLANE_UNDER_EXEC = Act("V_PERMLANE* is executed", _by(_is_permlane, _exec))


class _Named(Enum):
    """Instructions that have hazards of their own."""

    TO_ACCUMULATOR = auto()
    FROM_ACCUMULATOR = auto()
    DOUBLE_SUM = auto()
    TRAP_RETURN = auto()


_NAMED = {
    "v_accvgpr_write_b32": _Named.TO_ACCUMULATOR,
    "v_accvgpr_read_b32": _Named.FROM_ACCUMULATOR,
    "v_fma_f64": _Named.DOUBLE_SUM,
    "v_fmac_f64": _Named.DOUBLE_SUM,
    "s_rfe_b64": _Named.TRAP_RETURN,
}


def _named(step: Step) -> _Named | None:
    return _NAMED.get(step.instruction.traits.operation)


def _takes_accumulators_in(step: Step) -> bool:
    return step.is_product or _named(step) is _Named.TO_ACCUMULATOR


PRODUCT_UNDER_EXEC = Act("an MFMA is executed", _by(_is_product, _exec))
MATRIX_UNDER_EXEC = Act(
    "an MFMA or V_ACCVGPR_WRITE is executed", _by(_takes_accumulators_in, _exec)
)


# Hardware registers.


def _hardware_register(step: Step) -> int:
    return 1 << _HARDWARE + step.instruction.immediates["hwreg_id"]


def _reads_hardware(step: Step) -> bool:
    is_access = step.instruction.traits.immediate is Immediate.HARDWARE_REGISTER
    return is_access and step.instruction.traits.writes_mode is None


def _writes_hardware(step: Step) -> bool:
    is_access = step.instruction.traits.immediate is Immediate.HARDWARE_REGISTER
    return is_access and step.instruction.traits.writes_mode is not None


SETREG = Act(
    "S_SETREG writes a hardware register", _by(_writes_hardware, _hardware_register), writes=True
)
GETREG = Act("S_GETREG reads it", _by(_reads_hardware, _hardware_register))
SETREG_AGAIN = Act("S_SETREG writes it", _by(_writes_hardware, _hardware_register), writes=True)
_TRAPSTS = 3
RETURN_FROM_TRAP = Act(
    "S_RFE returns from the trap handler (TRAPSTS)",
    lambda step: (1 << _HARDWARE + _TRAPSTS) * (_named(step) is _Named.TRAP_RETURN),
)


# Vector registers.

WRITES_VECTOR = Act("an instruction writes a VGPR", _vectors_written, writes=True)
VALU_WRITES_VECTOR = Act(
    "the vector ALU writes a VGPR", _by(_is_valu, _vectors_written), writes=True
)
VALU_WRITES_VGPR = Act(
    "the vector ALU writes a VGPR", _by(_is_valu, lambda step: step.writes & _VGPRS), writes=True
)
VALU_READS_VECTOR = Act("the vector ALU reads it", _by(_is_valu, _vectors_read))


def _dpp_reads(step: Step) -> int:
    """LLVM takes the destination, whose lanes may stay, as read."""
    return (step.reads | step.writes) & _VECTOR_BITS


DPP_READS = Act("an instruction with DPP reads it, or may keep it", _by(_is_dpp, _dpp_reads))
PERMLANE_READS = Act("V_PERMLANE*_SWAP reads it", _by(_is_permlane, _vectors_read))


def _one_lane_read(step: Step) -> int:
    reads = step.instruction.traits.single_lane is SingleLane.READ
    return _vectors_read(step) if reads else 0


LANE_READ = Act("V_READLANE or V_READFIRSTLANE reads it", _one_lane_read)

TRANSCENDENTAL_WRITES = Act(
    "a transcendental instruction writes a VGPR",
    _by(lambda step: step.is_transcendental, _vectors_written),
    writes=True,
)
PLAIN_VALU_READS = Act(
    "the vector ALU reads it, not for a transcendental instruction",
    _by(lambda step: step.is_valu and not step.is_transcendental, _vectors_read),
)

# Rounded at random, they move their result whatever OPSEL says.
_ALWAYS_MOVED = frozenset(f"v_cvt_scalef32_sr_pk_fp4_{kind}" for kind in ("f32", "f16", "bf16"))


def _moves_result(step: Step) -> bool:
    """Whether a result is put into another place of its register than it was computed in."""
    instruction = step.instruction
    modifiers, traits = instruction.modifiers, instruction.traits
    if modifiers.sdwa is not None:
        return modifiers.sdwa.destination not in (None, 6)
    of_byte = 4 if traits.part_bits == 8 else 0
    return bool(modifiers.op_sel & (8 | of_byte)) or traits.operation in _ALWAYS_MOVED


MOVED_RESULT = Act(
    "the vector ALU writes a part of a VGPR, by SDWA or OPSEL",
    _by(lambda step: step.is_valu and _moves_result(step), _vectors_written),
    writes=True,
)
VALU_TOUCHES = Act(
    "the vector ALU reads or writes it",
    _by(_is_valu, lambda step: (step.reads | step.writes) & _VECTOR_BITS),
)

_WIDE = 3  # dwords: more than 8 bytes


def _wide_store(step: Step) -> int:
    """A buffer store with a scalar offset takes its data in time."""
    if not step.is_store or not step.is_vmem:
        return 0
    if step.operands("soffset"):
        return 0
    data = [one for spec, one in operands_of(step.instruction) if spec.role == "vdata"]
    return union(bits_of(one) for one in data if one.dwords >= _WIDE)


WIDE_STORE = Act("a vector memory instruction stores more than 8 bytes a lane", _wide_store)
VALU_OVERWRITES = Act(
    "the vector ALU overwrites them", _by(_is_valu, _vectors_written), writes=True
)


# Dot products.


def _is_dot(step: Step) -> bool:
    return step.instruction.traits.is_dot


def _works(step: Step) -> bool:
    return (step.is_valu or step.is_memory) and not step.is_product


DOT_WRITES = Act("a dot product writes a VGPR", _by(_is_dot, _vectors_written), writes=True)
WORK_READS = Act("the vector ALU or a memory instruction reads it", _by(_works, _vectors_read))
WORK_WRITES = Act(
    "the vector ALU or a load overwrites it", _by(_works, _vectors_written), writes=True
)


# Products of matrices.


def _c_of(step: Step) -> int:
    """The C of a sparse product is its destination, and its third operand the indices."""
    product = step.instruction.traits.block_product
    return 0 if product is None else step.operands("vdst" if product.sparse else "src2")


def _is_double(step: Step) -> bool:
    product = step.instruction.traits.block_product
    return product is not None and product.result == "f64"


def _uses_matrix_unit(step: Step) -> bool:
    product = step.instruction.traits.block_product
    processor = step.instruction.opcode.instruction_set.name
    return product is not None and product.result != "f64" and product.is_xdl(processor)


PRODUCT_WRITES = Act("an MFMA writes its result", _by(_is_product, _vectors_written), writes=True)
PRODUCT_C = Act("an MFMA takes it as C", lambda step: _c_of(step) & _VECTOR_BITS)


def _factors(step: Step) -> int:
    """The destination of a sparse product is among its sources, as C."""
    product = step.instruction.traits.block_product
    c = "vdst" if product is not None and product.sparse else "src2"
    found = 0
    for spec, register in operands_of(step.instruction):
        if spec.read and spec.role != c:
            found |= bits_of(register)
    return found & _VECTOR_BITS


PRODUCT_FACTOR = Act("an MFMA takes it as A, B, indices or scales", _by(_is_product, _factors))
PRODUCT_READS = Act("an MFMA reads it", _by(_is_product, _vectors_read))
MATRIX_READS_VGPR = Act(
    "an MFMA or V_ACCVGPR_WRITE reads it",
    _by(_takes_accumulators_in, lambda step: step.reads & _VGPRS),
)
VALU_READS_RESULT = Act(
    "the vector ALU reads it",
    _by(lambda step: step.is_valu and not step.is_product, _vectors_read),
)
MEMORY_READS = Act("a memory instruction reads it", _by(lambda step: step.is_memory, _vectors_read))
SIMPLE_VALU_WRITES = Act(
    "the vector ALU writes a VGPR, with neither MFMA nor dot product",
    _by(lambda step: step.is_valu and not step.is_product and not _is_dot(step), _vectors_written),
    writes=True,
)
MATRIX_UNIT_READS_C = Act(
    "an MFMA of the matrix unit reads C",
    _by(_uses_matrix_unit, lambda step: _c_of(step) & _VECTOR_BITS),
)
DOUBLE_PRODUCT = Act("an MFMA of f64 is executed", _by(_is_double, lambda _: _ITSELF))
DOUBLE_SUM = Act(
    "V_FMA_F64 or V_FMAC_F64 is executed",
    lambda step: _ITSELF * (_named(step) is _Named.DOUBLE_SUM),
)


def _moves(*names: _Named) -> Callable[[Step], bool]:
    return lambda step: _named(step) in names


TO_ACCUMULATOR = Act(
    "V_ACCVGPR_WRITE writes an AGPR",
    _by(_moves(_Named.TO_ACCUMULATOR), _vectors_written),
    writes=True,
)
TO_ACCUMULATOR_AGAIN = Act(
    "V_ACCVGPR_WRITE overwrites it",
    _by(_moves(_Named.TO_ACCUMULATOR), _vectors_written),
    writes=True,
)
FROM_ACCUMULATOR = Act(
    "V_ACCVGPR_READ writes a VGPR",
    _by(_moves(_Named.FROM_ACCUMULATOR), _vectors_written),
    writes=True,
)
FROM_ACCUMULATOR_READS = Act(
    "V_ACCVGPR_READ reads it", _by(_moves(_Named.FROM_ACCUMULATOR), _vectors_read)
)
ACCUMULATOR_MOVE = Act(
    "V_ACCVGPR_READ or V_ACCVGPR_WRITE is executed",
    _by(_moves(_Named.TO_ACCUMULATOR, _Named.FROM_ACCUMULATOR), lambda _: _ITSELF),
)
PLAIN_ALU_WRITES = Act(
    "the vector ALU writes a VGPR, without the matrix unit",
    _by(
        lambda step: (
            step.is_valu
            and not step.is_product
            and not _moves(_Named.TO_ACCUMULATOR, _Named.FROM_ACCUMULATOR)(step)
        ),
        _vectors_written,
    ),
    writes=True,
)


# Direct loads of LDS.

MEMORY_TOUCHES = Act(
    "a memory instruction reads or writes a VGPR",
    _by(lambda step: step.is_memory, lambda step: (step.reads | step.writes) & _VECTOR_BITS),
)
DIRECT_LOAD_WRITES = Act(
    "LDS_DIRECT_LOAD or LDS_PARAM_LOAD writes it",
    _by(lambda step: step.instruction.traits.unit is Unit.LDS_DIRECT, _vectors_written),
    writes=True,
)


# WMMA.


def _is_wmma(step: Step) -> bool:
    return step.instruction.traits.matrix is not None


WMMA_WRITES = Act("WMMA or SWMMAC writes its result", _by(_is_wmma, _vectors_written), writes=True)
WMMA_FACTOR = Act(
    "WMMA or SWMMAC takes it as A or B",
    _by(_is_wmma, lambda step: step.operands("src0", "src1") & _VECTOR_BITS),
)


def _wmma_factors(step: Step) -> int:
    product = step.instruction.traits.matrix
    assert product is not None
    roles = ("src0", "src1", "src2") if product.sparse else ("src0", "src1")
    return step.operands(*roles) & _VECTOR_BITS


WMMA_FACTOR_OR_INDEX = Act(
    "WMMA or SWMMAC takes it as A, B or indices", _by(_is_wmma, _wmma_factors)
)


# Scalar registers of gfx11 and gfx12, whose writes and reads may pass each other.


def _masks_read(step: Step) -> int:
    found = 0
    for spec, register in operands_of(step.instruction):
        if spec.read and spec.type == "mask":
            found |= bits_of(register)
    return found & _OWN_SCALARS


def _pairs(step: Step) -> int:
    """Scalar registers are watched in pairs."""
    reads = step.reads & _OWN_SCALARS
    return reads | (reads & _EVEN) << 1 | (reads & ~_EVEN) >> 1


def _computes_scalars(step: Step) -> bool:
    """A call takes longer than what it writes."""
    return step.is_salu and not step.instruction.traits.flow.is_call


VALU_READS_MASK = Act("the vector ALU reads a mask of lanes", _by(_is_valu, _masks_read))
VALU_READS_PAIR = Act("the vector ALU reads an SGPR of a pair", _by(_is_valu, _pairs))
SALU_WRITES_OWN = Act(
    "the scalar ALU writes an SGPR or VCC, not for a call",
    _by(_computes_scalars, lambda step: step.writes & _OWN_SCALARS),
    writes=True,
)
ALU_READS_OWN = Act(
    "the vector or scalar ALU reads it", _by(_is_alu, lambda step: step.reads & _OWN_SCALARS)
)
VALU_WRITES_SGPR = Act(
    "the vector ALU writes an SGPR", _by(_is_valu, lambda step: step.writes & _SGPRS), writes=True
)
VALU_READS_SGPR = Act("the vector ALU reads it", _by(_is_valu, lambda step: step.reads & _SGPRS))
VALU_READS_VCC = Act("the vector ALU reads it", _by(_is_valu, lambda step: step.reads & _VCC))
SALU_READS_SGPR = Act(
    "the scalar ALU reads an SGPR", _by(_is_salu, lambda step: step.reads & _SGPRS)
)
SALU_READS_VCC = Act("the scalar ALU reads VCC", _by(_is_salu, lambda step: step.reads & _VCC))
SALU_WRITES_VCC = Act(
    "the scalar ALU writes VCC", _by(_is_salu, lambda step: step.writes & _VCC), writes=True
)
SALU_WRITES_EXEC = Act(
    "the scalar ALU writes EXEC", _by(_is_salu, lambda step: step.writes & _EXEC), writes=True
)


# Clauses: runs of instructions that XNACK may repeat.

SCALAR_CLAUSE = Act(
    "a scalar memory instruction is executed",
    _by(lambda step: step.instruction.traits.unit is Unit.SCALAR_MEMORY, lambda _: _ITSELF),
)
VECTOR_CLAUSE = Act(
    "a vector memory instruction is executed", _by(lambda step: step.is_vmem, lambda _: _ITSELF)
)


# The instruction before the release of VGPRs.

_RELEASES_VGPRS = 3  # MSG_DEALLOC_VGPRS


def _is_release(step: Step) -> bool:
    instruction = step.instruction
    return (
        instruction.traits.idle is Idle.MESSAGE
        and instruction.traits.immediate is Immediate.MESSAGE
        and instruction.immediates.get("simm16") == _RELEASES_VGPRS
    )


def _is_nop(step: Step) -> bool:
    return step.instruction.traits.idle is Idle.DELAY


ANY = Act("any instruction", _by(lambda step: not _is_nop(step), lambda _: _ITSELF))
RELEASE = Act("S_SENDMSG releases the VGPRs", _by(_is_release, lambda _: _ITSELF))


def union(sets: Iterable[int]) -> int:
    """Return all members of several sets."""
    found = 0
    for each in sets:
        found |= each
    return found
