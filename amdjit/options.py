"""What users choose: the options of one compilation, which values they may have, and the one reader
of environment variables."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from amdjit.diagnostics.errors import AmdjitError
from amdjit.late_methods import dataclass, field
from amdjit.target import DEFAULT_TARGET, Target, read_target

__all__ = [
    "FAST_MATH_FLAGS",
    "LANES_CHECK",
    "MATH_ARITHMETICS",
    "MATRIX_ARITHMETICS",
    "SANITIZER_CHECKS",
    "CompileOptions",
    "Environment",
    "OptionError",
    "checked_arithmetic",
    "checked_sanitize",
    "default_target",
    "named_target",
    "read_environment",
    "rocm_settings",
]


# How the emulator computes matrix and dot products of floats: docs/emulator.md.
MATRIX_ARITHMETICS = ("silicon", "fma")
MATH_ARITHMETICS = ("silicon", "fast")

COMPILE_TIME_LIMIT = 600.0
_OF_ROCM = (
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HSA_OVERRIDE_GFX_VERSION",
    "LD_LIBRARY_PATH",
)

# KiB, MiB, GiB, TiB as powers of two.
_BINARY = {"K": 10, "M": 20, "G": 30, "T": 40}


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How one kernel is compiled. Part of the key of a compiled kernel: equal options, equal code.

    fastmath: False, True (all flags) or some of FAST_MATH_FLAGS.
    block: the most work-items of a workgroup (also spelled max_block), its exact shape of up to 3
    extents, or None for 1024 at most.
    waves_per_eu: waves a SIMD should hold (bounds the VGPRs), or None.
    max_registers: the most VGPRs of a work-item, 8 at least, or None; what does not fit is kept in
    scratch memory.
    wave_size: lanes of a wave, 32 or 64 (0: the processor's usual one).
    opt_level: 0 to 3, as clang's -O.
    debug_info: keep the Python source lines in the code object.
    debug_variables: describe Python's variables there, too, with the registers that hold them, as
    far as the machine code does not change; the compilation takes several times as long.
    asserts: compile `assert` and `raise`; False leaves them out, so that they cost nothing.
    bounds_check: test every index against its array's shape; None does so if AMDJIT_DEBUG is 1.
    division_check: raise ZeroDivisionError where `/`, `//` or `%` divides by 0, floats too; else no
    division raises. With Numba's typing, also raise UnboundLocalError where a name is read that no
    path has assigned; else it is 0. It needs `asserts`.
    wraparound: let indices that are negative at run time count from the end.
    denormals: "preserve", or "flush" to read and write 0 for f32 numbers too small to be normal.
    f64_math: whose functions of f64 are called: "own", amdjit's, or "ocml", those of ROCm's device
    library, which must be installed (docs/reference/math.md).
    inline: True inlines all device functions, False none of the user's, None as each of them says.
    unroll: how many rounds to unroll loops by that do not say it themselves, 1 for no unrolling;
    None leaves it to LLVM.
    max_recursion: 1 to 256, how many calls of a recursion may be active within the first one; one
    more is a RecursionError on the host. Every level is code of its own.
    print_buffer: bytes that one launch can print; a line takes 20 and those of its values.
    warnings: warn about what is slow by accident (`amdjit.PerformanceWarning`); AMDJIT_WARNINGS=0
    turns all warnings off.
    sanitize: the checks that the emulator makes in all launches of the kernel, some of
    SANITIZER_CHECKS and "lanes" (docs/sanitizer.md).
    exact_lines: give each memory access its own line in the code object. LLVM gives all accesses of
    a clause (`s_clause`) the line of the first, so no clauses are made. Fences, which may become no
    instruction, are marked by an `s_nop`. Launches with checks turn this on.
    local_checks: test the run-time indices of local arrays and of vectors, for the emulator, which
    reports those outside: launches with checks turn this on.
    typing: "amdjit" or "numba", by whose rules literals, Python's numbers and operators get their
    types; Numba's are i64 and f64.
    """

    target: Target
    fastmath: bool | frozenset[str] = False
    block: int | tuple[int, ...] | None = None
    waves_per_eu: int | None = None
    max_registers: int | None = None
    wave_size: int = 0
    opt_level: int = 3
    debug_info: bool = True
    debug_variables: bool = False
    asserts: bool = True
    bounds_check: bool | None = None
    division_check: bool = False
    wraparound: bool = False
    denormals: str = "preserve"
    f64_math: str = "own"
    inline: bool | None = None
    unroll: int | None = None
    max_recursion: int = 16
    print_buffer: int = 2**20
    warnings: bool = True
    sanitize: tuple[str, ...] = ()
    exact_lines: bool = False
    local_checks: bool = False
    typing: str = "amdjit"

    def __post_init__(self) -> None:
        if self.wave_size == 0:
            object.__setattr__(self, "wave_size", self.target.wave_size)
        check_options(self)

    def __repr__(self) -> str:
        usual = {"wave_size": self.target.wave_size}
        chosen = [
            f", {each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if each.name != "target"
            and getattr(self, each.name) != usual.get(each.name, each.default)
        ]
        return f"<options for {self.target}{''.join(chosen)}>"

    @property
    def fast_math_flags(self) -> tuple[str, ...]:
        """The LLVM flags that floating-point instructions get, in LLVM's order."""
        if isinstance(self.fastmath, bool):
            return FAST_MATH_FLAGS if self.fastmath else ()
        return tuple(flag for flag in FAST_MATH_FLAGS if flag in self.fastmath)

    @property
    def required_workgroup_size(self) -> tuple[int, int, int] | None:
        """The exact shape of a workgroup (x, y, z) if `block` fixes one."""
        if not isinstance(self.block, tuple):
            return None
        x, y, z = (*self.block, 1, 1)[:3]
        return x, y, z

    @property
    def max_workgroup_size(self) -> int:
        """The most work-items a workgroup of this kernel may have."""
        if self.block is None:
            return self.target.max_workgroup_size
        return self.block if isinstance(self.block, int) else math.prod(self.block)


