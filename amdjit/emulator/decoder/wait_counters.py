"""What each processor family counts on which wait counter, and what its instructions wait for.

An instruction set has one value of `WaitCounters`; checks reach it through the instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


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
    `immediate >> shift & mask`."""

    counter: WaitCounter
    immediate: str = "simm16"
    shift: int = 0
    mask: int = 0xFFFF


@dataclass(frozen=True, slots=True)
class WaitCounters:
    """The wait counters of a processor family.

    counted: the counters of each event. waits: what instructions wait for, by mnemonic or format.
    """

    counters: tuple[WaitCounter, ...]
    counted: Mapping[WaitEvent, tuple[WaitCounter, ...]]
    waits: Mapping[str, tuple[WaitField, ...]]


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
)
