"""Random kernels over one fragment: it is loaded, changed, moved and stored, and NumPy follows the
matrix."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import amdjit
from amdjit import shared, static_range, types
from amdjit.intrinsics import matrix
from tests.matrix.fragment_kernels import exact
from tests.matrix.plan.plan_data import signalling
from tests.matrix.plan.plan_kernels import COL, ROW, A, B, C, sizes
from tests.matrix.tested_devices import is_cdna, is_gfx11, multiplies

Matrix = np.ndarray[Any, Any]
DTYPES = ("f16", "bf16", "f32", "f64", "fp8", "bf8", "i8", "u8", "i16", "u16", "i32", "u32")
# Of which the sign changes and no other bit, whatever they hold.
NEGATED = ("f16", "f32", "f64")
PRODUCTS = (
    ("f16", "f32", 4),
    ("bf16", "f32", 4),
    ("fp8", "f32", 4),
    ("i8", "i32", 128),
    ("u8", "i32", 256),
)
CDNA_PRODUCTS = (("f32", "f32", 4), ("f64", "f64", 4), ("fp8_fnuz", "f32", 4))
NAMES = {A: "matrix.matrix_a", B: "matrix.matrix_b", C: "matrix.accumulator"}


@dataclass(slots=True)
class Kernel:
    """A kernel that is being written. values: the matrix that its fragment `part{count}` is."""

    random: Random
    wave_size: int
    lines: list[str] = field(default_factory=list)
    arguments: dict[str, Matrix] = field(default_factory=dict)
    count: int = 0
    use: Any = A
    layout: Any = ROW
    dtype: str = "f16"
    values: Matrix = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def part(self) -> str:
        return f"part{self.count}"

    @property
    def source(self) -> str:
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def kernel({', '.join(self.arguments)}):\n{body}"

    def fragment(self, use: Any, rows: int, columns: int, dtype: str, layout: Any) -> str:
        """Return the parameters of a fragment."""
        m, n, k = sizes(use, rows, columns)
        return f"{NAMES[use]}, {m}, {n}, {k}, {dtype}, matrix.{layout.value}"

    def declare(self, use: Any, rows: int, columns: int, dtype: str, layout: Any) -> str:
        """Declare a fragment and return its name."""
        self.count += 1
        self.lines.append(
            f"{self.part} = matrix.fragment({self.fragment(use, rows, columns, dtype, layout)})"
        )
        return self.part

    def argument(self, name: str, array: Matrix) -> None:
        self.arguments[name] = np.ascontiguousarray(array)


def random_size(random: Random) -> int:
    return random.choice([16, 32, 48, random.randrange(1, 48), random.randrange(1, 33)])


def random_bits(random: Random, shape: tuple[int, int], dtype: str) -> Matrix:
    """Return elements of any bits, NaN among them."""
    kind = np.dtype(getattr(types, dtype).dtype)
    return (
        np.frombuffer(random.randbytes(shape[0] * shape[1] * kind.itemsize), kind)
        .reshape(shape)
        .copy()
    )


def lying(values: Matrix, layout: Any) -> Matrix:
    return values if layout is ROW else values.T


def put(inner: Matrix, array: Matrix, place: tuple[int, int]) -> None:
    """Put a matrix into another one; what reaches over its edge is left out."""
    rest = array[place[0] :, place[1] :]
    rows, columns = (min(inner.shape[axis], rest.shape[axis]) for axis in range(2))
    rest[:rows, :columns] = inner[:rows, :columns]


def extents_around(
    random: Random, shape: tuple[int, int], place: tuple[int, int], cut: bool
) -> tuple[int, int]:
    """Return extents of an array in which a matrix has its place; if `cut`, it may reach over the
    edge."""
    more = (random.randrange(-shape[axis], 4) if cut else random.randrange(4) for axis in range(2))
    rows, columns = (
        max(1, first + size + rest) for first, size, rest in zip(place, shape, more, strict=True)
    )
    return rows, columns


def access(random: Random, shape: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int], str]:
    """Return a place, the extents of an array in memory, and the arguments of a load or store that
    has them."""
    place = random.randrange(3) * random.choice([1, 8]), random.randrange(3) * random.choice([1, 8])
    way = random.choice(["pair", "flat", "clipped"])
    extents = extents_around(random, shape, place, way == "clipped")
    if way == "flat":
        return place, extents, f"{place[0] * extents[1] + place[1]}, {extents[1]}"
    return place, extents, f"{place}" + (", clip=True" if way == "clipped" else "")


def load(kernel: Kernel) -> None:
    """Start with a matrix of any bits; elements beyond an edge become 0."""
    random = kernel.random
    kernel.use, kernel.layout, kernel.dtype = (
        random.choice([A, B, C]),
        random.choice([ROW, COL]),
        random.choice(DTYPES),
    )
    shape = random_size(random), random_size(random)
    inner_shape = shape if kernel.layout is ROW else shape[::-1]
    place, extents, how = access(random, inner_shape)
    array = random_bits(random, extents, kernel.dtype)
    found = np.zeros(inner_shape, array.dtype)
    seen = array[place[0] : place[0] + inner_shape[0], place[1] : place[1] + inner_shape[1]]
    found[: seen.shape[0], : seen.shape[1]] = seen
    kernel.values = lying(found, kernel.layout)
    kernel.argument("source", array.reshape(-1) if "(" not in how else array)
    name = kernel.declare(kernel.use, *shape, kernel.dtype, kernel.layout)
    kernel.lines.append(f"matrix.load_matrix_sync({name}, source, {how})")


def multiply(kernel: Kernel) -> None:
    """Start with a product of small integers."""
    random = kernel.random
    target = amdjit.current_device().target.name
    known = (*PRODUCTS, *CDNA_PRODUCTS) if is_cdna() else PRODUCTS
    products = [each for each in known if multiplies(target, 2 * (getattr(types, each[0]),))]
    in_type, kernel.dtype, bound = random.choice(products)
    kernel.use, kernel.layout = C, random.choice([ROW, COL])
    m, n, k = (random_size(random) for _ in range(3))
    low = 0 if in_type == "u8" else -bound
    if kernel.dtype in ("f32", "f64"):
        low, bound = exact(low, bound)
    numbers = np.random.default_rng(random.randrange(1 << 30))
    a, b = numbers.integers(low, bound, (m, k)), numbers.integers(low, bound, (k, n))
    kernel.lines.append(
        f"total = matrix.fragment(matrix.accumulator, {m}, {n}, {k}, {kernel.dtype})"
    )
    kernel.lines.append("matrix.fill_fragment(total, 0)")
    for name, use, values in (("left", A, a), ("right", B, b)):
        layout = random.choice([ROW, COL])
        kernel.argument(name, lying(values, layout).astype(getattr(types, in_type).dtype))
        kernel.lines += [
            f"{name}_part = matrix.fragment({NAMES[use]}, {m}, {n}, {k}, {in_type}, "
            f"matrix.{layout.value})",
            f"matrix.load_matrix_sync({name}_part, {name}, (0, 0))",
        ]
    kernel.count += 1
    kernel.lines += [
        "matrix.mma_sync(total, left_part, right_part, total)",
        f"{kernel.part} = total",
    ]
    kernel.values = (a @ b).astype(getattr(types, kernel.dtype).dtype)


def fill(kernel: Kernel) -> None:
    """Start with a fragment of one value."""
    random = kernel.random
    kernel.use, kernel.layout, kernel.dtype = (
        random.choice([A, B, C]),
        random.choice([ROW, COL]),
        random.choice(DTYPES),
    )
    shape, value = (random_size(random), random_size(random)), random.randrange(8)
    name = kernel.declare(kernel.use, *shape, kernel.dtype, kernel.layout)
    kernel.lines.append(f"matrix.fill_fragment({name}, {value})")
    kernel.values = np.full(shape, value).astype(getattr(types, kernel.dtype).dtype)


def convert(kernel: Kernel) -> None:
    """See the same matrix as another operand."""
    # On gfx11 an operand becomes no accumulator.
    uses = [A, B] if is_gfx11() and kernel.use is not C else [A, B, C]
    kernel.use, kernel.layout = kernel.random.choice(uses), kernel.random.choice([ROW, COL])
    old = kernel.part
    kernel.count += 1
    kind = kernel.fragment(kernel.use, *kernel.values.shape, kernel.dtype, kernel.layout)
    kernel.lines.append(f"{kernel.part} = matrix.apply_fragment({old}, {kind})")


def transpose(kernel: Kernel) -> None:
    if kernel.use is C:
        return
    old = kernel.part
    kernel.count += 1
    kernel.lines.append(f"{kernel.part} = matrix.apply_transpose({old})")
    kernel.use, kernel.layout = B if kernel.use is A else A, COL if kernel.layout is ROW else ROW
    kernel.values = kernel.values.T


def lay_out(kernel: Kernel) -> None:
    old = kernel.part
    kernel.count += 1
    kernel.layout = kernel.random.choice([ROW, COL])
    kernel.lines.append(
        f"{kernel.part} = matrix.apply_data_layout({old}, matrix.{kernel.layout.value})"
    )


def change(kernel: Kernel) -> None:
    """Add to integers, negate floats."""
    bits = f"u{kernel.values.dtype.itemsize}"
    if kernel.dtype in NEGATED:
        operation = f"-{kernel.part}.x[i]"
        sign = np.array(1 << 8 * kernel.values.dtype.itemsize - 1, bits)
        kernel.values = (np.ascontiguousarray(kernel.values).view(bits) ^ sign).view(
            kernel.values.dtype
        )
    elif kernel.dtype[0] in "iu":
        number = kernel.random.randrange(100)
        operation = f"{kernel.dtype}({kernel.part}.x[i] + {number})"
        kernel.values = kernel.values + np.array(number, kernel.values.dtype)
    else:
        return
    kernel.lines += [
        f"for i in static_range({kernel.part}.num_elements):",
        f"    {kernel.part}.x[i] = {operation}",
    ]


def through_lds(kernel: Kernel) -> None:
    """Store it into LDS and load it from there as any operand."""
    random, shape = kernel.random, kernel.values.shape
    extents = lying(kernel.values, kernel.layout).shape
    pitch, first = extents[1] + random.randrange(9), random.randrange(9)
    use = random.choice([A, B, C])
    old, tile = kernel.part, f"tile{kernel.count}"
    kernel.lines += [
        f"{tile} = shared.array({first + extents[0] * pitch}, {kernel.dtype})",
        f"matrix.store_matrix_sync({tile}, {old}, {first}, {pitch}, matrix.{kernel.layout.value})",
        "matrix.synchronize_workgroup()",
    ]
    name = kernel.declare(use, *shape, kernel.dtype, kernel.layout)
    kernel.lines.append(f"matrix.load_matrix_sync({name}, {tile}, {first}, {pitch})")
    kernel.use = use


def through_registers(kernel: Kernel) -> None:
    """Store its registers into LDS and load them into another fragment."""
    old, tile = kernel.part, f"tile{kernel.count}"
    name = kernel.declare(kernel.use, *kernel.values.shape, kernel.dtype, kernel.layout)
    kernel.lines += [
        f"file{tile} = matrix.to_register_file({old})",
        f"{tile} = shared.array((file{tile}.width, file{tile}.height), {kernel.dtype})",
        f"matrix.store_matrix_sync({tile}, file{tile})",
        "matrix.synchronize_workgroup()",
        f"matrix.load_matrix_sync(matrix.to_register_file({name}), {tile})",
    ]


def store(kernel: Kernel) -> Matrix:
    """Store the matrix into one that nobody has written, and return what that must be."""
    inner = lying(kernel.values, kernel.layout)
    place, extents, how = access(kernel.random, inner.shape)
    target = signalling(extents[0] * extents[1], getattr(types, kernel.dtype)).reshape(extents)
    expected = target.copy()
    put(inner, expected, place)
    kernel.argument("target", target.reshape(-1) if "(" not in how else target)
    layout = f", layout=matrix.{kernel.layout.value}"
    kernel.lines.append(f"matrix.store_matrix_sync(target, {kernel.part}, {how}{layout})")
    return expected


STARTS = (load, load, load, multiply, fill)
MOVES = (convert, convert, transpose, lay_out, change, through_lds, through_registers)


def written(seed: int) -> tuple[Kernel, Matrix]:
    """Return a kernel with its arguments, and what its target must be."""
    random = Random(seed)
    wave_size = random.choice([32, 64])
    kernel = Kernel(random, 64 if is_cdna() else wave_size)
    random.choice(STARTS)(kernel)
    for _ in range(random.randrange(5)):
        random.choice(MOVES)(kernel)
    return kernel, store(kernel)


def run(seed: int) -> None:
    """Run the kernel of a seed and compare every bit of the target."""
    kernel, expected = written(seed)
    source, file = kernel.source, f"<random fragment {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {name: getattr(types, name) for name in (*DTYPES, "fp8_fnuz")}
    names |= {"matrix": matrix, "shared": shared, "static_range": static_range}
    exec(compile(source, file, "exec"), names)
    compiled = amdjit.kernel(block=kernel.wave_size, wave_size=kernel.wave_size)(names["kernel"])
    compiled[1, kernel.wave_size](*kernel.arguments.values())
    found = kernel.arguments["target"].reshape(expected.shape)
    bits = f"u{expected.dtype.itemsize}"
    np.testing.assert_array_equal(
        found.view(bits), expected.view(bits), err_msg=f"wave{kernel.wave_size}\n{source}"
    )
