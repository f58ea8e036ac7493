"""The C header of a kernel: constants, structs, checks, and functions that load and launch it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from amdjit.abi.reports import HEAD_BYTES, LINE_HEAD_WORDS, Field, ReportTable, Text, Word
from amdjit.ahead_of_time.built_targets import BuiltTarget
from amdjit.ahead_of_time.c_checks import refusal_function, relied_on
from amdjit.ahead_of_time.c_names import CNames, c_string
from amdjit.ahead_of_time.c_types import declared, element_type, gap, record_struct, scalar_type
from amdjit.ahead_of_time.interface import (
    CompiledIn,
    Group,
    Interface,
    Leaf,
    MachineValue,
    Parameter,
)
from amdjit.ahead_of_time.report_functions import COMMON, RECORD, TELL_FAULT, TELL_LINES
from amdjit.diagnostics import LaunchError
from amdjit.language.launch_numbers import PythonNumber
from amdjit.target import TARGETS
from amdjit.types import Array, Record, Scalar, Vector, boolean

__all__ = ["embedded_source", "header_text"]

_FOR_REPORTS = """\
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
"""

_BEFORE = """\
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime_api.h>
"""

_LOADING = """\
/* The kernel in a device's memory. */
typedef struct KERNEL_kernel {
  hipModule_t module;
  hipFunction_t function;
  const KERNEL_target *target; /* what of KERNEL_targets the device runs */
} KERNEL_kernel;

/* Find what of KERNEL_targets the current device runs; hipErrorNoBinaryForGpu if nothing. */
static inline hipError_t KERNEL_find_target(const KERNEL_target **found) {
  hipDeviceProp_t properties;
  size_t best = 0;
  int device, i;
  hipError_t error = hipGetDevice(&device);
  if (error == hipSuccess) error = hipGetDeviceProperties(&properties, device);
  *found = NULL;
  if (error != hipSuccess) return error;
  for (i = 0; i < PREFIX_TARGETS; i++) {
    const KERNEL_target *each = &KERNEL_targets[i];
    size_t fit = amdjit_runs_on(each->id, properties.gcnArchName);
    if (fit > best) *found = each, best = fit;
  }
  return *found ? hipSuccess : hipErrorNoBinaryForGpu;
}

/* Finish what KERNEL_load_file and KERNEL_load_data begin. */
static inline hipError_t KERNEL_find_function(KERNEL_kernel *kernel, hipError_t error) {
  if (error == hipSuccess)
    error = hipModuleGetFunction(&kernel->function, kernel->module, SYMBOL);
  if (error != hipSuccess) kernel->target = NULL;
  return error;
}

/* Load the kernel on the current device, from the file that was built beside this header. */
static inline hipError_t KERNEL_load_file(KERNEL_kernel *kernel, const char *path) {
  hipError_t error = KERNEL_find_target(&kernel->target);
  if (error == hipSuccess) error = hipModuleLoad(&kernel->module, path);
  return KERNEL_find_function(kernel, error);
}

/* Load the kernel on the current device, from the file's contents. */
static inline hipError_t KERNEL_load_data(KERNEL_kernel *kernel, const void *data) {
  hipError_t error = KERNEL_find_target(&kernel->target);
  if (error == hipSuccess) error = hipModuleLoadData(&kernel->module, data);
  return KERNEL_find_function(kernel, error);
}

static inline hipError_t KERNEL_unload(KERNEL_kernel *kernel) {
  kernel->target = NULL;
  return hipModuleUnload(kernel->module);
}
"""

_EMBEDDED = """\
/* The contents of the file, which KERNEL_code_object.c defines. */
#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char KERNEL_code_object[];
extern const size_t KERNEL_code_object_bytes;
#ifdef __cplusplus
}
#endif

/* Load the kernel on the current device, from the program itself. */
static inline hipError_t KERNEL_load_embedded(KERNEL_kernel *kernel) {
  return KERNEL_load_data(kernel, KERNEL_code_object);
}
"""

_LAUNCHING = """\
/* Launch the kernel. grid counts workgroups, block the work-items of one, dynamic_lds bytes.
 * hipErrorInvalidValue if KERNEL_refusal says what is wrong with the launch. */
