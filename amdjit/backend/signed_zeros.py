"""Zeros with their signs, where LLVM's instruction selection alone would lose them.

It takes `0.0 - x`, which is 0.0 where x is 0.0, for `-x` where the instruction that uses it can
negate its operand (AMDGPUISelDAGToDAG.cpp, SelectVOP3ModsImpl), whether or not the signs of zeros
matter. A canonical form in between hides the subtraction, and is a copy at most, since the
subtraction's result is canonical.

It makes one instruction of a product of f32 that is rounded to f16 (and bf16, where there is one
for that), and that instruction adds 0.0: `v_fma_mixlo_f16 a, b, 0` turns -0.0 into 0.0
(VOP3PInstructions.td, MadFmaMixFP16Pats; LLVM 23 adds -0.0 instead). The product plus -0.0 is the
product, and is selected as that instruction with -0.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amdjit.target import Target

__all__ = ["keep_signs_of_zeros"]

# The first processor that has `v_fma_mixlo_bf16`.
_MIXES_BF16 = (12, 5, 0)

_OPERAND = r"%[^\s,]+|<[^>\n]*>|splat \([^)\n]*\)|[^\s,]+"
# f64 is subtracted by an addition, which is not taken so; bf16 by way of f32, whose bits are used.
_SUM = re.compile(
    r"^  (?P<name>%\S+) = (?P<what>(?P<operation>fsub|fadd) (?P<flags>(?:[a-z]+ )*)"
    rf"(?P<type>float|half|<\d+ x (?:float|half)>) (?P<left>{_OPERAND}), (?P<right>{_OPERAND}))"
    r"(?P<metadata>(?:, ![^\n]*)?)$",
    re.MULTILINE,
)
_PRODUCT = re.compile(
    rf"^  (?P<name>%\S+) = (?P<what>(?P<operation>fmul|fdiv) (?P<flags>(?:[a-z]+ )*)(?P<type>float|<\d+ x float>) "
    rf"(?P<left>{_OPERAND}), (?P<right>{_OPERAND}))(?P<metadata>(?:, ![^\n]*)?)$",
    re.MULTILINE,
)
_ROUNDED = re.compile(
    r"= fptrunc (?P<flags>(?:[a-z]+ )*)(?:float|<\d+ x float>) (?P<value>%\S+) to (?:<\d+ x )?(?P<to>half|bfloat)\b"
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
    """Return optimised IR whose subtractions from zero stay subtractions, and whose rounded
    products keep signs."""
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
    # Only the result keeps its name, since LLVM wants names that are numbers in order.
    exact = f"%amdjit.exact.{found.start()}"
    return (
        f"  {exact} = {found['what']}{found['metadata']}\n"
        f"  {found['name']} = call {type} {function}({type} {exact}){found['metadata']}"
    )


def _is_from_zero(found: re.Match[str], llvm_text: str) -> bool:
    """Tell `0.0 - x` and, as it stands where nothing is optimised, `-x + 0.0`."""
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
            # By a power of two it becomes a product.
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
    """Yield the names of f32 values that are rounded to 16 bits, directly or through what only
    moves them."""
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
