"""Hosts with fewer features than this one, which the emulator's host code can be made for."""

from __future__ import annotations

WIDE = frozenset(
    [
        "avx512f",
        "avx512bw",
        "avx512dq",
        "avx512vl",
        "avx512cd",
        "avx512vbmi",
        "avx512vbmi2",
        "avx512ifma",
        "avx512vnni",
        "avx512bitalg",
        "avx512vpopcntdq",
        "avx512bf16",
        "avx512fp16",
        "avx512vp2intersect",
    ]
)


HOSTS = {
    "haswell": WIDE,
    "ivybridge": WIDE | {"avx2", "fma", "bmi", "bmi2", "avxvnni"},
    "x86-64-v2": WIDE
    | {"avx2", "fma", "bmi", "bmi2", "avx", "f16c", "avxvnni", "vaes", "vpclmulqdq", "fma4", "xop"},
}
