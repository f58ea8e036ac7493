"""Machine code of gfx1201 as instructions: tables of opcodes, formats, operands, and their text.

Imports nothing else of the emulator: amdjit reads code objects with it that never run here.
"""

from amdjit.emulator.decoder.decode import decode, decode_all
from amdjit.emulator.decoder.errors import UndecodableInstruction
from amdjit.emulator.decoder.text import disassemble

__all__ = ["UndecodableInstruction", "decode", "decode_all", "disassemble"]
