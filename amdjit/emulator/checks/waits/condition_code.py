"""Which instructions read SCC, and which write it (RDNA 4 ISA, chapter 16, "SOP2" to "SOPP")."""

from __future__ import annotations

import re

_READS = re.compile(r"s_(add_co_ci|sub_co_ci|cselect|cmov|cmovk|cbranch_scc)")
_WRITES = re.compile(
    r"s_(cmp_|bitcmp|add_co|sub_co|addk_co|and|or|xor|nand|nor|xnor|lsh|ashr|bfe|min_[iu]|max_[iu]|absdiff|not_|abs_"
    r"|bcnt|wqm|quadmask)"
)


def reads_scc(mnemonic: str) -> bool:
    """Tell whether an instruction reads SCC without naming it as an operand."""
    return _READS.match(mnemonic) is not None


def writes_scc(mnemonic: str) -> bool:
    """Tell whether an instruction writes SCC at once. `s_barrier_signal_isfirst` does later,
    counted by KMcnt."""
    return _WRITES.match(mnemonic) is not None