static inline hipError_t KERNEL_launch(const KERNEL_kernel *kernel, const unsigned grid[3],
    const unsigned block[3], unsigned dynamic_lds, hipStream_t stream,
    const KERNEL_arguments *arguments) {
  KERNEL_kernarg kernarg;
"""

_RECORD_BEGIN = """\
  error = KERNEL_record_begin(arguments->MEMBER_OF_RECORD, block, stream);
  if (error != hipSuccess) return error;
"""

_BY_BUFFER = """\
  extra[0] = HIP_LAUNCH_PARAM_BUFFER_POINTER;
  extra[1] = &kernarg;
  extra[2] = HIP_LAUNCH_PARAM_BUFFER_SIZE;
  extra[3] = &nbytes;
  extra[4] = HIP_LAUNCH_PARAM_END;
  return hipModuleLaunchKernel(kernel->function, grid[0], grid[1], grid[2], block[0], block[1],
                               block[2], dynamic_lds, stream, NULL, extra);
}
"""

# A cooperative launch needs a pointer to each value of the kernarg segment.
_TOGETHER = """\
  return hipModuleLaunchCooperativeKernel(kernel->function, grid[0], grid[1], grid[2], block[0],
                                          block[1], block[2], dynamic_lds, stream, values);
}
"""


def _launching(interface: Interface, names: dict[str, str]) -> str:
    """Return the C function that launches the kernel."""
    reports = interface.reports
    is_together = reports is not None and reports.meets
    text = _LAUNCHING
    if is_together:
        text += f"  void *values[{len(interface.values)}];\n"
    else:
        text += "  size_t nbytes = PREFIX_KERNARG_BYTES;\n  void *extra[5];\n"
    if reports is not None:
        text += "  hipError_t error;\n"
    text += (
        "  if (KERNEL_refusal(kernel, grid, block, dynamic_lds, arguments))\n"
        "    return hipErrorInvalidValue;\n"
    )
    if reports is not None:
        text += _RECORD_BEGIN
    text += "  KERNEL_pack(&kernarg, arguments);\n"
    if not is_together:
        return _filled(text + _BY_BUFFER, names)
    places = (
        f"  values[{number}] = &kernarg.{value.member};\n"
        for number, value in enumerate(interface.values)
    )
    return _filled(text, names) + "".join(places) + _filled(_TOGETHER, names)


def header_text(
    name: str,
    interface: Interface,
    targets: Sequence[BuiltTarget],
    embed: bool,
    print_buffer: int,
) -> str:
    """Return the header.

    name: the beginning of all names in it. embed: whether the code object is in the program.
    print_buffer: bytes for what a launch prints.
    """
    prefix = name.upper()
    names = {
        "KERNEL": name,
        "PREFIX": prefix,
        "SYMBOL": c_string(interface.kernel),
        **record_words(),
    }
    reports = interface.reports
    if interface.record is not None:
        names["MEMBER_OF_RECORD"] = interface.record.path[0]
    parts = [
        "\n".join(_description(name, interface)),
        f"#ifndef AMDJIT_{prefix}_H\n#define AMDJIT_{prefix}_H\n\n{_BEFORE}"
        + (_FOR_REPORTS if reports is not None else ""),
        common_text(),
        common_reports() if reports is not None else "",
        "\n".join(_constants(name, interface, targets)),
        "\n".join(record_type(name, reports, print_buffer)) if reports is not None else "",
        "\n".join(argument_structs(interface, name)),
        "/* The explicit part of the kernarg segment, as the code reads it. */\n"
        + "\n".join(kernarg_struct(interface, name)),
        _filled(_LOADING, names),
        _filled(_EMBEDDED, names) if embed else "",
        "\n".join(pack_function(interface, name)),
        "/* What is wrong with a launch, NULL if nothing is. Nothing runs. */\n"
        + "\n".join(refusal_function(interface, name)),
        "\n".join(report_tables(name, reports)) if reports is not None else "",
        _filled(report_functions(reports), names) if reports is not None else "",
        _launching(interface, names),
        f"#endif /* AMDJIT_{prefix}_H */",
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _filled(template: str, names: dict[str, str]) -> str:
    """Return a template in which names replace the words that stand for them."""
    words = "|".join(sorted(names, key=len, reverse=True))
    return re.sub(words, lambda found: names[found[0]], template)


def _description(name: str, interface: Interface) -> Iterator[str]:
    yield f"/* {comment(interface.signature, 400)}"
    yield " *"
    yield f" * amdjit made this file. {name}_load_file and {name}_launch do all there is to do;"
    yield f" * {name}_refusal says why a launch is refused. Compiled in, and checked:"
    for constant in interface.constants:
        yield f" *   {constant.name} is compiled in: {comment(constant.text)}"
    for leaf in interface.arrays:
        yield f" *   {leaf.name}: {'; '.join(relied_on(leaf))}"
    yield " */"


def _constants(name: str, interface: Interface, targets: Sequence[BuiltTarget]) -> Iterator[str]:
    prefix = name.upper()
    yield f"#define {prefix}_KERNARG_BYTES {interface.kernarg_bytes}"
    yield f"#define {prefix}_TARGETS {len(targets)}"
    for target in targets:
        own = f"{prefix}_{_macro_name(target.id)}"
        for key, number in target.numbers:
            yield f"#define {own}_{key.upper()} {number}"
    yield ""
    yield "/* What the code for one processor needs. required_block: 0, 0, 0 if any shape is right;"
    yield " * lds_bytes: without dynamic LDS; lds_limit: the most with it; scratch_bytes: of a"
    yield " * work-item; registers are those of a wave. */"
    yield f"typedef struct {name}_target {{"
    yield "  const char *id;"
    yield "  unsigned required_block[3];"
    for key, _ in targets[0].numbers:
        yield f"  unsigned {key};"
    yield f"}} {name}_target;"
    yield ""
    yield f"static const {name}_target {name}_targets[{prefix}_TARGETS] = {{"
    for target in targets:
        own = f"{prefix}_{_macro_name(target.id)}"
        block = ", ".join(map(str, target.required_block or (0, 0, 0)))
        numbers = ",\n   ".join(f"{own}_{key.upper()}" for key, _ in target.numbers)
        yield f'  {{"{target.id}", {{{block}}},\n   {numbers}}},'
    yield "};"


def _macro_name(id: str) -> str:
    """Return a target id as a part of macros' names: GFX90A_SRAMECC_ON_XNACK_OFF."""
    name, *settings = id.split(":")
    chosen = (f"_{each[:-1]}_{'on' if each[-1] == '+' else 'off'}" for each in settings)
    return (name.replace("-", "_") + "".join(chosen)).upper()


