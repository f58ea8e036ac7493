"""Keep what LLVM's instruction selection would lose: the signs of zeros, and the ones in an `or` of
64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amdjit.target import Target

__all__ = ["keep_ones_of_wide_or", "keep_signs_of_zeros"]


# The first processor that has `v_fma_mixlo_bf16`.
_MIXES_BF16 = (12, 5, 0)

_OPERAND = r"%[^\s,]+|<[^>\n]*>|splat \([^)\n]*\)|[^\s,]+"
# Not f64, which is subtracted by adding, nor bf16, which is computed as f32.
_SUM = re.compile(
    r"^  (?P<name>%\S+) = (?P<what>(?P<operation>fsub|fadd) (?P<flags>(?:[a-z]+ )*)"
    rf"(?P<type>float|half|<\d+ x (?:float|half)>) (?P<left>{_OPERAND}), (?P<right>{_OPERAND}))"
    r"(?P<metadata>(?:, ![^\n]*)?)$",
    re.MULTILINE,
)
_PRODUCT = re.compile(
    r"^  (?P<name>%\S+) = (?P<what>(?P<operation>fmul|fdiv) (?P<flags>(?:[a-z]+ )*)"
    rf"(?P<type>float|<\d+ x float>) (?P<left>{_OPERAND}), (?P<right>{_OPERAND}))"
    r"(?P<metadata>(?:, ![^\n]*)?)$",
    re.MULTILINE,
)
_ROUNDED = re.compile(
    r"= fptrunc (?P<flags>(?:[a-z]+ )*)(?:float|<\d+ x float>) (?P<value>%\S+) "
    r"to (?:<\d+ x )?(?P<to>half|bfloat)\b"
)
# Instruction selection sees a product through these.
_TRANSPARENT = re.compile(
    r"^  (?P<name>%\S+) = (?:fneg|extractelement|insertelement|shufflevector|bitcast|freeze|select|"
    r"(?:tail )?call (?:[a-z]+ )*(?:float|<\d+ x float>) @llvm\.fabs)\b(?P<operands>.*)$",
    re.MULTILINE,
)
_VALUE = re.compile(r"%[^\s,)]+")
_FUNCTION = re.compile(r"^define .*?^}$", re.MULTILINE | re.DOTALL)
_ZERO = re.compile(r"(?<!-)(?:0\.0+e\+00|0xH0000)|zeroinitializer")
_NO_SIGNED_ZEROS = frozenset({"nsz", "fast"})
_MANGLED = {"float": "f32", "half": "f16"}


def keep_signs_of_zeros(llvm_text: str, target: Target) -> str:
    """Return optimised IR in which differences from zero and rounded products keep their signs."""
    declarations: dict[str, None] = {}
    text = _keep_subtractions(llvm_text, declarations)
    if "= fptrunc " in text:
        to_bf16 = target.isa >= _MIXES_BF16
        text = _FUNCTION.sub(lambda found: _keep_products(found[0], to_bf16, declarations), text)
    return text + "".join(f"\n{line}\n" for line in declarations if line not in llvm_text)


def _keep_subtractions(llvm_text: str, declarations: dict[str, None]) -> str:
    def canonical(found: re.Match[str]) -> str:
        if _ignores_signs(found) or not _is_from_zero(found, llvm_text):
            return found[0]
        return _canonical(found, declarations)

    return _SUM.sub(canonical, llvm_text)


def _canonical(found: re.Match[str], declarations: dict[str, None]) -> str:
    type = found["type"]
    function = _intrinsic("canonicalize", type)
    declarations[f"declare {type} {function}({type})"] = None
    # The result keeps the name: LLVM wants names that are numbers to be in order.
    exact = f"%amdjit.exact.{found.start()}"
    return (
        f"  {exact} = {found['what']}{found['metadata']}\n"
        f"  {found['name']} = call {type} {function}({type} {exact}){found['metadata']}"
    )


def _is_from_zero(found: re.Match[str], llvm_text: str) -> bool:
    """Return whether this is `0.0 - x`, or `-x + 0.0` as it is written where nothing is
    optimised."""
    left, right = found["left"], found["right"]
    if found["operation"] == "fsub":
        return bool(_ZERO.search(left))
    return bool(_ZERO.search(left + right)) and any(
        f"  {operand} = fneg " in llvm_text for operand in (left, right)
    )


def _keep_products(function: str, to_bf16: bool, declarations: dict[str, None]) -> str:
    rounded = set(_rounded(function, to_bf16))

    def with_negative_zero(found: re.Match[str]) -> str:
        if found["name"] not in rounded or _ignores_signs(found):
            return found[0]
        if found["operation"] == "fdiv":
            # LLVM multiplies instead of dividing by a power of two.
            return found[0] if "%" in found["right"] else _canonical(found, declarations)
        type = found["type"]
        called = _intrinsic("fma", type)
        declarations[f"declare {type} {called}({type}, {type}, {type})"] = None
        zero = "-0.000000e+00" if type == "float" else "splat (float -0.000000e+00)"
        operands = ", ".join(
            f"{type} {operand}" for operand in (found["left"], found["right"], zero)
        )
        return (
            f"  {found['name']} = call {found['flags']}{type} "
            f"{called}({operands}){found['metadata']}"
        )

    return _PRODUCT.sub(with_negative_zero, function) if rounded else function


def _rounded(function: str, to_bf16: bool) -> Iterator[str]:
    """Yield the names of f32 values that are rounded to 16 bits, directly or after being moved."""
    through = {found["name"]: found["operands"] for found in _TRANSPARENT.finditer(function)}
    roundings = [one for one in _ROUNDED.finditer(function) if to_bf16 or one["to"] == "half"]
    found = [rounding["value"] for rounding in roundings if not _ignores_signs(rounding)]
    seen: set[str] = set()
    while found:
        value = found.pop()
        if value not in seen:
            seen.add(value)
            yield value
            found.extend(_VALUE.findall(through.get(value, "")))


def _ignores_signs(found: re.Match[str]) -> bool:
    return bool(_NO_SIGNED_ZEROS & set(found["flags"].split()))


def _intrinsic(name: str, type: str) -> str:
    count, _, element = type.strip("<>").rpartition(" x ")
    return f"@llvm.{name}.{f'v{count}' if count else ''}{_MANGLED[element]}"


# Keep the ones that LLVM's instruction selection would lose in an `or` of 64 bits.
#
#     %m = select i1 %c, i64 -5, i64 -7
#     %o = or i64 %m, %y
# ->
#     %a = xor i64 %m, -1
#     %b = xor i64 %y, -1
#     %n = and i64 %a, %b
#     %o = xor i64 %n, -1
#
# Both values of `%m` have ones in their upper 32 bits, and so has `%o`. LLVM 22 computes an `or` of
# 64 bits in vector registers as two of 32 bits, and where one half of an operand is known to be all
# ones, it takes the other operand's half for the result. In an `and` it does not err.


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
