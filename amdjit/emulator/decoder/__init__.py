"""Decoder of gfx1201 machine code."""

from amdjit.emulator.decoder.decode import decode, decode_all
from amdjit.emulator.decoder.errors import UndecodableInstruction
from amdjit.emulator.decoder.text import disassemble

__all__ = ["UndecodableInstruction", "decode", "decode_all", "disassemble"]