def embedded_source(name: str, data: bytes) -> str:
    """Return the C file that holds the code object, or the bundle."""
    rows = (data[at : at + 20] for at in range(0, len(data), 20))
    lines = ["  " + " ".join(f"{byte}," for byte in row) for row in rows]
    return "\n".join(
        [
            f'#include "{name}.h"',
            "",
            "/* A page's alignment, as loaders like it. */",
            "#if defined(_MSC_VER)",
            "__declspec(align(4096))",
            "#else",
            "__attribute__((aligned(4096)))",
            "#endif",
            f"const unsigned char {name}_code_object[{len(data)}] = {{",
            *lines,
            "};",
            f"const size_t {name}_code_object_bytes = {len(data)};",
            "",
        ]
    )


# The part that the headers of all kernels share: the same C text in each, behind one guard.
#
# Small floats consist of sign, exponent and fraction; the types differ in the widths, in the bias,
# and in the meaning of the largest exponent.


@dataclass(frozen=True)
class _Float:
    """A float of 8 or 16 bits."""

    name: str
    bits: int
    fraction: int
    bias: int
    kind: int
    """0: it has infinities. 1: it has none, but two NaN codes. 2: it has one NaN, the code of
    -0."""


_FLOATS = (
    _Float("f16", 16, 10, 15, 0),
    _Float("bf16", 16, 7, 127, 0),
    _Float("fp8", 8, 3, 7, 1),
    _Float("bf8", 8, 2, 15, 0),
    _Float("fp8_fnuz", 8, 3, 8, 2),
    _Float("bf8_fnuz", 8, 2, 16, 2),
)

