"""The options that a kernel was decorated with, under their own names and Numba's, made complete
for one compilation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from amdjit.checking.sanitizing import ACTIVE
from amdjit.language.launch_numbers import NO_WIDTHS, NUMBA_WIDTHS
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.options import (
    CompileOptions,
    Environment,
    OptionError,
    checked_sanitize,
    default_target,
    named_target,
)
from amdjit.target import Target
from amdjit.types import Scalar, Type

if TYPE_CHECKING:
    import difflib
else:
    difflib = late("difflib")

__all__ = ["SPELLINGS", "GivenOptions", "KernelOptions", "UnknownOptionError", "checked_options"]


class GivenOptions(TypedDict, total=False):
    """The options of a kernel by the names and types that users may give them, for type checkers:
    those of `CompileOptions`, and their other spellings below."""

    fastmath: bool | Collection[str]
    block: int | tuple[int, ...] | None
    waves_per_eu: int | None
    max_registers: int | None
    wave_size: int
    opt_level: int
    debug_info: bool
    debug_variables: bool
    asserts: bool
    bounds_check: bool | None
    division_check: bool
    wraparound: bool
    denormals: str
    f64_math: str
    inline: bool | str | None
    unroll: int | None
    max_recursion: int
    print_buffer: int
    warnings: bool
    sanitize: bool | str | Collection[str]
    exact_lines: bool
    local_checks: bool
    typing: str
    max_block: int
    launch_bounds: int | tuple[int, ...] | None
    min_blocks: int
    opt: bool | int | None
    lineinfo: bool
    debug: bool | None
    boundscheck: bool | None
    forceinline: bool
    cache: bool
    link: Any
    lto: Any
    shared_memory_carveout: int | str | None
    extensions: Any
    argtypes: Any
    restype: Any
    bind: Any


@dataclass(frozen=True, slots=True)
class Spelling:
    """Another name for options."""

    name: str
    meaning: str
    """What the name means, for the reference."""
    options: Callable[[Any], dict[str, object]]
    """Makes the options from the value of the name."""


def spelled_out(options: Mapping[str, object]) -> dict[str, object]:
    """Return a kernel's options under the names that `CompileOptions` has.

    OptionError for a wrong value, and for two spellings of one option.
    """
    spelled: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name, value in options.items():
        spelling = _BY_NAME.get(name)
        meant = {name: value} if spelling is None else spelling.options(value)
        for option in meant:
            if option in origins:
                raise OptionError(
                    f"{name}= and {origins[option]}= both say {option}=: give one of the two"
                )
            origins[option] = name
        spelled |= meant
    return spelled


def with_waves(options: dict[str, Any], target: Target) -> dict[str, Any]:
    """Return a kernel's options with `waves_per_eu` in place of `min_blocks`: the waves that a
    SIMD has if its multiprocessor holds that many workgroups of the largest size."""
    blocks = options.get("min_blocks")
    chosen = {name: value for name, value in options.items() if name != "min_blocks"}
    if blocks is None:
        return chosen
    if type(blocks) is not int or blocks < 1:
        raise OptionError(f"min_blocks={blocks!r}: give 1 workgroup or more")
    if chosen.get("waves_per_eu") is not None:
        raise OptionError("min_blocks= decides waves_per_eu=: give one of the two")
    alone = CompileOptions(target, **chosen)
    waves = blocks * -(-alone.max_workgroup_size // alone.wave_size)
    chosen["waves_per_eu"] = -(-waves // target.simds_per_workgroup_processor)
    if chosen["waves_per_eu"] > target.max_waves:
        most = target.max_waves * target.simds_per_workgroup_processor
        raise OptionError(
            f"min_blocks={blocks}: that many workgroups of {alone.max_workgroup_size} work-items "
            f"have {waves} waves, and a multiprocessor of {target} holds {most}"
        )
    return chosen


def _max_block(value: Any) -> dict[str, object]:
    if type(value) is not int:
        raise OptionError(
            f"max_block={value!r}: give a number of work-items, and no block= with it"
        )
    return {"block": value}


def _launch_bounds(value: Any) -> dict[str, object]:
    if value is None:
        return {}
    bounds = value if isinstance(value, tuple) else (value,)
    if not 1 <= len(bounds) <= 3:
        raise OptionError(f"Got {len(bounds)} launch bounds: {value!r}; give one to three")
    if not all(type(bound) is int and bound >= 0 for bound in bounds):
        raise OptionError(
            f"launch_bounds={value!r}: give the most work-items of a block, or a tuple of them and "
            "the fewest blocks of a multiprocessor"
        )
    # The third entry bounds the blocks of a cluster from above. AMD GPUs have no clusters.
    blocks = {"min_blocks": bounds[1]} if len(bounds) > 1 and bounds[1] != 0 else {}
    return {"block": bounds[0], **blocks}


def _carveout(value: Any) -> dict[str, object]:
    if isinstance(value, str) and value.lower() not in ("default", "maxl1", "maxshared"):
        raise OptionError(
            f'Invalid carveout value {value!r}: give "default", "MaxL1" or "MaxShared"'
        )
    if not isinstance(value, str) and value is not None and value not in range(-1, 101):
        raise OptionError(f"shared_memory_carveout={value!r}: it must be between -1 and 100")
    return {}


def _opt(value: Any) -> dict[str, object]:
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"opt_level": 3 if value else 0}
    return {"opt_level": value}


def _lineinfo(value: Any) -> dict[str, object]:
    return {"debug_info": _switch("lineinfo", value)}


def _debug(value: Any) -> dict[str, object]:
    return {"debug_variables": True} if value is not None and _switch("debug", value) else {}


def _boundscheck(value: Any) -> dict[str, object]:
    return {} if value is None else {"bounds_check": _switch("boundscheck", value)}


def _cache(value: Any) -> dict[str, object]:
    _switch("cache", value)
    return {}


def _forceinline(value: Any) -> dict[str, object]:
    return {"inline": True} if _switch("forceinline", value) else {}


def _inline(value: Any) -> dict[str, object]:
    return {"inline": {"always": True, "never": None}.get(value, value)}


def _fastmath(value: Any) -> dict[str, object]:
    if isinstance(value, (set, frozenset, list, tuple)):
        return {"fastmath": True if "fast" in value else frozenset(value)}
    return {"fastmath": value}


def _sanitize(value: Any) -> dict[str, object]:
    return {"sanitize": checked_sanitize(value, "sanitize=")}


def _switch(name: str, value: Any) -> bool:
    if type(value) is not bool:
        raise OptionError(f"{name}={value!r}: give True or False")
    return value


def _refused(name: str, remedy: str) -> Spelling:
    def refuse(value: Any) -> dict[str, object]:
        if value is None or value is False or (isinstance(value, (list, tuple)) and not value):
            return {}
        raise OptionError(f"{name}={value!r}: {remedy}")

    return Spelling(name, f"refused unless it is empty: {remedy}", refuse)


_NO_TYPES = "types stand first: @amdjit.kernel('void(f32[:], i32)')"

SPELLINGS: tuple[Spelling, ...] = (
    Spelling("max_block", "`block=`, a number of work-items", _max_block),
    Spelling(
        "launch_bounds",
        "the most work-items of a block: `block=`; in a tuple followed by the fewest blocks of a "
        "multiprocessor: `min_blocks=`, and the most blocks of a cluster, which is always 1",
        _launch_bounds,
    ),
    Spelling(
        "min_blocks",
        "the fewest workgroups of the largest block that a multiprocessor should hold: "
        "`waves_per_eu=` follows from it",
        lambda value: {"min_blocks": value},
    ),
    Spelling("opt", "`opt_level=`: True is 3, False is 0", _opt),
    Spelling("lineinfo", "`debug_info=`, which is on unless it is False", _lineinfo),
    Spelling(
        "debug",
        "True is `debug_variables=True`; `assert` and `raise` reach the host without it",
        _debug,
    ),
    Spelling("boundscheck", "`bounds_check=`", _boundscheck),
    Spelling("fastmath", "also any collection of flags; `fast` means all of them", _fastmath),
    Spelling("inline", '"always" is True, "never" leaves it to each function', _inline),
    Spelling("forceinline", "True is `inline=True`", _forceinline),
    Spelling("cache", "compiled code is always kept on disk, see AMDJIT_CACHE_DIR", _cache),
    Spelling("sanitize", "also the name of one check", _sanitize),
    _refused("link", "declare functions of bitcode by intrinsic(LlvmCall(name, library=file))"),
    _refused("lto", "leave it out: kernels and their functions are optimised together"),
    Spelling(
        "shared_memory_carveout",
        "a hint without effect: the LDS and the caches are separate memories",
        _carveout,
    ),
    _refused("extensions", "pass arrays, or tuples and frozen dataclasses of them"),
    _refused("argtypes", _NO_TYPES),
    _refused("restype", _NO_TYPES),
    _refused("bind", _NO_TYPES),
)  # fmt: skip

_BY_NAME = {spelling.name: spelling for spelling in SPELLINGS}
_COMPILE_OPTIONS = frozenset(CompileOptions.__dataclass_fields__) - {"target"}


# The options that a kernel was decorated with, made complete for one compilation.


class UnknownOptionError(OptionError, TypeError):
    """There is no option of this name: also a TypeError, as for any unknown keyword."""


@dataclass(frozen=True)
class KernelOptions:
    """The options of a kernel's decorator, and the environment variables that complete them."""

    given: dict[str, Any]
    environment: Environment

    def target(self, name: str | None) -> Target:
        """Return the processor of this name; without a name the default one to compile for."""
        return named_target(name) if name is not None else default_target(self.environment)

    def complete(self, target: Target, **overrides: Any) -> CompileOptions:
        """Return the options of a compilation for a processor; OptionError for wrong ones."""
        chosen = {**self.given, **checked_options(overrides)}
        if chosen.get("bounds_check") is None:
            chosen["bounds_check"] = self.environment.debug
        return CompileOptions(target, **with_waves(chosen, target))

    @property
    def number_widths(self) -> Mapping[Type, Scalar]:
        """The types of Python's numbers; empty if they take the types of the other operands in the
        kernel."""
        return NUMBA_WIDTHS if self.given.get("typing") == "numba" else NO_WIDTHS

    @property
    def launches_are_checked(self) -> bool:
        """Whether a launch made now is checked, so that each access needs its own line."""
        return bool(ACTIVE.get() or self.environment.sanitize or self.given.get("sanitize"))


def known_names() -> set[str]:
    """Return the names of a kernel's options, and their other spellings."""
    return {*_COMPILE_OPTIONS, *_BY_NAME}


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return a kernel's options as `CompileOptions` takes them; UnknownOptionError for
    unknown ones."""
    options = spelled_out(options)
    known = {"min_blocks", *_COMPILE_OPTIONS}
    unknown = sorted(set(options) - known)
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownOptionError(
            f"a kernel has no option {unknown[0]!r}; its options are {', '.join(sorted(known))}."
            f"{hint}"
        )
    return options