@dataclass(frozen=True, slots=True)
class Environment:
    """What the environment variables of the process ask for; None for those that are not set.

    device: AMDJIT_DEVICE, the device to use where the program chooses none, such as hip:0 or
    emulator:gfx1201. target: AMDJIT_TARGET, the processor to compile for, and to emulate, where
    nothing else says: gfx1201 unless set. linker: AMDJIT_LINKER, the linker to use instead of
    amdjit's own: a program, or `zig` for the one of the ziglang package. cache_dir:
    AMDJIT_CACHE_DIR, where compiled code is kept: the platform's place for caches unless set;
    empty: none. emulator_threads: AMDJIT_EMULATOR_THREADS, threads of the CPU that the emulator
    uses: all unless set. emulator_time_limit: AMDJIT_EMULATOR_TIME_LIMIT, seconds that a launch may
    take on the emulator. emulator_tier: AMDJIT_EMULATOR_TIER, quick or full: how the emulator
    translates kernels; as it pays unless set. emulator_matrix: AMDJIT_EMULATOR_MATRIX, silicon or
    fma: round matrix and dot products of floats as the hardware was measured to, or as chains of
    f32 multiply-adds, which is quicker; silicon unless set. emulator_math: AMDJIT_EMULATOR_MATH,
    silicon or fast: v_exp, v_log, v_rcp, v_rsq, v_sqrt, v_sin and v_cos of f16 and f32 return the
    bits of the hardware, or are computed more precisely than that, which is quicker; silicon unless
    set. emulator_memory: AMDJIT_EMULATOR_MEMORY, bytes of the emulator's memory, such as 8G: as the
    host has unless set.
    debug: AMDJIT_DEBUG, 1 to test every index against its array's shape where a kernel does not
    say. warnings: AMDJIT_WARNINGS, 0 to turn amdjit's warnings off. compile_guard:
    AMDJIT_COMPILE_GUARD, 0 to run LLVM in the program's own process, which its failures then end.
    compile_time_limit: AMDJIT_COMPILE_TIME_LIMIT, seconds that each stage of a compilation may
    take, the typing of the kernel and those of LLVM: 600 unless set. cycle_parameters:
    AMDJIT_CYCLE_PARAMETERS, a file of parameters for the cycle model, such as `amdjit probe --fit`
    writes: the table of docs/cycles.md unless set. sanitize: AMDJIT_SANITIZE, checks that the
    emulator makes in all launches, such as `memory,race`. sanitize_json:
    AMDJIT_SANITIZE_JSON, a file that each report of these checks is appended to, one object a line.
    profile: AMDJIT_PROFILE, the page that a program which uses HIP writes of its launches, or their
    counts as JSON if the name ends in .json.
    record: AMDJIT_RECORD, a folder that each launch is written to, for `amdjit replay`.
    simulate: AMDJIT_SIMULATE, 1 to run all kernels as plain Python (docs/debugging.md).
    roctx: AMDJIT_ROCTX, 1 to name the range of each launch for ROCm's profilers.
    rocm_path: ROCM_PATH, where ROCm is installed, if it is; its linker
    and libraries are used. device_libraries: AMDJIT_DEVICE_LIBS, the
    folder of OCML, `ocml.bc`, for `f64_math="ocml"`: found unless set. search_path: PATH, where
    programs are looked for. no_color: NO_COLOR, set to anything for plain text in the terminal
    (no-color.org). force_color: FORCE_COLOR, set to anything but 0 for colour in pipes, too.
    terminal: TERM, `dumb` for plain text.
    """

    device: str | None = None
    target: Target | None = None
    linker: str | None = None
    cache_dir: Path | None = None
    emulator_threads: int | None = None
    emulator_time_limit: float | None = None
    rocm_path: Path | None = None
    search_path: str = field(default="", repr=False)
    debug: bool = False
    warnings: bool = True
    sanitize: tuple[str, ...] = ()
    sanitize_json: Path | None = None
    profile: Path | None = None
    record: Path | None = None
    simulate: bool = False
    roctx: bool = False
    emulator_memory: int | None = None
    emulator_tier: str | None = None
    emulator_matrix: str = "silicon"
    emulator_math: str = "silicon"
    device_libraries: Path | None = None
    compile_guard: bool = True
    compile_time_limit: float | None = None
    cycle_parameters: Path | None = None
    no_color: bool = False
    force_color: bool = False
    terminal: str = ""


