"""The example beside a kernel's header: a whole program that launches it once.

Extents, numbers, grid and block are macros, so that a compiler's `-D` can set them. Arrays are
filled with small numbers that repeat; arrays that the kernel may write are copied back and printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amdjit.ahead_of_time.built_targets import BuiltTarget
from amdjit.ahead_of_time.c_names import CNames
from amdjit.ahead_of_time.c_types import element_type, scalar_type
from amdjit.ahead_of_time.interface import Interface, Leaf
from amdjit.language.launch_numbers import PythonNumber
from amdjit.types import Array, Record, Scalar, Vector, boolean

__all__ = ["example_text"]

_BEFORE = """\
/* An example of KERNEL: it fills arrays, launches the kernel once, and prints what it wrote.
 *
 *   hipcc main.cLINKED -o example          or
 *   gcc main.cLINKED -I/opt/rocm/include -L/opt/rocm/lib -lamdhip64 -lm -o example
 *
 * Extents, numbers, grid and block are the macros below: change them, or say -DNAME=VALUE.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "KERNEL.h"
"""

_FAILED = """\
/* Whether a call of HIP failed; says so. */
static int failed(hipError_t error, const char *what) {
  if (error != hipSuccess) fprintf(stderr, "%s: %s\\n", what, hipGetErrorString(error));
  return error != hipSuccess;
}
"""

_SIZES = {0: 1, 1: 1024, 2: 64, 3: 16}
_FLAT_BLOCK, _SQUARE_BLOCK = (256, 1, 1), (16, 16, 1)
_SHOWN = 8


class _Names:
    """The macros and variables of the example, each once."""

    def __init__(self, interface: Interface) -> None:
        macros, self.macro, self.variable = CNames(), {}, {}
        for leaf in interface.leaves:
            self.macro[leaf.label] = macros.take(leaf.label.upper())
            self.variable[leaf.label] = f"host_{leaf.label}"

    def extent(self, leaf: Leaf, axis: int) -> str:
        """Return the macro of an extent."""
        return f"{self.macro[leaf.label]}_EXTENT{axis}"

    def count(self, leaf: Leaf) -> str:
        """Return the number of elements as an expression."""
        assert isinstance(leaf.type, Array)
        extents = [f"(size_t){self.extent(leaf, axis)}" for axis in range(leaf.type.ndim)]
        return " * ".join(extents) or "(size_t)1"


def example_text(
    name: str, file: str, interface: Interface, targets: tuple[BuiltTarget, ...], embed: bool
) -> str:
    """Return main.c. file: the file of the code object, which is loaded unless the code is
    embedded."""
    names = _Names(interface)
    words = {"KERNEL": name, "LINKED": f" {name}_code_object.c" if embed else ""}
    parts = [
        re.sub("KERNEL|LINKED", lambda found: words[found[0]], _BEFORE),
        "\n".join(_macros(names, file, interface, targets[0], embed)),
        _FAILED,
        *("\n".join(_filling(leaf, name)) for leaf in interface.arrays),
        *("\n".join(_printing(leaf, name)) for leaf in interface.arrays if leaf.written),
        "\n".join(_run(names, name, interface)),
        "\n".join(_main(name, embed)),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _macros(
    names: _Names, file: str, interface: Interface, target: BuiltTarget, embed: bool
) -> Iterator[str]:
    if not embed:
        yield from _macro("CODE_OBJECT", f'"{file}"')
    block = target.required_block or _usual_block(interface, target.max_block)
    most = max((_SIZES.get(leaf.type.ndim, 4) for leaf in interface.arrays
                if isinstance(leaf.type, Array)), default=1)  # fmt: skip
    axes = max(
        (leaf.type.ndim for leaf in interface.arrays if isinstance(leaf.type, Array)), default=0
    )
    for position, letter in enumerate("XYZ"):
        is_covered = position < max(1, min(axes, 2))
        count = -(-most // block[position]) if is_covered else 1
        yield from _macro(f"GRID_{letter}", str(count))
    for letter, extent in zip("XYZ", block, strict=True):
        yield from _macro(f"BLOCK_{letter}", str(extent))
    yield from _macro("DYNAMIC_LDS", "0")
    yield from _macro("SHOWN", str(_SHOWN))
    for leaf in interface.leaves:
        if isinstance(leaf.type, Array):
            size = str(_SIZES.get(leaf.type.ndim, 4))
            for axis in range(leaf.type.ndim):
                yield from _macro(names.extent(leaf, axis), size)
        else:
            yield from _macro(f"{names.macro[leaf.label]}_VALUE", "2")


def _macro(name: str, value: str) -> Iterator[str]:
    yield from (f"#ifndef {name}", f"#define {name} {value}", "#endif")


def _usual_block(interface: Interface, most: int) -> tuple[int, int, int]:
    is_flat = all(leaf.type.ndim < 2 for leaf in interface.arrays if isinstance(leaf.type, Array))
    if not is_flat and most >= 256:
        return _SQUARE_BLOCK
    return min(_FLAT_BLOCK[0], most), 1, 1


def _element(leaf: Leaf, kernel: str) -> str:
    assert isinstance(leaf.type, Array)
    return element_type(leaf.type.element, f"{kernel}_{leaf.label}_element")


def _filling(leaf: Leaf, kernel: str) -> Iterator[str]:
    """Yield the function that fills an array on the host."""
    assert isinstance(leaf.type, Array)
    element = leaf.type.element
    yield f"static void fill_{leaf.label}({_element(leaf, kernel)} *values, size_t count) {{"
    if isinstance(element, Record):
        yield "  memset(values, 0, count * sizeof *values);"
    else:
        assert isinstance(element, Scalar)
        yield "  size_t i;"
        yield f"  for (i = 0; i < count; i++) values[i] = {_filled(element)};"
    yield "}"


def _filled(type: Scalar) -> str:
    """Return the value of element i: small numbers that repeat, positive for unsigned types."""
    if type is boolean:
        return "i % 2"
    signed = type.is_float or type.is_signed
    number = "(int)(i % 7) - 3" if signed else "i % 7"
    if type.is_float and type.bits < 32:
        return f"{scalar_type(type)}_bits({number})"
    return f"({scalar_type(type)})({number})"


def _printing(leaf: Leaf, kernel: str) -> Iterator[str]:
    """Yield the function that prints the first elements of an array."""
    assert isinstance(leaf.type, Array)
    yield f"static void print_{leaf.label}(const {_element(leaf, kernel)} *values, size_t count) {{"
    yield "  size_t i;"
    yield f'  printf("{leaf.name}:");'
    yield "  for (i = 0; i < count && i < SHOWN; i++) {"
    yield from (f"    {line}" for line in _printed(leaf.type.element))
    yield "  }"
    yield '  printf("\\n");'
    yield "}"


def _printed(element: object) -> Iterator[str]:
    if isinstance(element, Scalar):
        yield _number(element, "values[i]")
        return
    yield "size_t k;"
    yield 'printf(" ");'
    yield 'for (k = 0; k < sizeof values[i]; k++) printf("%02x", ((const uint8_t *)&values[i])[k]);'


def _number(type: Scalar, source: str) -> str:
    if type.is_float:
        value = f"{scalar_type(type)}_value({source})" if type.bits < 32 else f"(double){source}"
        return f'printf(" %.{17 if type.bits == 64 else 9}g", {value});'
    if type.is_integer and not type.is_signed:
        return f'printf(" %" PRIu64, (uint64_t){source});'
    return f'printf(" %" PRId64, (int64_t){source});'


def _run(names: _Names, kernel: str, interface: Interface) -> Iterator[str]:
    """Yield the function that makes the arguments, launches the kernel, and copies the results
    back."""
    yield f"static int run(const {kernel}_kernel *kernel) {{"
    yield "  const unsigned grid[3] = {GRID_X, GRID_Y, GRID_Z};"
    yield "  const unsigned block[3] = {BLOCK_X, BLOCK_Y, BLOCK_Z};"
    yield f"  {kernel}_arguments arguments;"
    yield "  const char *refusal;"
    if interface.record is not None:
        yield f"  {kernel}_record record;"
        yield "  int has_failed;"
    for leaf in interface.arrays:
        yield f"  void *device_{leaf.label};"
        yield f"  size_t count_{leaf.label} = {names.count(leaf)};"
        element = _element(leaf, kernel)
        host = names.variable[leaf.label]
        yield f"  {element} *{host} = ({element} *)malloc(count_{leaf.label} * sizeof *{host});"
    yield "  memset(&arguments, 0, sizeof arguments);"
    for leaf in interface.leaves:
        yield from (f"  {line}" for line in _argument(names, leaf, kernel))
    if interface.record is not None:
        yield f'  if (failed({kernel}_record_make(&record), "hipMalloc")) return 1;'
        yield f"  arguments.{interface.record.path[0]} = &record;"
    launch = f"{kernel}_launch(kernel, grid, block, DYNAMIC_LDS, NULL, &arguments)"
    yield f"  refusal = {kernel}_refusal(kernel, grid, block, DYNAMIC_LDS, &arguments);"
    yield "  if (refusal) {"
    yield f'    fprintf(stderr, "{kernel}: %s\\n", refusal);'
    yield "    return 1;"
    yield "  }"
    yield f'  if (failed({launch}, "{kernel}")) return 1;'
    yield '  if (failed(hipDeviceSynchronize(), "hipDeviceSynchronize")) return 1;'
    if interface.record is not None:
        told = f"{kernel}_record_tell(&record, kernel, stdout, stderr, &has_failed)"
        yield f'  if (failed({told}, "{kernel}_record_tell")) return 1;'
        yield f'  if (failed({kernel}_record_free(&record), "hipFree") || has_failed) return 1;'
    for leaf in interface.arrays:
        yield from (f"  {line}" for line in _afterwards(names, leaf))
    yield "  return 0;"
    yield "}"


def _argument(names: _Names, leaf: Leaf, kernel: str) -> Iterator[str]:
    target = "arguments." + ".".join(leaf.path)
    if isinstance(leaf.type, Array):
        yield from _array_argument(names, leaf, target, kernel)
        return
    macro = f"{names.macro[leaf.label]}_VALUE"
    if isinstance(leaf.type, Vector):
        for position in range(leaf.type.length):
            yield f"{target}[{position}] = {_constant(leaf.type.element, macro)};"
    elif isinstance(leaf.type, PythonNumber):
        yield f"{target} = {macro};"
    else:
        assert isinstance(leaf.type, Scalar)
        yield f"{target} = {_constant(leaf.type, macro)};"


def _constant(type: Scalar, macro: str) -> str:
    if type is boolean:
        return f"({macro}) != 0"
    if type.is_float and type.bits < 32:
        return f"{scalar_type(type)}_bits({macro})"
    return f"({scalar_type(type)})({macro})"


def _array_argument(names: _Names, leaf: Leaf, target: str, kernel: str) -> Iterator[str]:
    assert isinstance(leaf.type, Array)
    host, device = names.variable[leaf.label], f"device_{leaf.label}"
    nbytes = f"count_{leaf.label} * sizeof *{host}"
    pointee = "" if leaf.written else "const "
    yield f"if (!{host}) return 1;"
    yield f"fill_{leaf.label}({host}, count_{leaf.label});"
    yield f'if (failed(hipMalloc(&{device}, {nbytes}), "hipMalloc")) return 1;'
    copy = f"hipMemcpy({device}, {host}, {nbytes}, hipMemcpyHostToDevice)"
    yield f'if (failed({copy}, "hipMemcpy")) return 1;'
    element = _element(leaf, kernel)
    yield f"{target}.data = ({pointee}{element} *){device};"
    for axis in range(leaf.type.ndim):
        yield f"{target}.shape[{axis}] = {names.extent(leaf, axis)};"
    if leaf.type.layout.has_strides:
        for axis in range(leaf.type.ndim):
            inner = [names.extent(leaf, later) for later in range(axis + 1, leaf.type.ndim)]
            product = " * ".join(f"(int64_t){each}" for each in inner)
            yield f"{target}.strides[{axis}] = {product or 1};"


def _afterwards(names: _Names, leaf: Leaf) -> Iterator[str]:
    host, device = names.variable[leaf.label], f"device_{leaf.label}"
    if leaf.written:
        nbytes = f"count_{leaf.label} * sizeof *{host}"
        copy = f"hipMemcpy({host}, {device}, {nbytes}, hipMemcpyDeviceToHost)"
        yield f'if (failed({copy}, "hipMemcpy")) return 1;'
        yield f"print_{leaf.label}({host}, count_{leaf.label});"
    yield f'if (failed(hipFree({device}), "hipFree")) return 1;'
    yield f"free({host});"


def _main(kernel: str, embed: bool) -> Iterator[str]:
    load = (
        f"{kernel}_load_embedded(&kernel)" if embed else f"{kernel}_load_file(&kernel, CODE_OBJECT)"
    )
    yield "int main(void) {"
    yield f"  {kernel}_kernel kernel;"
    yield "  int result;"
    yield f'  if (failed({load}, "loading {kernel}")) return 1;'
    yield "  result = run(&kernel);"
    yield f'  if (failed({kernel}_unload(&kernel), "hipModuleUnload")) return 1;'
    yield "  return result;"
    yield "}"
