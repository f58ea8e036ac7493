"""A builder whose float operations round as the MODE register says, for kernels that use more than
rounding to nearest."""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.emulator.host.builder import Builder, Value, element_of
from amdjit.emulator.host.rounded import rounded_symbol


class RoundingBuilder(Builder):
    """While `rounding` is set, additions, multiplications and conversions to fewer bits round by
    it."""

    def __init__(self, natives: set[str]) -> None:
        super().__init__()
        self._natives = natives

    def binary(self, operation: str, left: Value, right: Value) -> Value:
        """Append a binary operation."""
        if self.rounding is None or operation not in ("fadd", "fsub", "fmul"):
            return super().binary(operation, left, right)
        if element_of(left.type) == "half":
            # Rounding to 24 bits first, in the same mode, does not change the result.
            wide = (self.convert("fpext", x, "float") for x in (left, right))
            return self.convert("fptrunc", self.binary(operation, *wide), "half")
        return self._rounded(operation, left.type, [left, right])

    def intrinsic(self, name: str, *arguments: Value, flags: Sequence[Value] = ()) -> Value:
        """Call an LLVM intrinsic."""
        if self.rounding is None or name != "fma":
            return super().intrinsic(name, *arguments, flags=flags)
        return self._rounded("fma", arguments[0].type, list(arguments))

    def cast(self, operation: str, value: Value, type_name: str) -> Value:
        """Convert to a full type by a named cast."""
        if self.rounding is None or operation not in ("fptrunc", "sitofp", "uitofp"):
            return super().cast(operation, value, type_name)
        if operation == "fptrunc" and element_of(type_name) == "half":
            return self._rounded("half", value.type, [value], type_name)
        if operation == "fptrunc":
            return self._rounded("fptrunc", value.type, [value], type_name)
        if element_of(type_name) == "double":
            return super().cast(operation, value, type_name)
        # All integers of 32 bits are exact in double precision.
        wide = self.convert(operation, value, "double")
        return self._rounded("fptrunc", wide.type, [wide], type_name)

    def _rounded(
        self, operation: str, shape: str, operands: list[Value], result: str | None = None
    ) -> Value:
        assert self.rounding is not None
        symbol = rounded_symbol(operation, shape)
        self._natives.add(symbol)
        return self.call(symbol, result or shape, [*operands, self.rounding])
