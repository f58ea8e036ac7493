"""Subtractions from zero, kept as they are: `0.0 - x` is 0.0 where x is 0.0, and `-x` is not.

LLVM's instruction selection takes `0.0 - x` for `-x` where the instruction that uses it can negate its operand
(AMDGPUISelDAGToDAG.cpp, SelectVOP3ModsImpl), whether or not the signs of zeros matter. It does not look through
`llvm.arithmetic.fence`, which is no instruction of its own.
"""

from __future__ import annotations

import re

__all__ = ["keep_signs_of_zeros"]

_OPERAND = r"%[^\s,]+|<[^>\n]*>|splat \([^)\n]*\)|[^\s,]+"
# f64 is subtracted by an addition, which is not taken so; bf16 by way of f32, whose bits are used.
_SUM = re.compile(
    r"^  (?P<name>%\S+) = (?P<what>(?P<operation>fsub|fadd) (?P<flags>(?:[a-z]+ )*)"
    rf"(?P<type>float|half|<\d+ x (?:float|half)>) (?P<left>{_OPERAND}), (?P<right>{_OPERAND}))"
    r"(?P<metadata>(?:, ![^\n]*)?)$",
    re.MULTILINE,
)
_ZERO = re.compile(r"(?<!-)(?:0\.0+e\+00|0xH0000)|zeroinitializer")
_NO_SIGNED_ZEROS = frozenset({"nsz", "fast"})
_MANGLED = {"float": "f32", "half": "f16"}


def keep_signs_of_zeros(llvm_text: str) -> str:
    """Return optimised IR in which no subtraction from zero, of f32 or f16, can become a negation."""
    fenced: set[str] = set()

    def fence(found: re.Match[str]) -> str:
        if _NO_SIGNED_ZEROS & set(found["flags"].split()) or not _is_from_zero(found, llvm_text):
            return found[0]
        type = found["type"]
        fenced.add(type)
        # Only the result keeps its name, since LLVM wants names that are numbers in order.
        exact = f"%amdjit.exact.{found.start()}"
        return (
            f"  {exact} = {found['what']}{found['metadata']}\n"
            f"  {found['name']} = call {type} {_fence(type)}({type} {exact}){found['metadata']}"
        )

    text = _SUM.sub(fence, llvm_text)
    declarations = (f"declare {type} {_fence(type)}({type})" for type in sorted(fenced))
    return text + "".join(f"\n{line}\n" for line in declarations if line not in llvm_text)


def _is_from_zero(found: re.Match[str], llvm_text: str) -> bool:
    """Tell `0.0 - x` and, as it stands where nothing is optimised, `-x + 0.0`."""
    left, right = found["left"], found["right"]
    if found["operation"] == "fsub":
        return bool(_ZERO.search(left))
    return bool(_ZERO.search(left + right)) and any(f"  {operand} = fneg " in llvm_text for operand in (left, right))


def _fence(type: str) -> str:
    count, _, element = type.strip("<>").rpartition(" x ")
    return f"@llvm.arithmetic.fence.{f'v{count}' if count else ''}{_MANGLED[element]}"