_CHECKS = """\
/* Fails to compile where a condition does not hold; C99 has no _Static_assert. */
#define AMDJIT_ASSERT(name, condition) typedef char amdjit_assert_##name[(condition) ? 1 : -1]

/* The bytes that an array spans, from low to before high; none if it has no elements. */
typedef struct amdjit_span {
  uint64_t low, high;
} amdjit_span;

/* What kernels rely on in an array. limit: bytes that it may span; most: the greatest extent and
 * stride. */
typedef struct amdjit_array_facts {
  uint64_t element_bytes, alignment, limit;
  int64_t most;
  int has_rows; /* elements of the last axis side by side, no negative stride */
} amdjit_array_facts;

/* What may be wrong with an array; each kernel has words for it. */
enum amdjit_array_fault {
  AMDJIT_FITS,
  AMDJIT_NEGATIVE,
  AMDJIT_TOO_LARGE,
  AMDJIT_NULL,
  AMDJIT_MISALIGNED,
  AMDJIT_NO_ROWS
};

/* Find what an array spans, and whether the kernel can take it. strides: NULL for a C-contiguous
 * one. */
static inline enum amdjit_array_fault amdjit_check_array(
    amdjit_span *span, const void *data, int axes, const int64_t *shape, const int64_t *strides,
    const amdjit_array_facts *facts) {
  uint64_t below = 0, above = 0, step = 1, limit = facts->limit / facts->element_bytes;
  int axis, is_empty = 0;
  span->low = span->high = 0;
  for (axis = 0; axis < axes; axis++) {
    if (shape[axis] < 0) return AMDJIT_NEGATIVE;
    if (shape[axis] > facts->most) return AMDJIT_TOO_LARGE;
    if (strides && (strides[axis] > facts->most || strides[axis] < -facts->most))
      return AMDJIT_TOO_LARGE;
    if (strides && facts->has_rows &&
        (strides[axis] < 0 || (axis == axes - 1 && strides[axis] != 1)))
      return AMDJIT_NO_ROWS;
    if (shape[axis] == 0) is_empty = 1;
  }
  if (is_empty) return AMDJIT_FITS;
  for (axis = axes - 1; axis >= 0; axis--) {
    uint64_t last = (uint64_t)shape[axis] - 1;
    int64_t signed_stride = strides ? strides[axis] : (int64_t)step;
    int is_negative = signed_stride < 0;
    uint64_t stride = (uint64_t)(is_negative ? -signed_stride : signed_stride);
    if (stride && last > limit / stride) return AMDJIT_TOO_LARGE;
    *(is_negative ? &below : &above) += last * stride;
    if (above + below >= limit) return AMDJIT_TOO_LARGE;
    step *= last + 1;
  }
  if (!data) return AMDJIT_NULL;
  if ((uint64_t)(uintptr_t)data % facts->alignment) return AMDJIT_MISALIGNED;
  span->low = (uint64_t)(uintptr_t)data - below * facts->element_bytes;
  span->high = (uint64_t)(uintptr_t)data + (above + 1) * facts->element_bytes;
  return AMDJIT_FITS;
}

static inline int amdjit_share_memory(const amdjit_span *first, const amdjit_span *second) {
  return first->low < second->high && second->low < first->high;
}

/* The processors that run a generic processor's code, each after a space. */
static const char *const amdjit_generic[][2] = {
GENERIC};

/* How well a device runs code for a target id: 0 if not at all, which is so for other processors
 * and settings of another value; the more settings the better; worst a generic processor's. */
static inline size_t amdjit_runs_on(const char *id, const char *device) {
  size_t length = strcspn(id, ":"), own = strcspn(device, ":"), fit = 1000 + strlen(id), i;
  if (length != own || strncmp(id, device, length)) {
    const char *member = NULL;
    for (i = 0; i < sizeof amdjit_generic / sizeof *amdjit_generic; i++)
      if (strlen(amdjit_generic[i][0]) == length && !strncmp(id, amdjit_generic[i][0], length))
        member = amdjit_generic[i][1];
    while (member && (strcspn(member + 1, " ") != own || strncmp(member + 1, device, own)))
      member = strchr(member + 1, ' ');
    if (!member) return 0;
    fit = strlen(id);
  }
  for (id += length; *id; id += length) {
    const char *there = device;
    length = 1 + strcspn(id + 1, ":"); /* with the colon before it, and the sign at its end */
    while ((there = strchr(there, ':')) != NULL) {
      if (!strncmp(there, id, length - 1) && there[length - 1] != id[length - 1]) return 0;
      there++;
    }
  }
  return fit;
}
"""

