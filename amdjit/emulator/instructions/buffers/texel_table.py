"""The buffer formats as a table for native code, and functions on one row of it (RDNA 4 ISA,
10.7)."""

from __future__ import annotations

from amdjit.abi.buffer_formats import KINDS, format_of
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import VGPR_BYTES, BufferRefusal, FaultKind

UINT, SINT, FLOAT = KINDS.index("UINT"), KINDS.index("SINT"), KINDS.index("FLOAT")
CHANNELS = 4


def _row(number: int) -> list[int]:
    """Return kind, bytes, components and alignment - 1, then for each channel: dword, shift, width
    (0 if missing), and an unused entry."""
    texel = format_of(number)
    if texel is None:
        return [UINT, 4, 0, 3] + [0] * 16
    row = [KINDS.index(texel.kind), texel.size, len(texel.widths), min(texel.size, 4) - 1]
    place = 0
    for width in (*texel.widths, *[0] * (CHANNELS - len(texel.widths))):
        row += [place // 32 if width else 0, place % 32 if width else 0, width, 0]
        place += width
    return row


_ROW_INTS = 20
_TABLE = (
    f"@formats = internal constant [{64 * _ROW_INTS} x i32] ["
    + ", ".join(f"i32 {value}" for number in range(64) for value in _row(number))
    + "], align 64"
)


class TexelFunction(NativeFunction):
    """A function on the row of its parameter `format` and the four vectors at `data`."""

    def __init__(self, name: str, result: str, *parameters: tuple[str, str]) -> None:
        super().__init__(name, result, parameters)
        index = self.resize(self.mul(self.parameter("format"), i32(4 * _ROW_INTS)), 64)
        self._row = self.offset(Value("ptr", "@formats"), index)

    def item(self, number: int) -> Value:
        """Return an entry of the row: kind, bytes, components, alignment - 1, or a part of a
        component."""
        return self.load("i32", self.offset(self._row, 4 * number), 4)

    @property
    def kind(self) -> Value:
        """Return the number of the kind."""
        return self.item(0)

    @property
    def is_integer(self) -> Value:
        """Whether the kind is UINT or SINT."""
        return self.or_(
            self.compare("eq", self.kind, i32(UINT)), self.compare("eq", self.kind, i32(SINT))
        )

    def component(self, channel: int) -> tuple[Value, Value, Value]:
        """Return a component's dword, shift and width."""
        dword, shift, width = (self.item(4 + 4 * channel + part) for part in range(3))
        return dword, shift, width

    def channel(self, number: int) -> Value:
        """Return the address of a channel's vector."""
        return self.offset(self.parameter("data"), number * VGPR_BYTES)

    def refuse(self, code: BufferRefusal, wrong: Value, done: str) -> None:
        """Stop the launch if the i1 `wrong` holds; otherwise continue at the new block `done`."""
        self.branch_if(wrong, f"{done}.refuse", done)
        self.label(f"{done}.refuse")
        kind, nobody = i32(FaultKind.BUFFER), i64(-1)
        context, site = self.parameter("context"), self.parameter("site")
        self.call_void("aj_fault", [context, kind, site, nobody, i64(code), i32(0)])
        self.branch(done)
        self.label(done)

    def whole(self, attributes: str) -> str:
        """Return the definition, preceded by the table."""
        return f"{_TABLE}\n{self.text(attributes)}"
