"""What an opcode does, in words: the sentence of each operation, found by its name.

A phrase has places for operands: `{d}` for the first that is written and `{e}` for the second;
`{a}`, `{b}`, `{c}`, `{m}` for those that are only read, in the order of the opcode's row, in memory
instructions for the data; `{k}` for the immediate, `{target}` for the address of a jump. `$name` in
a row is what its pattern's group of that name has matched. Source: RDNA 4 ISA, chapter 16.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from string import Template

from amdjit.isa.mnemonics.scalar_phrases import SCALAR_PHRASES
from amdjit.isa.mnemonics.vector_phrases import VECTOR_PHRASES

__all__ = ["phrase_of"]


@cache
def phrase_of(operation: str) -> str:
    """Return the phrase of an operation, as `Traits.operation` names it; "" if its traits say all
    of it."""
    for pattern, phrase in _rows():
        match = re.fullmatch(pattern, operation)
        if match is not None:
            groups = {name: text or "" for name, text in match.groupdict().items()}
            return Template(phrase).substitute(groups)
    return ""


def _rows() -> Iterator[tuple[str, str]]:
    return chain(SCALAR_PHRASES, VECTOR_PHRASES, MEMORY_PHRASES)


# Phrases of memory instructions, by patterns of their names; see `phrases`.
#
# `{m}` is the memory at the instruction's address, `{a}` and `{b}` are the data; loads and stores
# say only what their traits do not, such as how a byte is extended.


# The prefix of an atomic of any memory, and what follows the operation in LDS if it returns.
_ATOMIC = r"(ds|(flat|global|buffer)_atomic)_"
_T = r"(_rtn)?_(?P<t>[biuf]\d+)"

_ATOMICS = (
    (_ATOMIC + r"min(_rtn)?_(?P<t>f\d+)", "{m} = {a} in $t if that is smaller than {m}"),
    (_ATOMIC + r"max(_rtn)?_(?P<t>f\d+)", "{m} = {a} in $t if that is larger than {m}"),
    (_ATOMIC + "add" + _T, "{m} = {m} + {a} in $t"),
    (_ATOMIC + "sub" + _T, "{m} = {m} - {a} in $t"),
    (_ATOMIC + "rsub" + _T, "{m} = {a} - {m} in $t"),
    (_ATOMIC + "sub_clamp" + _T, "{m} = {m} - {a} in $t, not below 0"),
    (_ATOMIC + "cond_sub" + _T, "{m} = {m} - {a} in $t if that is not below 0"),
    (_ATOMIC + "min" + _T, "{m} = the smaller of {m} and {a} in $t"),
    (_ATOMIC + "max" + _T, "{m} = the larger of {m} and {a} in $t"),
    (_ATOMIC + "min_num" + _T, "{m} = the smaller of {m} and {a} in $t; a number wins over a NaN"),
    (_ATOMIC + "max_num" + _T, "{m} = the larger of {m} and {a} in $t; a number wins over a NaN"),
    (_ATOMIC + "inc" + _T, "{m} = {m} + 1 in $t, or 0 from {a} on"),
    (_ATOMIC + "dec" + _T, "{m} = {m} - 1 in $t, or {a} at 0 and above {a}"),
    (_ATOMIC + "and" + _T, "{m} = {m} & {a} in $t"),
    (_ATOMIC + "or" + _T, "{m} = {m} | {a} in $t"),
    (_ATOMIC + "xor" + _T, "{m} = {m} ^ {a} in $t"),
    (_ATOMIC + "mskor" + _T, "{m} = ({m} & ~{a}) | {b} in $t"),
    (r"ds_wrap_rtn_b32", "{m} = {m} - {a} in u32 if that is not below 0, else {m} + {b}"),
    (_ATOMIC + r"(swap|storexchg)" + _T, "{m} = {a} in $t"),
    (
        r"ds_storexchg_2addr_rtn_(?P<t>b\d+)",
        "{m} = {a} and {b} in $t, offsets in elements",
    ),
    (
        r"ds_storexchg_2addr_stride64_rtn_(?P<t>b\d+)",
        "{m} = {a} and {b} in $t, offsets in 64 elements",
    ),
    (
        r"(flat|global|buffer)_atomic_cmpswap" + _T,
        "{m} = the first half of {a} in $t if {m} equals the second half",
    ),
    (r"ds_cmpstore" + _T, "{m} = {a} in $t if {m} equals {b}"),
    (
        r"ds_condxchg32_rtn_b64",
        "each half of {m} = the same half of {a} without its top bit, if that bit is 1",
    ),
    (_ATOMIC + r"pk_add(_rtn)?_(?P<t>b?f16)", "{m} = {m} + {a}, both halves in $t"),
    (r"global_atomic_ordered_add_b64", "{m} = {m} + {a} in b64, in the order of the waves"),
    (r"ds_append", "{m} = {m} + the number of active lanes"),
    (r"ds_consume", "{m} = {m} - the number of active lanes"),
)

_LANES = (
    (r"ds_nop", "does nothing"),
    (r"ds_swizzle_b32", "{d} = {a} of another lane, by the pattern {k}"),
    (r"ds_permute_b32", "{b} goes to {d} of the lane {a} / 4"),
    (r"ds_bpermute_b32", "{d} = {b} of the lane {a} / 4, 0 if that is inactive"),
    (r"ds_bpermute_fi_b32", "{d} = {b} of the lane {a} / 4, also if that is inactive"),
    (r"ds_param_load", "{d} = the parameters of the attribute {k} from LDS"),
    (r"ds_direct_load", "{d} = the dword of LDS at the address in M0, the same for all lanes"),
)

# Appended to what the traits of loads and stores say.
_DETAILS = (
    (r"\w+_load(_d16(_hi)?)?_u(8|16)(_d16(_hi)?)?", "zero-extended"),
    (r"\w+_load(_d16(_hi)?)?_i(8|16)(_d16(_hi)?)?", "sign-extended"),
    (r"t?buffer_(load|store)_format_(?P<n>[xyzw]+)", "components $n"),
    (r"t?buffer_(load|store)_d16(_hi)?_format_(?P<n>[xyzw]+)", "components $n in 16 bits each"),
    (r"\w+_addtid_b32", "at 4 bytes times the lane's number"),
    (r"s_prefetch_(?P<w>inst|data)_pc_rel", "$w, relative to the instruction"),
    (r"s_(buffer_)?prefetch_(?P<w>inst|data)", "$w"),
    (r"ds_\w+_2addr_b\d+", "offsets in elements"),
    (r"ds_\w+_2addr_stride64_b\d+", "offsets in 64 elements"),
    (r"\w+_block", "the registers that M0 marks of 32"),
)

MEMORY_PHRASES: tuple[tuple[str, str], ...] = (*_ATOMICS, *_LANES, *_DETAILS)