_FLOAT_FUNCTIONS = """\
/* Floats of 8 and 16 bits, as their bits. kind 0: with infinities; 1: without, the last code is
 * NaN; 2: the code of -0 is the only NaN. */
static inline double amdjit_from_bits(uint32_t code, int bits, int fraction, int bias, int kind) {
  uint32_t sign = code >> (bits - 1), magnitude = code & ((1u << (bits - 1)) - 1);
  int exponent = (int)(magnitude >> fraction), last = (1 << (bits - 1 - fraction)) - 1;
  double value = (double)(magnitude & ((1u << fraction) - 1));
  if (kind == 0 && exponent == last) value = value != 0 ? (double)NAN : (double)INFINITY;
  else if (kind == 1 && magnitude == (1u << (bits - 1)) - 1) value = (double)NAN;
  else if (kind == 2 && sign && !magnitude) return (double)NAN;
  else if (exponent) value = ldexp(value + (double)(1u << fraction), exponent - bias - fraction);
  else value = ldexp(value, 1 - bias - fraction);
  return sign ? -value : value;
}

/* Round to the nearest, of two the even one; what is too large becomes infinite or NaN. */
static inline uint32_t amdjit_to_bits(double value, int bits, int fraction, int bias, int kind) {
  uint32_t sign = signbit(value) ? 1u << (bits - 1) : 0, all = (1u << (bits - 1)) - 1;
  uint32_t infinity = all & ~((1u << fraction) - 1);
  uint32_t least_infinite = kind == 0 ? infinity : kind == 1 ? all : all + 1;
  uint32_t nan = kind == 0 ? infinity | 1u << (fraction - 1) : kind == 1 ? all : 1u << (bits - 1);
  uint32_t over = kind == 2 ? nan : sign | (kind == 0 ? infinity : nan);
  int exponent;
  uint32_t whole;
  double scaled;
  uint32_t code;
  if (isnan(value)) return kind == 2 ? nan : sign | nan;
  if (isinf(value)) return over;
  if (value == 0) return kind == 2 ? 0 : sign;
  (void)frexp(value, &exponent);
  exponent = exponent - 1 + bias < 1 ? 1 : exponent - 1 + bias;
  if (exponent > 1 << (bits - fraction)) return over;
  scaled = ldexp(fabs(value), fraction + bias - exponent);
  whole = (uint32_t)scaled;
  if (scaled - whole > 0.5 || (scaled - whole == 0.5 && whole % 2)) whole += 1;
  /* The hidden bit, and a carry out of the fraction, count the exponent up. */
  code = ((uint32_t)(exponent - 1) << fraction) + whole;
  if (code >= least_infinite) return over;
  return kind == 2 && !code ? 0 : sign | code;
}
"""


def common_text() -> str:
    """Return the shared part of a header."""
    generic = "".join(
        f'  {{"{each.name}", "{"".join(f" {name}" for name in each.members)}"}},\n'
        for each in TARGETS
        if each.members
    )
    types = "\n".join(
        f"typedef uint{each.bits}_t amdjit_{each.name}; /* its bits */" for each in _FLOATS
    )
    conversions = "\n".join(_conversions(each) for each in _FLOATS)
    return (
        "#ifndef AMDJIT_C\n#define AMDJIT_C 1\n\n"
        f"{types}\ntypedef uint8_t amdjit_boolean; /* 0 or 1 */\n\n"
        f"{_CHECKS.replace('GENERIC', generic)}\n{_FLOAT_FUNCTIONS}\n{conversions}\n"
        "#endif /* AMDJIT_C */\n"
    )


def _conversions(each: _Float) -> str:
    numbers = f"{each.bits}, {each.fraction}, {each.bias}, {each.kind}"
    name = f"amdjit_{each.name}"
    return (
        f"static inline double {name}_value({name} bits) {{\n"
        f"  return amdjit_from_bits(bits, {numbers});\n}}\n"
        f"static inline {name} {name}_bits(double value) {{\n"
        f"  return ({name})amdjit_to_bits(value, {numbers});\n}}\n"
    )


# A kernel's structs in C: the arguments, the kernarg segment, and the conversion between them.
#
# before: a parameter x of f32[:, ::1] after:  `const float *data; int64_t shape[2];` in
# `KERNEL_x_argument`, and in `KERNEL_kernarg`         `uint64_t x_data;` ... `int32_t x_extent0;`
# `int32_t x_extent1;` at the offsets of the code


def argument_structs(interface: Interface, kernel: str) -> list[str]:
    """Return the lines that define the struct of the arguments, and the structs of arrays and
    tuples."""
    lines: list[str] = []
    for parameter in interface.parameters:
        lines += _type_of(parameter, kernel)
    members = [line for each in interface.parameters for line in _member(each, kernel)]
    if interface.record is not None:
        note = "/* where the kernel reports; see below */"
        members.append(f"{kernel}_record *{interface.record.path[0]}; {note}")
    members = members or ["int nothing; /* the kernel takes no arguments */"]
    body = [f"  {line}" for line in members]
    return [*lines, f"typedef struct {kernel}_arguments {{", *body, f"}} {kernel}_arguments;"]


