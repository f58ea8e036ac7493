"""What the names of memory instructions say: what is moved, in which width, and between which
lanes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from amdjit.isa.traits import (
    HIGH_HALF,
    LOW_HALF,
    Access,
    CacheAction,
    Exchange,
    Immediate,
    MemoryKind,
    Space,
    Traits,
)
from amdjit.isa.wait_counters import WaitEvent

_CACHES: Mapping[str, CacheAction] = {
    "s_dcache_inv": CacheAction.INVALIDATE,
    "s_gl1_inv": CacheAction.INVALIDATE,
    "s_dcache_inv_vol": CacheAction.INVALIDATE,
    "s_dcache_wb": CacheAction.WRITE_BACK,
    "s_dcache_wb_vol": CacheAction.WRITE_BACK,
    "buffer_inv": CacheAction.INVALIDATE,
    "buffer_invl2": CacheAction.INVALIDATE,
    "buffer_wbinvl1": CacheAction.INVALIDATE,
    "buffer_wbinvl1_vol": CacheAction.INVALIDATE,
    "buffer_wbl2": CacheAction.WRITE_BACK,
    "buffer_gl0_inv": CacheAction.INVALIDATE,
    "buffer_gl1_inv": CacheAction.INVALIDATE,
    "global_inv": CacheAction.INVALIDATE,
    "global_wb": CacheAction.WRITE_BACK,
    "global_wbinv": CacheAction.BOTH,
}
_WITHOUT_MEMORY = ("s_memtime", "s_memrealtime", "s_dcache_discard", "s_dcache_discard_x2")
# LLVM AMDGPU guide, "Memory Model GFX10-GFX11": GL0 is a compute unit's, GL1 a shader array's;
# "Memory Model GFX6-GFX9" and "GFX90A": L1 is invalidated to see what the device has written.
_CACHE_SCOPES: Mapping[str, int] = {
    "buffer_gl0_inv": 0,
    "buffer_gl1_inv": 2,
    "buffer_wbinvl1": 2,
    "buffer_wbinvl1_vol": 2,
}
_SPACES: Mapping[str, Space] = {
    "DS": Space.LDS,
    "VFLAT": Space.FLAT,
    "VSCRATCH": Space.PRIVATE,
}
# All that is left are atomics.
_KINDS = (
    ("_prefetch_", MemoryKind.PREFETCH),
    ("_probe", MemoryKind.PROBE),
    ("_load_", MemoryKind.LOAD),
    ("_store_", MemoryKind.STORE),
)
_EXCHANGES = (
    ("_swap_", Exchange.SWAP),
    ("_storexchg_", Exchange.SWAP),
    ("_cmpswap_", Exchange.COMPARE),
    ("_cmpstore_", Exchange.COMPARE),
    ("_cmpst_", Exchange.COMPARE),
)
_SIZE = re.compile(r"_[biuf](\d+)")
# They name no size, or that of one of two halves.
_DWORD = re.compile(r"_(append|consume|pk_add_(rtn_)?b?f16)$")
# Stores of 8 and 16 bits; `_d16_format_xy` and wider ones move whole registers.
_LOW_HALF = re.compile(r"_store_b(8|16)$|_d16(_[ui]8|_b16|_format_x)?$")
# The operand that is moved to other lanes.
_MOVES: Mapping[str, str] = {
    "ds_bpermute_b32": "data0",
    "ds_bpermute_fi_b32": "data0",
    "ds_permute_b32": "data0",
    "ds_swizzle_b32": "addr",
}


def scalar_memory_traits(base: Traits, name: str, format_name: str) -> Traits:
    """Return the traits of a SMEM instruction."""
    cache = _CACHES.get(name)
    return replace(
        base,
        once_per_wave=True,
        memory=None if cache or name in _WITHOUT_MEMORY else _access(name, format_name),
        cache=cache,
        event=WaitEvent.SCALAR_MEMORY,
    )


def lds_traits(base: Traits, name: str, format_name: str) -> Traits:
    """Return the traits of a DS instruction; those that move values between lanes use no memory."""
    if name == "ds_nop":
        return base
    moved = _MOVES.get(name)
    if moved is not None:
        is_swizzle = name == "ds_swizzle_b32"
        return replace(
            base,
            event=WaitEvent.LDS,
            moved_role=moved,
            reads_inactive=name == "ds_bpermute_fi_b32",
            lane_by_lane=False,
            once_per_wave=not is_swizzle,
            immediate=Immediate.SWIZZLE if is_swizzle else Immediate.NUMBER,
        )
    access = _access(name, format_name)
    is_whole = name in ("ds_append", "ds_consume") or access.is_transposed
    return replace(
        base,
        event=WaitEvent.LDS,
        memory=access,
        implies_m0="_addtid_" in name,
        lane_by_lane=not is_whole,
        once_per_wave=is_whole,
    )


def lds_direct_traits(base: Traits, name: str, format_name: str) -> Traits:
    """Return the traits of an LDSDIR instruction."""
    immediate = Immediate.ATTRIBUTE if name == "ds_param_load" else Immediate.NONE
    return replace(base, event=WaitEvent.LDS_DIRECT, immediate=immediate)


def vector_memory_traits(base: Traits, name: str, format_name: str) -> Traits:
    """Return the traits of a VFLAT, VGLOBAL, VSCRATCH or VBUFFER instruction."""
    cache = _CACHES.get(name)
    access = None if cache else _access(name, format_name)
    is_transposed = access is not None and access.is_transposed
    # M0 says which of its registers a block moves.
    is_block = name.endswith("_block")
    return replace(
        base,
        memory=access,
        cache=cache,
        cache_scope=_CACHE_SCOPES.get(name),
        implies_m0="_load_lds_" in name,
        event=_vector_event(cache, access, format_name),
        once_per_wave=is_transposed,
        lane_by_lane=not is_transposed and not is_block,
    )


def _vector_event(cache: CacheAction | None, access: Access | None, format_name: str) -> WaitEvent:
    """Write-backs of caches count with the stores (LLVM: SIInsertWaitcnts,
    getVmemWaitEventType)."""
    stores = cache is not None and cache.writes_back
    if access is not None:
        stores = access.kind is not MemoryKind.LOAD
    if format_name == "VFLAT":
        return WaitEvent.FLAT_STORE if stores else WaitEvent.FLAT_LOAD
    return WaitEvent.VECTOR_STORE if stores else WaitEvent.VECTOR_LOAD


def _access(name: str, format_name: str) -> Access:
    exchanges = (exchange for part, exchange in _EXCHANGES if part in name)
    return Access(
        _SPACES.get(format_name, Space.GLOBAL),
        next((kind for part, kind in _KINDS if part in name), MemoryKind.ATOMIC),
        _size(name),
        half=_half(name),
        exchange=next(exchanges, None),
        has_descriptor="buffer" in name,
        names_format=name.startswith("tbuffer_"),
        converts="_format_" in name,
        is_transposed="_tr_" in name,
        has_two_addresses="_2addr_" in name,
        expects_first="_cmpst_" in name,
    )


def _size(name: str) -> int:
    if _DWORD.search(name):
        return 4
    match = _SIZE.search(name)
    return int(match[1]) // 8 if match else 0


def _half(name: str) -> int | None:
    if "_d16_hi" in name:
        return HIGH_HALF
    return LOW_HALF if _LOW_HALF.search(name) else None