def read_environment(variables: Mapping[str, str]) -> Environment:
    """Read amdjit's environment variables; OptionError for the first one with a wrong value.

    Empty variables count as unset. Only an empty AMDJIT_CACHE_DIR means something: no cache.
    """
    return Environment(
        device=variables.get("AMDJIT_DEVICE") or None,
        target=_target_variable(variables),
        linker=variables.get("AMDJIT_LINKER") or None,
        cache_dir=_cache_dir(variables),
        emulator_threads=_threads(variables),
        emulator_time_limit=_time_limit(variables, "AMDJIT_EMULATOR_TIME_LIMIT"),
        compile_guard=_switch(variables, "AMDJIT_COMPILE_GUARD", True),
        compile_time_limit=_time_limit(variables, "AMDJIT_COMPILE_TIME_LIMIT"),
        cycle_parameters=_path(variables, "AMDJIT_CYCLE_PARAMETERS"),
        emulator_memory=_memory(variables),
        emulator_tier=_tier(variables),
        emulator_matrix=_arithmetic(variables, "AMDJIT_EMULATOR_MATRIX", MATRIX_ARITHMETICS),
        emulator_math=_arithmetic(variables, "AMDJIT_EMULATOR_MATH", MATH_ARITHMETICS),
        debug=_switch(variables, "AMDJIT_DEBUG", False),
        warnings=_switch(variables, "AMDJIT_WARNINGS", True),
        sanitize=_sanitize(variables),
        sanitize_json=_path(variables, "AMDJIT_SANITIZE_JSON"),
        profile=_path(variables, "AMDJIT_PROFILE"),
        record=_path(variables, "AMDJIT_RECORD"),
        simulate=_switch(variables, "AMDJIT_SIMULATE", False),
        roctx=_switch(variables, "AMDJIT_ROCTX", False),
        device_libraries=_path(variables, "AMDJIT_DEVICE_LIBS"),
        rocm_path=_path(variables, "ROCM_PATH"),
        search_path=variables.get("PATH", ""),
        no_color=bool(variables.get("NO_COLOR")),
        force_color=variables.get("FORCE_COLOR", "0") not in ("", "0"),
        terminal=variables.get("TERM", ""),
    )


