"""Keep the ones that LLVM's instruction selection would lose in an `or` of 64 bits.

    %m = select i1 %c, i64 -5, i64 -7
    %o = or i64 %m, %y
->
    %a = xor i64 %m, -1
    %b = xor i64 %y, -1
    %n = and i64 %a, %b
    %o = xor i64 %n, -1

Both values of `%m` have ones in their upper 32 bits, and so has `%o`. LLVM 22 computes an `or` of
64 bits in vector registers as two of 32 bits, and where one half of an operand is known to be all
ones, it takes the other operand's half for the result. In an `and` it does not err.
"""

from __future__ import annotations

import re

__all__ = ["keep_ones_of_wide_or"]

_OPERAND = r"%[^\s,]+|<[^>\n]*>|splat \([^)\n]*\)|[^\s,]+"
_TYPE = r"i64|<\d+ x i64>"
_OR = re.compile(
    rf"^  (?P<name>%\S+) = or (?:disjoint )?(?P<type>{_TYPE}) (?P<left>{_OPERAND}), "
    rf"(?P<right>{_OPERAND})(?P<metadata>(?:, ![^\n]*)?)$",
    re.MULTILINE,
)
# What instruction selection may know half of: it computes each half of these on its own.
_HALVED = re.compile(
    rf"^  (?P<name>%\S+) = (?:(?:xor|or(?: disjoint)?) (?:{_TYPE}) (?P<operands>.*)|"
    rf"select i1 [^,]+, (?:{_TYPE}) (?P<chosen>.*)|bitcast <.* to (?:{_TYPE}))(?:, ![^\n]*)?$",
    re.MULTILINE,
)
_NUMBER = re.compile(r"(?<![\w.%!])-?\d+(?![\w.])")
_FUNCTION = re.compile(r"^define .*?^}$", re.MULTILINE | re.DOTALL)
_ONES = 2**32 - 1


def keep_ones_of_wide_or(llvm_text: str) -> str:
    """Return optimised IR in which each `or` of a value that may have 32 ones keeps them."""
    if _OR.search(llvm_text) is None:
        return llvm_text
    return _FUNCTION.sub(lambda found: _keep_in_function(found[0]), llvm_text)


def _keep_in_function(function: str) -> str:
    halved = {found["name"] for found in _HALVED.finditer(function) if _may_have_ones(found)}

    def by_and(found: re.Match[str]) -> str:
        if halved.isdisjoint((found["left"], found["right"])):
            return found[0]
        type, metadata = found["type"], found["metadata"]
        ones = "-1" if type == "i64" else "splat (i64 -1)"
        made = [f"%amdjit.{part}.{found.start()}" for part in ("left", "right", "both")]
        # The result keeps the name: LLVM wants names that are numbers to be in order.
        lines = (
            (made[0], "xor", found["left"], ones),
            (made[1], "xor", found["right"], ones),
            (made[2], "and", made[0], made[1]),
            (found["name"], "xor", made[2], ones),
        )
        return "\n".join(
            f"  {name} = {operation} {type} {left}, {right}{metadata}"
            for name, operation, left, right in lines
        )

    return _OR.sub(by_and, function) if halved else function


def _may_have_ones(found: re.Match[str]) -> bool:
    constants = found["operands"] or found["chosen"]
    if constants is None:
        return True  # a vector's elements
    numbers = (int(number) for number in _NUMBER.findall(constants.partition(", !")[0]))
    return any(_ONES in (number >> 32 & _ONES, number & _ONES) for number in numbers)
