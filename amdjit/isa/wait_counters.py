"""What each processor family counts on which wait counter, and what its instructions wait for.

An instruction set has one value of `WaitCounters`; checks reach it through the instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class WaitCounter:
    """A wait counter, as the `s_wait_*` instructions call it.

    in_order: instructions that count here end in the order in which they were issued.
    """

    name: str
    in_order: bool = True


class WaitEvent(Enum):
    """What increments a wait counter, and decrements it again at its end.

    Loads include atomics that return the old value; stores include those that do not, and
    write-backs of caches.
    """

    SCALAR_MEMORY = auto()
    VECTOR_LOAD = auto()
    VECTOR_STORE = auto()
    FLAT_LOAD = auto()
    FLAT_STORE = auto()
    LDS = auto()
    LDS_DIRECT = auto()
    MESSAGE = auto()


@dataclass(frozen=True, slots=True)
class WaitField:
    """One counter that an instruction waits for: how many may be in flight afterwards is
    `immediate >> shift & mask`.

    upper: where bits above those of the mask lie if they do not follow it, as (shift, how many are
    below them).
    """

    counter: WaitCounter
    immediate: str = "simm16"
    shift: int = 0
    mask: int = 0xFFFF
    upper: tuple[int, int] | None = None

    def left(self, value: int) -> int:
        """Return how many may be in flight after a wait whose immediate is `value`."""
        low = value >> self.shift & self.mask
        if self.upper is None:
            return low
        shift, below = self.upper
        return low | (value & 0xFFFF) >> shift << below


@dataclass(frozen=True, slots=True)
class WaitCounters:
    """The wait counters of a processor family.

    counted: the counters of each event. waits: what instructions wait for, by mnemonic or format.
    text: the instruction that waits until no more than `left` are in flight on a counter.
    """

    counters: tuple[WaitCounter, ...]
    counted: Mapping[WaitEvent, tuple[WaitCounter, ...]]
    waits: Mapping[str, tuple[WaitField, ...]]
    text: str


# RDNA 4 ISA, 5.6 "Data dependency resolution": one counter for each kind of memory. All but KMcnt
# come back in the order of issue; of KMcnt only 0 means something. gfx1201 has no ASYNCcnt. Images,
# BVH instructions (SAMPLEcnt, BVHcnt) and exports (EXPcnt) are not decoded; of EXPcnt the
# LDS-direct loads are left.
_LOAD = WaitCounter("loadcnt")
_DS = WaitCounter("dscnt")
_KM = WaitCounter("kmcnt", in_order=False)
_EXP = WaitCounter("expcnt")
_STORE = WaitCounter("storecnt")
_ALL = (_LOAD, _DS, _KM, _EXP, _STORE)

# S_WAIT_LOADCNT_DSCNT and S_WAIT_STORECNT_DSCNT: the first counter in bits 13:8, DScnt in 5:0.
_UPPER, _LOWER = 8, 63

GFX12_COUNTERS = WaitCounters(
    counters=_ALL,
    counted={
        WaitEvent.SCALAR_MEMORY: (_KM,),
        WaitEvent.MESSAGE: (_KM,),
        WaitEvent.VECTOR_LOAD: (_LOAD,),
        WaitEvent.VECTOR_STORE: (_STORE,),
        WaitEvent.FLAT_LOAD: (_LOAD, _DS),
        WaitEvent.FLAT_STORE: (_STORE, _DS),
        WaitEvent.LDS: (_DS,),
        WaitEvent.LDS_DIRECT: (_EXP,),
    },
    waits={
        **{f"s_wait_{counter.name}": (WaitField(counter),) for counter in _ALL},
        "s_wait_loadcnt_dscnt": (
            WaitField(_LOAD, shift=_UPPER, mask=_LOWER),
            WaitField(_DS, mask=_LOWER),
        ),
        "s_wait_storecnt_dscnt": (
            WaitField(_STORE, shift=_UPPER, mask=_LOWER),
            WaitField(_DS, mask=_LOWER),
        ),
        # Interpolations say themselves which parameters they wait for.
        "VINTERP": (WaitField(_EXP, "wait_exp", mask=7),),
        # It has no immediate: nothing may be in flight afterwards.
        "s_wait_idle": tuple(WaitField(counter, mask=0) for counter in _ALL),
    },
    text="s_wait_{counter} {left:#x}",
)

# RDNA 3 ISA, 5.5: VMcnt counts loads, VScnt stores, LGKMcnt LDS, scalar memory and messages, of
# which scalar memory comes back in any order. S_WAITCNT has EXPcnt in bits 2:0, LGKMcnt in 9:4 and
# VMcnt in 15:10; the instructions for one counter add a register to their number, for which LLVM's
# assembler takes null only.
_VM = WaitCounter("vmcnt")
_VS = WaitCounter("vscnt")
# One counter of the processor: LDS instructions land in order among themselves. Waiting for no more
# than n of all leaves no more than n of them, too.
_LGKM = WaitCounter("lgkmcnt", in_order=False)
_LGKM_LDS = WaitCounter("lgkmcnt")
_GFX11_ALL = (_VM, _VS, _LGKM, _LGKM_LDS, _EXP)

GFX11_COUNTERS = WaitCounters(
    counters=_GFX11_ALL,
    counted={
        WaitEvent.SCALAR_MEMORY: (_LGKM,),
        WaitEvent.MESSAGE: (_LGKM,),
        WaitEvent.VECTOR_LOAD: (_VM,),
        WaitEvent.VECTOR_STORE: (_VS,),
        WaitEvent.FLAT_LOAD: (_VM, _LGKM_LDS),
        WaitEvent.FLAT_STORE: (_VS, _LGKM_LDS),
        WaitEvent.LDS: (_LGKM_LDS,),
        WaitEvent.LDS_DIRECT: (_EXP,),
    },
    waits={
        "s_waitcnt": (
            WaitField(_VM, shift=10, mask=63),
            WaitField(_LGKM, shift=4, mask=63),
            WaitField(_LGKM_LDS, shift=4, mask=63),
            WaitField(_EXP, mask=7),
        ),
        **{f"s_waitcnt_{each.name}": (WaitField(each, mask=63),) for each in (_VM, _VS, _EXP)},
        "s_waitcnt_lgkmcnt": (WaitField(_LGKM, mask=63), WaitField(_LGKM_LDS, mask=63)),
        "VINTERP": (WaitField(_EXP, "wait_exp", mask=7),),
        "s_wait_idle": tuple(WaitField(counter, mask=0) for counter in _GFX11_ALL),
    },
    text="s_waitcnt {counter}({left})",
)

# CDNA 3 ISA, 4.4 "Manually inserted wait states", S_WAITCNT: VMcnt counts loads and stores, in bits
# 3:0 and 15:14; EXPcnt is in bits 6:4, LGKMcnt in 11:8.
_GFX9_ALL = (_VM, _LGKM, _LGKM_LDS, _EXP)
GFX9_COUNTERS = WaitCounters(
    counters=_GFX9_ALL,
    counted={
        WaitEvent.SCALAR_MEMORY: (_LGKM,),
        WaitEvent.MESSAGE: (_LGKM,),
        WaitEvent.VECTOR_LOAD: (_VM,),
        WaitEvent.VECTOR_STORE: (_VM,),
        WaitEvent.FLAT_LOAD: (_VM, _LGKM_LDS),
        WaitEvent.FLAT_STORE: (_VM, _LGKM_LDS),
        WaitEvent.LDS: (_LGKM_LDS,),
    },
    waits={
        "s_waitcnt": (
            WaitField(_VM, mask=15, upper=(14, 4)),
            WaitField(_LGKM, shift=8, mask=15),
            WaitField(_LGKM_LDS, shift=8, mask=15),
            WaitField(_EXP, shift=4, mask=7),
        ),
    },
    text="s_waitcnt {counter}({left})",
)