def _type_of(parameter: Parameter, kernel: str) -> Iterator[str]:
    """Yield the definition of a parameter's own type, if it has one, after those of its parts."""
    if isinstance(parameter, CompiledIn):
        return
    name = f"{kernel}_{parameter.label}_argument"
    if isinstance(parameter, Group):
        for part in parameter.parts:
            yield from _type_of(part, kernel)
        members = [line for part in parameter.parts for line in _member(part, kernel)]
    elif isinstance(parameter.type, Array):
        record = f"{kernel}_{parameter.label}_element"
        if isinstance(parameter.type.element, Record):
            yield from record_struct(parameter.type.element, record)
            yield ""
        members = _array_members(parameter, parameter.type, record)
    else:
        return
    yield f"/* {parameter.name}: {parameter.type} */"
    yield f"typedef struct {name} {{"
    yield from (f"  {line}" for line in members or ["int nothing; /* all of it is compiled in */"])
    yield f"}} {name};"
    yield ""


def _array_members(leaf: Leaf, type: Array, record: str) -> list[str]:
    element = element_type(type.element, record)
    promise = "the kernel may write it" if leaf.written else "the kernel does not write it"
    lines = [f"{'' if leaf.written else 'const '}{element} *data; /* on the device; {promise} */"]
    if type.ndim:
        lines.append(f"int64_t shape[{type.ndim}];")
    if type.layout.has_strides and type.ndim:
        lines.append(f"int64_t strides[{type.ndim}]; /* in elements */")
    return lines


def _member(parameter: Parameter, kernel: str) -> Iterator[str]:
    """Yield the member for a parameter in the struct that contains it."""
    if isinstance(parameter, CompiledIn):
        yield f"/* {parameter.name} = {comment(parameter.text)} is compiled in */"
        return
    member = parameter.path[-1]
    if isinstance(parameter, Group) or isinstance(parameter.type, Array):
        yield f"{kernel}_{parameter.label}_argument {member};"
        return
    note = f"/* {parameter.name}: {parameter.type}{'' if parameter.used else ', not used'} */"
    if isinstance(parameter.type, PythonNumber):
        # A Python integer without a type of its own fits an i32.
        yield f"{'int32_t' if parameter.type.kind is int else 'double'} {member}; {note}"
    else:
        yield f"{declared(parameter.type, member)}; {note}"


def comment(text: str, most: int = 60) -> str:
    """Return text in a form that can be in a comment, at most `most` characters of it."""
    shown = text if len(text) <= most else text[: most - 3] + "..."
    return shown.replace("*/", "* /").replace("\\", "\\\\")