def rocm_settings(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of ROCm and of the loader that are set and decide which
    library and which GPUs a process sees. amdjit does nothing with them but show them."""
    return {name: variables[name] for name in _OF_ROCM if name in variables}


def default_target(environment: Environment) -> Target:
    """Return the target to compile for if neither the caller nor a device decides it."""
    return environment.target or named_target(DEFAULT_TARGET)


def _target_variable(variables: Mapping[str, str]) -> Target | None:
    name = variables.get("AMDJIT_TARGET")
    if not name:
        return None
    try:
        return named_target(name)
    except OptionError as error:
        raise OptionError(f"AMDJIT_TARGET: {error}") from None


def _path(variables: Mapping[str, str], name: str) -> Path | None:
    return Path(variables[name]) if variables.get(name) else None


def _switch(variables: Mapping[str, str], name: str, default: bool) -> bool:
    text = variables.get(name)
    if text not in (None, "", "0", "1"):
        raise OptionError(f"{name}={text!r}: give 0 or 1")
    return text == "1" if text else default


def _threads(variables: Mapping[str, str]) -> int | None:
    text = variables.get("AMDJIT_EMULATOR_THREADS")
    if not text:
        return None
    if not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= 1024:
        raise OptionError(f"AMDJIT_EMULATOR_THREADS={text!r}: give a whole number from 1 to 1024")
    return int(text)


def _sanitize(variables: Mapping[str, str]) -> tuple[str, ...]:
    parts = variables.get("AMDJIT_SANITIZE", "").split(",")
    return checked_sanitize(tuple(filter(None, map(str.strip, parts))), "AMDJIT_SANITIZE")


def _time_limit(variables: Mapping[str, str], name: str) -> float | None:
    text = variables.get(name)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise OptionError(f"{name}={text!r}: give seconds, more than 0")
    return seconds


def _memory(variables: Mapping[str, str]) -> int | None:
    text = variables.get("AMDJIT_EMULATOR_MEMORY")
    if not text:
        return None
    digits = text[:-1] if text[-1] in _BINARY else text
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 18 or int(digits) == 0:
        raise OptionError(
            f"AMDJIT_EMULATOR_MEMORY={text!r}: give bytes, more than 0, such as 512M or 8G"
        )
    return int(digits) << _BINARY.get(text[-1], 0)


def _tier(variables: Mapping[str, str]) -> str | None:
    text = variables.get("AMDJIT_EMULATOR_TIER")
    if text not in (None, "", "quick", "full"):
        raise OptionError(f"AMDJIT_EMULATOR_TIER={text!r}: give quick or full")
    return text or None


def _arithmetic(variables: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    return checked_arithmetic(variables.get(name) or known[0], name, known)


def checked_arithmetic(arithmetic: object, what: str, known: tuple[str, ...]) -> str:
    """Return one of the known arithmetics; OptionError for any other value."""
    if not isinstance(arithmetic, str) or arithmetic not in known:
        raise OptionError(f"{what}={arithmetic!r}: give {' or '.join(known)}")
    return arithmetic


def _cache_dir(variables: Mapping[str, str]) -> Path | None:
    if "AMDJIT_CACHE_DIR" in variables:
        chosen = variables["AMDJIT_CACHE_DIR"]
        return Path(chosen) if chosen else None
    if variables.get("XDG_CACHE_HOME"):
        return Path(variables["XDG_CACHE_HOME"]) / "amdjit"
    windows = os.name == "nt"
    home = variables.get("LOCALAPPDATA" if windows else "HOME")
    return Path(home, "amdjit/cache" if windows else ".cache/amdjit") if home else None


# Which values the options of a compilation may have.


# LLVM language reference, "Fast-Math Flags".
FAST_MATH_FLAGS = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")

# What the emulator can check launches for: docs/sanitizer.md.
SANITIZER_CHECKS = ("memory", "race", "init", "sync")
# Made only if it is named: races between the lanes of a wave, a part of the race check.
LANES_CHECK = "lanes"

# Options with two values. typing: whose rules for the types of literals and operators hold.
_ALTERNATIVES = {
    "denormals": ("preserve", "flush"),
    "f64_math": ("own", "ocml"),
    "typing": ("amdjit", "numba"),
}

# Limits that keep mistakes from costing hours or gigabytes: rounds of unrolled loops multiply code,
# each level of recursion is code of its own, and every launch allocates the buffer of prints.
_MOST_UNROLLED = 1024
_FEWEST_REGISTERS = 8
_DEEPEST_RECURSION = 256
_MOST_PRINTED = 2**30


class OptionError(AmdjitError, ValueError):
    """An option or environment variable is wrong; the message says which values are right."""


def check_options(options: Any) -> None:
    """Check each of the `CompileOptions`; OptionError for the first that is wrong."""
    _check_fastmath(options.fastmath)
    checked_sanitize(options.sanitize, "sanitize=")
    _check_block(options.block, options.target)
    _check_registers(options)
    target: Target = options.target
    if options.waves_per_eu is not None and not 1 <= options.waves_per_eu <= target.max_waves:
        raise OptionError(f"waves_per_eu={options.waves_per_eu}: give 1 to {target.max_waves}")
    if options.wave_size not in target.wave_sizes:
        raise OptionError(
            f"wave_size={options.wave_size}: {target} has {listed(target.wave_sizes)}"
        )
    if options.opt_level not in (0, 1, 2, 3):
        raise OptionError(f"opt_level={options.opt_level}: give 0, 1, 2 or 3")
    _check_language_options(options)


def named_target(name: str) -> Target:
    """Return the target of a name or target id, such as `gfx90a:xnack+`; OptionError with the
    known names, or for a setting that the processor lacks."""
    try:
        return read_target(name)
    except ValueError as error:
        raise OptionError(str(error)) from None


def checked_sanitize(checks: object, what: str) -> tuple[str, ...]:
    """Return names of checks in the order of the table; OptionError for an unknown one. The check
    of lanes is a part of the race check, and brings it along."""
    known = (*SANITIZER_CHECKS, LANES_CHECK)
    names = (
        (checks,)
        if isinstance(checks, str)
        else tuple(checks)
        if isinstance(checks, (tuple, list))
        else None
    )
    if names is None or not set(names) <= set(known):
        unknown = next((name for name in names or () if name not in known), checks)
        raise OptionError(f"{what}: there is no check {unknown!r}; there are {listed(known)}")
    wanted = {*names, "race"} if LANES_CHECK in names else set(names)
    return tuple(name for name in known if name in wanted)


def _check_fastmath(fastmath: bool | frozenset[str]) -> None:
    if isinstance(fastmath, bool):
        return
    unknown = sorted(set(fastmath) - set(FAST_MATH_FLAGS))
    if unknown:
        raise OptionError(
            f"fastmath: unknown {listed(unknown)}; there are {listed(FAST_MATH_FLAGS)}"
        )


def _check_block(block: int | tuple[int, ...] | None, target: Target) -> None:
    if block is None:
        return
    extents = block if isinstance(block, tuple) else (block,)
    sound = 1 <= len(extents) <= 3 and all(
        type(extent) is int and extent >= 1 for extent in extents
    )
    if not sound or math.prod(extents) > target.max_workgroup_size:
        raise OptionError(
            f"block={block!r}: give 1 to {target.max_workgroup_size} work-items, or up to 3 "
            "extents with that product"
        )


def _check_registers(options: Any) -> None:
    most = options.max_registers
    if most is not None and not (type(most) is int and most >= _FEWEST_REGISTERS):
        raise OptionError(
            f"max_registers={most!r}: give {_FEWEST_REGISTERS} VGPRs of a work-item or more"
        )


def _check_language_options(options: Any) -> None:
    for name in (
        "asserts",
        "wraparound",
        "division_check",
        "debug_variables",
        "warnings",
        "exact_lines",
        "local_checks",
    ):
        if type(getattr(options, name)) is not bool:
            raise OptionError(f"{name}={getattr(options, name)!r}: give True or False")
    if options.debug_variables and not options.debug_info:
        raise OptionError("debug_variables=True: it needs debug_info=True")
    for name in ("bounds_check", "inline"):
        if getattr(options, name) not in (None, True, False):
            raise OptionError(f"{name}={getattr(options, name)!r}: give True, False or None")
    for name, (first, second) in _ALTERNATIVES.items():
        if getattr(options, name) not in (first, second):
            raise OptionError(f'{name}={getattr(options, name)!r}: give "{first}" or "{second}"')
    if options.unroll is not None and not (
        type(options.unroll) is int and 1 <= options.unroll <= _MOST_UNROLLED
    ):
        raise OptionError(f"unroll={options.unroll!r}: give 1 to {_MOST_UNROLLED} rounds, or None")
    _check_recursion(options.max_recursion)
    if type(options.print_buffer) is not int or not 64 <= options.print_buffer <= _MOST_PRINTED:
        raise OptionError(
            f"print_buffer={options.print_buffer!r}: give 64 to {_MOST_PRINTED} bytes"
        )


def _check_recursion(deepest: object) -> None:
    if type(deepest) is not int or not 1 <= deepest <= _DEEPEST_RECURSION:
        raise OptionError(f"max_recursion={deepest!r}: give 1 to {_DEEPEST_RECURSION} calls")


def listed(names: object) -> str:
    """Return names as they stand in a message."""
    return ", ".join(map(str, names)) if isinstance(names, (list, tuple)) else str(names)
