"""The matrix instructions, and where their operands lie in the registers of a wave.

Register layouts are those of AMD's matrix instruction calculator (gfx12; `repeated.py` has those of
gfx11), in rows of 16 lanes: 2 of a wave32, 4 of a wave64.
"""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.emulator.host.builder import Value, vector
from amdjit.emulator.host.function import NativeFunction
from amdjit.isa.floats.elements import ELEMENTS
from amdjit.isa.instruction import Instruction
from amdjit.late_methods import dataclass

ROW = vector("float", 16)
INTEGERS = vector("i32", 16)
ROW_BYTES = 64


@dataclass(frozen=True, slots=True)
class Matrix:
    """A product: the element types of A, B, and of C and D, the extent of k, whether A is sparse,
    and whether integer results saturate.

    wave_size: the wave that holds the fragments; a lane of a wave64 has half as much. is_repeated:
    the form of gfx11, in which each row of 16 lanes holds all of A and B.
    """

    a: str
    b: str
    result: str
    k: int
    sparse: bool = False
    clamp: bool = False
    wave_size: int = 32
    is_repeated: bool = False

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        kind = "swmmac" if self.sparse else "wmma11" if self.is_repeated else "wmma"
        wave = "_w64" if self.wave_size == 64 else ""
        clamp = "_clamp" if self.clamp else ""
        return f"aj_{kind}_{self.result}_{self.k}_{self.a}_{self.b}{clamp}{wave}"

    @property
    def rows(self) -> range:
        """The rows of 16 lanes of the wave."""
        return range(self.wave_size // 16)

    @property
    def result_dwords(self) -> int:
        """How many registers hold C or D."""
        if self.is_repeated:
            return 256 // self.wave_size
        return (8 if self.result in ("f32", "i32") else 4) * 32 // self.wave_size

    @property
    def held(self) -> int:
        """How many elements of a row A holds: half of the extent of k if A is sparse."""
        return self.k // 2 if self.sparse else self.k

    @property
    def overflows(self) -> bool:
        """Whether MODE's FP16_OVFL applies to results that are too large for the format."""
        return self.result == "f16"

    def held_dwords(self, factor: str) -> int:
        """Return how many registers hold A or B."""
        if self.is_repeated:
            return self.k * ELEMENTS[self.a].bits // 32
        held = self.held if factor == "a" else self.k
        return held * ELEMENTS[self.a].bits // (32 * len(self.factor_rows(factor)))

    @property
    def takes_halves(self) -> bool:
        """Whether C and D lie in one half of their registers, as the instruction says."""
        return self.is_repeated and self.result in ("f16", "bf16")

    @property
    def pairs(self) -> int:
        """How many pairs of elements of a sparse A a lane holds."""
        return self.k // 4 // len(self.factor_rows("a")) if self.sparse else 0

    def factor_rows(self, factor: str) -> range:
        """Return the rows of lanes that hold A or B: less than 32 bits of 4-bit integers are in the
        lower half only."""
        held = self.held if factor == "a" else self.k
        bits = ELEMENTS[self.a if factor == "a" else self.b].bits
        return self.rows if held * bits * 16 >= 32 * self.wave_size else range(2)

    @property
    def is_integer(self) -> bool:
        """Whether the result is i32."""
        return self.result == "i32"


def matrices() -> Iterator[Matrix]:
    """Yield all products of gfx12."""
    for wave_size in (32, 64):
        for sparse in (False, True):
            k = 32 if sparse else 16
            for a, result in (("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16")):
                yield Matrix(
                    a, a, result=result, k=k, sparse=sparse, clamp=False, wave_size=wave_size
                )
            for a in ("fp8", "bf8"):
                yield from (
                    Matrix(a, b, result="f32", k=k, sparse=sparse, clamp=False, wave_size=wave_size)
                    for b in ("fp8", "bf8")
                )
            for bits, extent in ((8, k), (4, k), (4, 2 * k)):
                yield from _integer_matrices(bits, extent, sparse, wave_size)


def _integer_matrices(bits: int, extent: int, sparse: bool, wave_size: int) -> Iterator[Matrix]:
    for a in (f"i{bits}", f"u{bits}"):
        for b in (f"i{bits}", f"u{bits}"):
            yield from (
                Matrix(
                    a, b, result="i32", k=extent, sparse=sparse, clamp=clamp, wave_size=wave_size
                )
                for clamp in (False, True)
            )


def matrix_function(matrix: Matrix) -> NativeFunction:
    """Return a product's function: `void (ptr d, ptr a, ptr b, ptr c)`, with `ptr index, i32 set`
    added if A is sparse.

    The pointers are to consecutive registers of 32 dwords; in wave64 each is followed by a pointer
    to the upper half's. Products that overflow as MODE says have another parameter, `i32 clamps`,
    and those with C and D in one half of their registers `i32 half`, 0 or 1.
    """
    names = ["d", "a", "b", "c", *(["index"] if matrix.sparse else [])]
    halves = [""] if matrix.wave_size == 32 else ["", "_upper"]
    parameters = [("ptr", name + half) for name in names for half in halves]
    if matrix.sparse:
        parameters.append(("i32", "set"))
    if matrix.overflows:
        parameters.append(("i32", "clamps"))
    if matrix.takes_halves:
        parameters.append(("i32", "half"))
    return NativeFunction(matrix.symbol, "void", parameters)


def place_of(matrix: Matrix, factor: str, index: int, row: int) -> int:
    """Return the k of element `index` in the lanes of a row of 16, for B and for an A that is not
    sparse."""
    bits = ELEMENTS[matrix.a if factor == "a" else matrix.b].bits
    if bits == 16 and matrix.wave_size == 32:
        run = 4 if matrix.k == 16 else 8
        return 2 * run * (index // run) + run * row + index % run
    return row_start(matrix, bits, len(matrix.factor_rows(factor)), row) + index


def row_start(matrix: Matrix, bits: int, rows: int, row: int) -> int:
    """Return the first k of a row of lanes, if the k of a lane are consecutive."""
    if bits == 16 or rows == 2:
        return matrix.k // rows * row
    return matrix.k // 2 * (row % 2) + matrix.k // 4 * (row // 2)


def row_pointer(function: NativeFunction, name: str, dword: int, row: int) -> Value:
    """Return the address of the 16 dwords that a register has in a row of lanes."""
    source = function.parameter(f"{name}_upper" if row >= 2 else name)
    return function.offset(source, dword * 128 + row % 2 * 64)


def sparse_base(matrix: Matrix, pair: int, row: int) -> int:
    bits = ELEMENTS[matrix.a].bits
    if bits == 16 and matrix.wave_size == 32:
        return 16 * (pair // 2) + 8 * row + 4 * (pair % 2)
    return row_start(matrix, bits, len(matrix.factor_rows("a")), row) + 4 * pair


def result_rows(function: NativeFunction, matrix: Matrix, name: str) -> list[Value]:
    """Return the addresses of rows 0 to 15 of C or D; elements of 16 bits share the dwords of two
    rows."""
    per_dword = 1 if matrix.result in ("f32", "i32") else 2
    count = 16 // len(matrix.rows)
    places = []
    for row in range(16):
        lanes = row // 8 + 2 * (row % 8 // count)
        places.append(row_pointer(function, name, row % count // per_dword, lanes))
    return places


def load_float_rows(function: NativeFunction, matrix: Matrix, total: Value) -> None:
    """Load C into 16 rows of f32 in memory."""
    for row, place in enumerate(result_rows(function, matrix, "c")):
        if matrix.result == "f32":
            value = function.load(ROW, place, 64)
        else:
            bits = function.load(INTEGERS, place, 64)
            shifted = function.shift("lshr", bits, 16) if row % 2 else bits
            value = ELEMENTS[matrix.result].widen(function, shifted)
        function.store(value, function.offset(total, row * ROW_BYTES), 64)


def store_float_rows(function: NativeFunction, matrix: Matrix, total: Value) -> None:
    """Store 16 rows of f32 to D; f16 and bf16 results are rounded to nearest even."""
    places = result_rows(function, matrix, "d")
    values = [function.load(ROW, function.offset(total, row * ROW_BYTES), 64) for row in range(16)]
    if matrix.result == "f32":
        for place, value in zip(places, values, strict=True):
            function.store(value, place, 64)
        return
    narrow = ELEMENTS[matrix.result].narrow
    for row in range(0, 16, 2):
        low, high = narrow(function, values[row]), narrow(function, values[row + 1])
        function.store(function.or_(low, function.shift("shl", high, 16)), places[row], 64)


# Which processors' form of a matrix or dot product an instruction is.


def is_of_gfx11(instruction: Instruction) -> bool:
    """Return whether it has the operands and the arithmetic of gfx11."""
    return not instruction.opcode.instruction_set.spread_factors