def kernarg_struct(interface: Interface, kernel: str) -> list[str]:
    """Return the lines that define the explicit part of the kernarg segment, and assert that a
    compiler lays it out as the code expects."""
    names, lines, end = CNames(*(value.member for value in interface.values)), [], 0
    checks = []
    for value in interface.values:
        lines += gap(names, value.offset - end)
        lines.append(f"{_machine_member(value)};")
        end = value.offset + value.nbytes
        place = f"offsetof({kernel}_kernarg, {value.member}) == {value.offset}"
        checks.append(f"AMDJIT_ASSERT({kernel}_{value.member}_offset, {place});")
        size = f"sizeof((({kernel}_kernarg *)0)->{value.member}) == {value.nbytes}"
        checks.append(f"AMDJIT_ASSERT({kernel}_{value.member}_bytes, {size});")
    # The struct consists of whole words of 8 bytes, so that compilers add no padding.
    rounded = max(8, -(-end // 8) * 8)
    lines += gap(names, rounded - end)
    checks.append(
        f"AMDJIT_ASSERT({kernel}_kernarg_is_whole, sizeof({kernel}_kernarg) == {rounded});"
    )
    body = [f"  {line}" for line in lines]
    return [f"typedef struct {kernel}_kernarg {{", *body, f"}} {kernel}_kernarg;", *checks]


def _machine_member(value: MachineValue) -> str:
    if value.part == "data":
        return f"uint64_t {value.member}"
    return declared(value.type, value.member)


def pack_function(interface: Interface, kernel: str) -> list[str]:
    """Return the function that writes arguments into a kernarg segment."""
    lines = [
        f"static inline void {kernel}_pack({kernel}_kernarg *kernarg, "
        f"const {kernel}_arguments *arguments) {{",
        "  memset(kernarg, 0, sizeof *kernarg);",
    ]
    if not interface.values:
        lines.append("  (void)arguments;")
    return [*lines, *(f"  {_packed(value)}" for value in interface.values), "}"]


def _packed(value: MachineValue) -> str:
    source = "arguments->" + ".".join(value.leaf.path)
    target = f"kernarg->{value.member}"
    if value.part == "data":
        return f"{target} = (uint64_t)(uintptr_t){source}.data;"
    if value.part == "record":
        return f"{target} = (uint64_t)(uintptr_t){source}->device;"
    if value.part in ("extent", "stride"):
        array = "shape" if value.part == "extent" else "strides"
        assert isinstance(value.type, Scalar)
        return f"{target} = ({scalar_type(value.type)}){source}.{array}[{value.axis}];"
    if isinstance(value.type, Vector):
        return f"memcpy({target}, {source}, sizeof {target});"
    assert isinstance(value.type, Scalar)
    if isinstance(value.leaf.type, PythonNumber):
        return f"{target} = {_converted(source, value.leaf.type, value.type)};"
    return f"{target} = {source} != 0;" if value.type is boolean else f"{target} = {source};"


def _converted(source: str, given: PythonNumber, type: Scalar) -> str:
    """Return an expression for a Python number in the type in which the kernel uses it. Its range
    has been checked."""
    if type is boolean:
        return f"{source} != 0"
    if type.is_float and (type.bits < 32):
        return f"{scalar_type(type).removesuffix('_t')}_bits((double){source})"
    if given.kind is float and not type.is_float:
        return _truncated(source, type)
    return f"({scalar_type(type)}){source}"


def _truncated(source: str, type: Scalar) -> str:
    """Return a C expression that converts toward zero as kernels do: NaN becomes 0, and a value out
    of range the nearest integer."""
    name = scalar_type(type).removesuffix("_t").upper()
    least, most = ("0" if not type.is_signed else f"{name}_MIN"), f"{name}_MAX"
    # A power of two is exactly representable as a double; the greatest integer may not be.
    above = f"{float(type.maximum + 1)!r}"
    inside = f"({scalar_type(type)}){source}"
    return (
        f"{source} != {source} ? 0 : {source} < {float(type.minimum)!r} ? {least} : "
        f"{source} >= {above} ? {most} : {inside}"
    )


# A kernel's reports to the host, in C: a record for each launch, and tables that turn its numbers
# into text.
#
# The record's layout is that of `amdjit.abi.reports`. The tables hold the texts of prints and
# faults in parts, each of which is a text, or a value with its format.

_HEADLINES = {"assert": "AssertionError", "index": "IndexError"}
# Formats of Python that mean the same in printf.
_FLOAT_FORMAT = re.compile(r"0?\d*(\.\d+)?[fFeEgG]")
_DECIMAL_FORMAT = re.compile(r"(0?\d*)d?")
_HEXADECIMAL_FORMAT = re.compile(r"(0?\d*)([xX])")


def common_reports() -> str:
    """Return what the headers of all reporting kernels share."""
    return COMMON


def record_type(kernel: str, table: ReportTable, print_buffer: int) -> list[str]:
    """Return the lines that declare a kernel's record, before its arguments."""
    capacity = print_buffer if table.prints else 0
    return [
        "/* Where the kernel reports: one for each launch that has not been told. */",
        f"#define {kernel.upper()}_RECORD_BYTES {HEAD_BYTES + capacity}",
        f"typedef struct {kernel}_record {{",
        "  void *device;",
        "  unsigned block[3]; /* of the launch */",
        f"}} {kernel}_record;",
    ]


def record_words() -> dict[str, str]:
    """Return the values that replace the names of the layout of a record in the C templates."""
    return {
        "HEAD_WORDS": str(HEAD_BYTES // 4),
        "LINE_HEAD": str(LINE_HEAD_WORDS),
        **{f"WORD_{word.name}": str(int(word)) for word in Word},
    }


def report_functions(table: ReportTable) -> str:
    """Return the template of the functions that make and read a kernel's record."""
    parts = [RECORD]
    parts += [TELL_LINES] if table.prints else []
    parts += [TELL_FAULT] if table.faults else []
    tell = [
        "/* Write what a launch has told, which has ended: to `lines` what it printed, to `faults`",
        " * what has stopped it. has_failed: whether something has. */",
        "static inline hipError_t KERNEL_record_tell(const KERNEL_record *record,",
        "    const KERNEL_kernel *kernel, FILE *lines, FILE *faults, int *has_failed) {",
        "  uint32_t head[HEAD_WORDS];",
        "  hipError_t error = hipMemcpy(head, record->device, sizeof head, hipMemcpyDeviceToHost);",
        "  *has_failed = 0;",
        "  if (error != hipSuccess) return error;",
    ]
    if table.prints:
        tell.append("  error = KERNEL_tell_lines(record, kernel, head, lines);")
    if table.faults:
        tell.append("  *has_failed = KERNEL_tell_fault(head, faults);")
    tell += [f"  (void){name};" for name in ("kernel", "lines", "faults")]
    return "\n".join([*parts, *tell, "  return error;", "}"])


def report_tables(kernel: str, table: ReportTable) -> Iterator[str]:
    """Yield the lines of the tables that turn a kernel's numbers into text."""
    for number, text in enumerate(table.prints):
        yield from _parts(f"{kernel}_print{number}", text)
    for number, site in enumerate(table.faults):
        name = _HEADLINES.get(site.kind, "")
        head = f"{name}: " if name and site.text.parts else name
        yield from _parts(f"{kernel}_fault{number}", Text((head, *site.text.parts)))
    if table.prints:
        yield f"static const amdjit_text {kernel}_prints[] = {{"
        for number, text in enumerate(table.prints):
            yield f"  {{{kernel}_print{number}, {len(text.parts)}, {text.words}}},"
        yield "};"
    if table.faults:
        yield f"static const amdjit_site {kernel}_faults[] = {{"
        for number, site in enumerate(table.faults):
            count = 1 + len(site.text.parts)
            shown = f"{{{kernel}_fault{number}, {count}, {site.text.words}}}"
            yield f"  {{{shown}, {_place(site.file, site.line)}, {int(site.is_library)}}},"
        yield "};"
        yield f"static const amdjit_call {kernel}_calls[] = {{"
        for call in table.calls:
            words = c_string(call.caller), _place(call.file, call.line), c_string(call.text)
            yield f"  {{{', '.join(words)}, {int(call.is_library)}}},"
        yield "  {NULL, NULL, NULL, 0}"
        yield "};"
        yield f"#define {kernel.upper()}_CALLS UINT64_C({max(table.base, 2)})"


def _place(file: str, line: int) -> str:
    """Return a place as a C string. It has only the name of the file, which is the same on every
    machine."""
    return c_string(f"{PurePath(file).name}:{line}")


def _parts(name: str, text: Text) -> Iterator[str]:
    yield f"static const amdjit_part {name}[] = {{"
    for part in text.parts or ("",):
        if isinstance(part, str):
            yield f"  {{AMDJIT_TEXT, 0, {c_string(part)}}},"
        else:
            yield f"  {{{_kind(part.type)}, {part.type.bits}, {_format(part)}}},"
    yield "};"


def _kind(type: Scalar) -> str:
    if type is boolean:
        return "AMDJIT_IS_BOOLEAN"
    if type.is_float:
        return f"AMDJIT_IS_{type.name.upper()}"
    return "AMDJIT_IS_SIGNED" if type.is_signed else "AMDJIT_IS_UNSIGNED"


def _format(field: Field) -> str:
    """Return the format of printf for a value; NULL for Python's default format.

    LaunchError for a format that printf does not have.
    """
    spec, type = field.spec, field.type
    if not spec:
        return "NULL"
    decimal, hexadecimal = _DECIMAL_FORMAT.fullmatch(spec), _HEXADECIMAL_FORMAT.fullmatch(spec)
    if not field.conversion and type.is_float and _FLOAT_FORMAT.fullmatch(spec):
        return f'"%{spec}"'
    if not field.conversion and type.is_integer and decimal:
        return f'"%{decimal[1]}" PRI{"d" if type.is_signed else "u"}64'
    if not field.conversion and type.is_integer and not type.is_signed and hexadecimal:
        return f'"%{hexadecimal[1]}" PRI{hexadecimal[2]}64'
    shown = f"{f'!{field.conversion}' if field.conversion else ''}:{spec}"
    raise LaunchError(
        f"it writes an {type} as `{{...{shown}}}`, which C cannot: use a width and `d`, or `.3f` "
        "and the like for floats, or no format"
    )
