"""DS_*_SRC2 of gfx908: atomics whose operand is in LDS, too."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.memory.access import load_vectors, store_vectors
from amdjit.emulator.instructions.memory.atomics import Operation, emit_atomic
from amdjit.emulator.instructions.memory.lds import lds_address
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction


def _distance(instruction: Instruction) -> int:
    """Return the bytes from the result to the operand: 4 times a signed number of 15 bits (MI100
    ISA, DS_ADD_SRC2_U32)."""
    offset = instruction.immediates["offset"]
    if offset & 0x8000:
        # The number would be the upper half of the address.
        raise Untranslatable(
            instruction, "no document says which bits of an address with a distance are an address"
        )
    return 4 * (offset - 0x8000 if offset & 0x4000 else offset)


def _combine(operation: Operation) -> Emitter:
    """Change one place in LDS by what is in another."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        size = operation.bits // 8
        operand = lds_address(frame, instruction, _distance(instruction))
        data = load_vectors(frame, instruction, operand, size)
        result = lds_address(frame, instruction, 0)
        if operation.name == "write":
            store_vectors(frame, instruction, result, size, data)
        else:
            emit_atomic(
                frame, instruction, operation=operation, address=result, data=data, result=None
            )

    return emit


_FLOATS = {"min": "less_f", "max": "greater_f"}
_INTEGERS = {
    **{f"{name}_u": name for name in ("add", "sub", "rsub", "inc", "dec")},
    **{f"{name}_{sign}": f"{name}_{sign}" for name in ("min", "max") for sign in "iu"},
    **{f"{name}_b": name for name in ("and", "or", "xor", "write")},
}


def _table() -> dict[str, Emitter]:
    table: dict[str, Emitter] = {"ds_add_src2_f32": _combine(Operation("add_f", 32))}
    for bits in (32, 64):
        for name, native in _INTEGERS.items():
            verb, _, sign = name.partition("_")
            table[f"ds_{verb}_src2_{sign}{bits}"] = _combine(Operation(native, bits))
        for verb, native in _FLOATS.items():
            table[f"ds_{verb}_src2_f{bits}"] = _combine(Operation(native, bits))
    return table


LDS_OPERANDS: Mapping[str, Emitter] = _table()
