"""Keep the signs of zeros that LLVM's instruction selection would lose.

    %d = fsub float 0.0, %x
    %p = fmul float %x, %y
    %h = fptrunc float %p to half
->
    %e = fsub float 0.0, %x
    %d = call float @llvm.canonicalize.f32(float %e)
    %p = call float @llvm.fma.f32(float %x, float %y, float -0.0)
    %h = fptrunc float %p to half

`0.0 - x` is 0.0 for x = 0.0, and `-x` is -0.0. Instruction selection takes the one for the other
where the instruction that uses the difference can negate its operand (AMDGPUISelDAGToDAG.cpp,
SelectVOP3ModsImpl). The canonical form hides the subtraction; it costs a copy at most, because the
difference is canonical already.

A product of f32 that is rounded to f16 (or bf16, on processors with an instruction for that)
becomes one instruction, which adds 0.0: `v_fma_mixlo_f16 a, b, 0` turns -0.0 into 0.0
(VOP3PInstructions.td, MadFmaMixFP16Pats; LLVM 23 adds -0.0). With -0.0 written as the addend, the
same instruction is selected and the sign stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amdjit.target import Target

__all__ = ["keep_signs_of_zeros"]

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
