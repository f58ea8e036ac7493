"""Keep the masks of factors that LLVM's instruction selection would lose.

    %m = and i64 %x, 16777215
    %p = mul i64 %m, %y
    %s = add i64 %p, %z
->
    %a = and i64 %x, 16777215
    %b = trunc i64 %a to i32
    %c = bitcast i32 %b to float
    %d = call float @llvm.arithmetic.fence.f32(float %c)
    %e = bitcast float %d to i32
    %m = zext i32 %e to i64
    %p = mul i64 %m, %y
    %s = add i64 %p, %z

LLVM 22 multiplies factors of 24 bits by an instruction that ignores their upper bits, and drops
masks that only clear these. If it then finds a sum, it takes `v_mad_u64_u32` instead, which uses
all 32 bits (its pull request 198729 mends it). Behind a fence, which is no instruction, it does not
see that a factor has 24 bits. It still selects `v_mad_u64_u32`, with the mask.
"""

from __future__ import annotations

import re

__all__ = ["keep_masked_factors"]

_MASKED = re.compile(
    r"^  (?P<name>%\S+) = and (?P<type>(?:<(?P<count>\d+) x )?i(?P<bits>32|64)>?) "
    r"(?P<value>%[^\s,]+), (?P<mask>splat \([^)\n]*\)|<[^>\n]*>|\d+)(?P<metadata>(?:, ![^\n]*)?)$",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"^define .*?^}$", re.MULTILINE | re.DOTALL)
_PRODUCT = re.compile(r" = mul (?:[a-z]+ )*(?:<\d+ x )?i64")
_NUMBER = re.compile(r"(?<![i\d])\d+(?= ?[,>)]|$)")


def keep_masked_factors(llvm_text: str) -> str:
    """Return optimised IR in which factors of sums of 64-bit products keep their masks."""
    if _PRODUCT.search(llvm_text) is None:
        return llvm_text
    declarations: dict[str, None] = {}
    text = _FUNCTION.sub(lambda found: _keep_in_function(found[0], declarations), llvm_text)
    return text + "".join(f"\n{line}\n" for line in declarations if line not in llvm_text)


def _keep_in_function(function: str, declarations: dict[str, None]) -> str:
    def fenced(found: re.Match[str]) -> str:
        masks = [int(number) for number in _NUMBER.findall(found["mask"])]
        if not any(_may_go(mask, found["name"], function) for mask in masks):
            return found[0]
        is_short = max(masks) < 1 << 32
        word, float, suffix = ("i32", "float", "f32") if is_short else ("i64", "double", "f64")
        if found["count"]:
            word, float = (f"<{found['count']} x {each}>" for each in (word, float))
            suffix = f"v{found['count']}{suffix}"
        called = f"{float} @llvm.arithmetic.fence.{suffix}({float}"
        declarations[f"declare {called})"] = None
        return "\n".join(_lines(found, word, float, called))

    return _MASKED.sub(fenced, function) if _PRODUCT.search(function) else function


def _lines(found: re.Match[str], word: str, float: str, called: str) -> list[str]:
    name, type, made = found["name"], found["type"], f"%amdjit.masked.{found.start()}"
    # The result keeps the name: LLVM wants names that are numbers to be in order.
    masked = f"and {type} {found['value']}, {found['mask']}{found['metadata']}"
    narrow, wide = ("trunc", "zext") if word != type else ("bitcast", "bitcast")
    return [
        f"  {made} = {masked}",
        f"  {made}.word = {narrow} {type} {made} to {word}",
        f"  {made}.float = bitcast {word} {made}.word to {float}",
        f"  {made}.kept = call {called} {made}.float)",
        f"  {made}.back = bitcast {float} {made}.kept to {word}",
        f"  {name} = {wide} {word} {made}.back to {type}",
    ]


def _may_go(mask: int, name: str, function: str) -> bool:
    """Return whether LLVM may drop a mask because a product ignores the bits that it clears."""
    if mask >= 1 << 24:
        return re.search(rf" = lshr [^\n]* {re.escape(name)},", function) is not None
    return mask >= 1 << 23
