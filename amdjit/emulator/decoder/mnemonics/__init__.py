"""What the names of opcodes say: the one place that looks at the text of mnemonics."""

from amdjit.emulator.decoder.mnemonics.rules import OperandFacts, traits_of

__all__ = ["OperandFacts", "traits_of"]
