"""Kernels with random parameters that copy all that they are given, and C programs that check it.

The programs do not use the package's own text: what they write and expect is made here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

_INTEGERS = {f"{sign}{bits}": (sign == "i", bits) for sign in "iu" for bits in (8, 16, 32, 64)}
_SMALL = ("f16", "bf16", "fp8", "bf8")
_SCALARS = (*_INTEGERS, *_SMALL, "f32", "f64", "boolean")


@dataclass(frozen=True)
class Copied:
    """One number that the kernel copies to an element of an output.

    expression: in the kernel. expected: in C, as a double.
    """

    expression: str
    expected: str


@dataclass(frozen=True)
class RandomKernel:
    """A kernel's source and signature, and the C program that launches it."""

    source: str
    signature: str
    program: str


def random_kernel(seed: int) -> RandomKernel:
    """Return the kernel of a seed, whose name is `copying`."""
    return _Maker(random.Random(seed)).kernel()


class _Maker:
    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._copied: list[Copied] = []
        self._setting: list[str] = []
        self._number = 0

    def kernel(self) -> RandomKernel:
        names, types = [], []
        for position in range(self._draw.randint(1, 7)):
            name = f"p{position}"
            names.append(name)
            types.append(self._type(name, f"arguments.{name}", depth=0))
        lines = [f"    out[{i}] = f64({each.expression})" for i, each in enumerate(self._copied)]
        source = (
            "import amdjit\nfrom amdjit import f32, f64\n\n@amdjit.kernel\n"
            f"def copying({', '.join([*names, 'out'])}):\n" + "\n".join(lines) + "\n"
        )
        return RandomKernel(source, ",".join([*types, "f64[:]"]), self._program())

    def _type(self, name: str, member: str, depth: int) -> str:
        """Draw a parameter, set it in C and copy it; return its type in the signature."""
        kind = self._draw.choice(["scalar", "scalar", "array", "array", "vector", "tuple"])
        if kind == "tuple" and depth < 2:
            parts = [
                self._type(f"{name}[{i}]", f"{member}.item{i}", depth + 1)
                for i in range(self._draw.randint(1, 3))
            ]
            return f"({', '.join(parts)},)"
        if kind == "array":
            return self._array(name, member)
        if kind == "vector":
            element = self._draw.choice(["f32", "i32", "f16", "u8", "f64"])
            length = self._draw.choice([2, 3, 4, 8])
            for i in range(length):
                self._scalar(element, f"{name}[{i}]", f"{member}[{i}]")
            return f"{element}x{length}"
        return self._plain(name, member)

    def _plain(self, name: str, member: str) -> str:
        type = self._draw.choice(_SCALARS)
        self._scalar(type, name, member)
        return type

    def _scalar(self, type: str, expression: str, member: str) -> None:
        """Give a member a value of its own, and copy it."""
        self._number += 1
        if type == "boolean":
            value = str(self._number % 2)
            self._setting.append(f"{member} = {value};")
        elif type in _INTEGERS:
            is_signed, bits = _INTEGERS[type]
            # Exact as doubles, and other than the neighbours.
            value = str(-(self._number % 120) - 1 if is_signed else (self._number % 250) + 1)
            if bits == 64:
                value = str((1 << 40) + self._number)
            self._setting.append(f"{member} = {value};")
        elif type in _SMALL:
            value = f"{self._draw.choice([1, 1.5, 2, 3, -4, -6])}"
            self._setting.append(f"{member} = amdjit_{type}_bits({value});")
        else:
            value = f"{self._number + 0.25}"
            self._setting.append(f"{member} = {'(float)' if type == 'f32' else ''}{value};")
        widened = f"f32({expression})" if type in _SMALL else expression
        self._copied.append(Copied(widened, value))

    def _array(self, name: str, member: str) -> str:
        element = self._draw.choice(["f32", "i64", "u8", "f64", "i16"])
        axes = self._draw.randint(0, 3)
        self._number += 1
        buffer = f"buffer{self._number}"
        c_type = {"f32": "float", "f64": "double", "u8": "uint8_t", "i16": "int16_t"}.get(
            element, "int64_t"
        )
        shape = [self._draw.randint(1, 4) for _ in range(axes)]
        fact = self._draw.choice(["", "", " strided", " over 2 GiB", " strided over 2 GiB"])
        fact = fact if axes else ""
        strides = [self._draw.randint(1, 9) for _ in range(axes)]
        if "strided" not in fact:
            strides = [_product(shape[axis + 1 :]) for axis in range(axes)]
        last = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
        value = self._number % 100 + 1
        self._setting += [
            f"static {c_type} {buffer}[{last + 1}];",
            f"void *device_{buffer};",
            f"{buffer}[{last}] = {value};",
            f"CHECK(hipMalloc(&device_{buffer}, sizeof {buffer}));",
            f"CHECK(hipMemcpy(device_{buffer}, {buffer}, sizeof {buffer}, hipMemcpyHostToDevice));",
            f"{member}.data = (const {c_type} *)device_{buffer};",
            *(f"{member}.shape[{axis}] = {extent};" for axis, extent in enumerate(shape)),
        ]
        if "strided" in fact:
            self._setting += [f"{member}.strides[{a}] = {s};" for a, s in enumerate(strides)]
        index = ", ".join(f"{name}.shape[{axis}] - 1" for axis in range(axes)) or "()"
        self._copied.append(Copied(f"{name}[{index}]", str(value)))
        self._copied += [
            Copied(f"{name}.shape[{axis}]", str(extent)) for axis, extent in enumerate(shape)
        ]
        if not axes:
            return f"{element}[()]"
        return f"{element}[{', '.join([':'] * (axes - 1) + ['::1' if not fact else ':'])}]{fact}"

    def _program(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        count = len(self._copied)
        yield "#include <stdio.h>"
        yield '#include "copying.h"'
        yield "#define CHECK(call) if ((call) != hipSuccess) return __LINE__"
        yield "int main(void) {"
        yield "  static const unsigned one[3] = {1, 1, 1};"
        expected = ", ".join(each.expected for each in self._copied)
        yield f"  static const double expected[] = {{{expected}}};"
        yield f"  double out[{count}];"
        yield "  copying_kernel kernel; copying_arguments arguments; int i; void *device_out;"
        yield "  memset(&arguments, 0, sizeof arguments);"
        yield f"  CHECK(hipMalloc(&device_out, {count} * sizeof(double)));"
        yield "  arguments.out.data = (double *)device_out;"
        yield f"  arguments.out.shape[0] = {count};"
        yield from (f"  {line}" for line in self._setting)
        yield "  if (copying_load_embedded(&kernel) != hipSuccess) return __LINE__;"
        yield "  if (copying_refusal(&kernel, one, one, 0, &arguments)) {"
        yield '    printf("%s\\n", copying_refusal(&kernel, one, one, 0, &arguments));'
        yield "    return __LINE__;"
        yield "  }"
        yield "  CHECK(copying_launch(&kernel, one, one, 0, NULL, &arguments));"
        yield "  CHECK(hipMemcpy(out, device_out, sizeof out, hipMemcpyDeviceToHost));"
        yield f"  for (i = 0; i < {count}; i++)"
        yield '    if (out[i] != expected[i]) printf("%d: %g, not %g\\n", i, out[i], expected[i]);'
        yield f'  printf("{count} copied\\n");'
        yield "  return 0;"
        yield "}"


def _product(numbers: list[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result
