"""Options and environment variables: what they mean, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amdjit.diagnostics.errors import AmdjitError
from amdjit.options import (
    FAST_MATH_FLAGS,
    CompileOptions,
    Environment,
    OptionError,
    default_target,
    named_target,
    read_environment,
)

TARGET = named_target("gfx1201")


def test_equal_options_are_equal_keys() -> None:
    assert CompileOptions(TARGET, block=(32, 8)) == CompileOptions(TARGET, block=(32, 8))
    assert (
        len({CompileOptions(TARGET), CompileOptions(TARGET), CompileOptions(TARGET, wave_size=64)})
        == 2
    )


@pytest.mark.parametrize(
    ("block", "most", "shape"),
    [
        (None, 1024, None),
        (256, 256, None),
        ((32, 8), 256, (32, 8, 1)),
        ((64,), 64, (64, 1, 1)),
        ((4, 4, 4), 64, (4, 4, 4)),
    ],
)
def test_block_is_a_bound_or_a_shape(
    block: Any, most: int, shape: tuple[int, int, int] | None
) -> None:
    options = CompileOptions(TARGET, block=block)
    assert (options.max_workgroup_size, options.required_workgroup_size) == (most, shape)


def test_fast_math_is_all_none_or_some_flags() -> None:
    assert CompileOptions(TARGET).fast_math_flags == ()
    assert CompileOptions(TARGET, fastmath=True).fast_math_flags == FAST_MATH_FLAGS
    assert CompileOptions(TARGET, fastmath=frozenset({"nnan", "arcp"})).fast_math_flags == (
        "nnan",
        "arcp",
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"block": 0}, "block=0"),
        ({"block": 1025}, "1 to 1024"),
        ({"block": (64, 32)}, r"block=\(64, 32\)"),
        ({"block": (1, 1, 1, 1)}, "up to 3 extents"),
        ({"block": ()}, "up to 3 extents"),
        ({"block": True}, "block=True"),
        ({"block": (8.0,)}, "block"),
        ({"fastmath": frozenset({"fast"})}, "unknown fast; there are nnan"),
        ({"waves_per_eu": 17}, "1 to 16"),
        ({"wave_size": 48}, "32, 64"),
        ({"opt_level": 4}, "opt_level=4"),
        ({"asserts": 1}, "asserts=1: give True or False"),
        ({"warnings": None}, "warnings=None"),
        ({"bounds_check": "yes"}, "bounds_check='yes': give True, False or None"),
        ({"inline": 2}, "inline=2"),
        ({"denormals": "zero"}, 'denormals=.zero.: give "preserve" or "flush"'),
        ({"f64_math": "rocm"}, 'f64_math=.rocm.: give "own" or "ocml"'),
        ({"unroll": 0}, "unroll=0: give 1 to 1024"),
        ({"unroll": True}, "unroll=True"),
        ({"print_buffer": 3}, "print_buffer=3: give 64 to"),
    ],
)
def test_values_that_cannot_be_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words) as caught:
        CompileOptions(TARGET, **changes)
    assert isinstance(caught.value, AmdjitError)
    assert isinstance(caught.value, ValueError)


def test_an_empty_environment_asks_for_nothing() -> None:
    assert read_environment({}) == Environment()
    assert default_target(Environment()).name == "gfx1201"


def test_every_variable_is_read() -> None:
    variables = {
        "AMDJIT_DEVICE": "emulator:gfx1200",
        "AMDJIT_TARGET": "gfx1200",
        "AMDJIT_LINKER": "zig",
        "AMDJIT_CACHE_DIR": "/somewhere",
        "AMDJIT_EMULATOR_THREADS": "3",
        "AMDJIT_EMULATOR_TIME_LIMIT": "2.5",
        "AMDJIT_EMULATOR_MEMORY": "3G",
        "AMDJIT_EMULATOR_TIER": "quick",
        "AMDJIT_EMULATOR_MATRIX": "fma",
        "AMDJIT_EMULATOR_MATH": "fast",
        "ROCM_PATH": "/rocm",
        "AMDJIT_DEVICE_LIBS": "/libraries",
        "PATH": "/bin",
        "AMDJIT_DEBUG": "1",
        "AMDJIT_WARNINGS": "0",
        "AMDJIT_ROCTX": "1",
    }
    target = named_target("gfx1200")
    assert read_environment(variables) == Environment(
        "emulator:gfx1200",
        target,
        "zig",
        Path("/somewhere"),
        3,
        2.5,
        Path("/rocm"),
        "/bin",
        True,
        False,
        device_libraries=Path("/libraries"),
        emulator_memory=3 << 30,
        emulator_tier="quick",
        emulator_matrix="fma",
        emulator_math="fast",
        roctx=True,
    )
    assert default_target(read_environment(variables)) == target


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"AMDJIT_CACHE_DIR": ""}, None),
        ({"XDG_CACHE_HOME": "/xdg", "HOME": "/home/me"}, Path("/xdg/amdjit")),
        ({"AMDJIT_CACHE_DIR": "/mine", "XDG_CACHE_HOME": "/xdg"}, Path("/mine")),
    ],
)
def test_the_cache_is_where_the_environment_says(
    variables: dict[str, str], place: Path | None
) -> None:
    assert read_environment(variables).cache_dir == place


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "AMDJIT_TARGET",
            "gfx902",
            "AMDJIT_TARGET: unknown target 'gfx902': amdjit has gfx906, gfx908, gfx90a",
        ),
        ("AMDJIT_TARGET", "gfx902", "gfx1251; the nearest is gfx906"),
        ("AMDJIT_EMULATOR_THREADS", "0", "1 to 1024"),
        ("AMDJIT_EMULATOR_THREADS", "two", "1 to 1024"),
        ("AMDJIT_EMULATOR_THREADS", "9" * 5000, "1 to 1024"),
        ("AMDJIT_EMULATOR_TIME_LIMIT", "-1", "more than 0"),
        ("AMDJIT_EMULATOR_TIME_LIMIT", "nan", "more than 0"),
        ("AMDJIT_EMULATOR_TIME_LIMIT", "soon", "more than 0"),
        ("AMDJIT_COMPILE_TIME_LIMIT", "0", "more than 0"),
        ("AMDJIT_COMPILE_GUARD", "no", "give 0 or 1"),
        ("AMDJIT_EMULATOR_MEMORY", "0", "more than 0"),
        ("AMDJIT_EMULATOR_MEMORY", "8GB", "such as 512M"),
        ("AMDJIT_EMULATOR_MEMORY", "G", "such as 512M"),
        ("AMDJIT_EMULATOR_TIER", "fast", "quick or full"),
        ("AMDJIT_EMULATOR_MATRIX", "exact", "silicon or fma"),
        ("AMDJIT_EMULATOR_MATH", "fma", "silicon or fast"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(name: str, value: str, words: str) -> None:
    with pytest.raises(OptionError, match=f"{name}|{words}") as caught:
        read_environment({name: value})
    assert words in str(caught.value)
    assert name in str(caught.value)


def test_llvm_has_a_process_of_its_own_unless_the_environment_says_otherwise() -> None:
    assert read_environment({}).compile_guard
    assert read_environment({}).compile_time_limit is None
    chosen = read_environment({"AMDJIT_COMPILE_GUARD": "0", "AMDJIT_COMPILE_TIME_LIMIT": "2.5"})
    assert not chosen.compile_guard
    assert chosen.compile_time_limit == 2.5
