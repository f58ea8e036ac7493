"""The C header of a kernel: constants, structs, checks, and functions that load and launch it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from amdjit.ahead_of_time.built_targets import BuiltTarget
from amdjit.ahead_of_time.c_checks import refusal_function, relied_on
from amdjit.ahead_of_time.c_common import common_text
from amdjit.ahead_of_time.c_names import c_string
from amdjit.ahead_of_time.c_reports import (
    common_reports,
    record_type,
    record_words,
    report_functions,
    report_tables,
)
from amdjit.ahead_of_time.c_structs import (
    argument_structs,
    comment,
    kernarg_struct,
    pack_function,
)
from amdjit.ahead_of_time.interface import Interface

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

# A cooperative launch takes a pointer to each value of the kernarg segment.
_TOGETHER = """\
  return hipModuleLaunchCooperativeKernel(kernel->function, grid[0], grid[1], grid[2], block[0],
                                          block[1], block[2], dynamic_lds, stream, values);
}
"""


def _launching(interface: Interface, names: dict[str, str]) -> str:
    """Return the function that launches."""
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
    """Return a template with names in the place of the words that stand for them."""
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
