"""Machine code of gfx9 (CDNA), gfx11 and gfx12 as instructions: opcodes, operands and text.

Imports nothing else of the emulator: amdjit reads code objects with it that never run here.
"""

from amdjit.emulator.decoder.decode import decode, decode_all
from amdjit.emulator.decoder.errors import UndecodableInstruction
from amdjit.emulator.decoder.instruction_set import instruction_set_of
from amdjit.emulator.decoder.text import disassemble

__all__ = [
    "UndecodableInstruction",
    "decode",
    "decode_all",
    "disassemble",
    "instruction_set_of",
]
