"""What the names of opcodes say: the one place that looks at the text of mnemonics.

`traits_of` gives facts, `phrase_of` words.
"""

from amdjit.isa.mnemonics.phrases import phrase_of
from amdjit.isa.mnemonics.rules import OperandFacts, traits_of

__all__ = ["OperandFacts", "phrase_of", "traits_of"]
