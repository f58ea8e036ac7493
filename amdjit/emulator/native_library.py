"""The native functions of a process: compiled when first needed, kept in the cache on disk."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from amdjit.disk_cache import DiskCache
from amdjit.emulator.checks.init.memory_shadow import shadow_sources
from amdjit.emulator.checks.race.accesses import process_symbol, process_text
from amdjit.emulator.checks.race.barriers import (
    arrive_text,
    split_barrier_text,
    split_text,
    waited_text,
    waits_text,
)
from amdjit.emulator.checks.race.lanes import conflicts_across_text, conflicts_text
from amdjit.emulator.checks.race.order import ordered_text
from amdjit.emulator.checks.race.rivals import (
    dword_text,
    find_text,
    global_symbol,
    global_text,
    lds_symbol,
    lds_text,
)
from amdjit.emulator.checks.race.scalar_loads import scalar_text
from amdjit.emulator.checks.race.time import epoch_text, fence_text, sync_text, wave_text
from amdjit.emulator.host.halves import NARROW, WIDEN, narrow_text, widen_text
from amdjit.emulator.host.jit import HostCompiler, LinkedCode
from amdjit.emulator.host.rounded import rounded_sources
from amdjit.emulator.instructions.buffers.addresses import PLACE, place_text
from amdjit.emulator.instructions.buffers.partial_lanes import PARTS
from amdjit.emulator.instructions.buffers.texels import TEXELS
from amdjit.emulator.instructions.lanes.permute_native import gather_lanes_text, scatter_lanes_text
from amdjit.emulator.instructions.long_expressions_native import long_sources
from amdjit.emulator.instructions.matrix.dots_native import dot_sources
from amdjit.emulator.instructions.matrix.layouts import Matrix, matrices
from amdjit.emulator.instructions.matrix.products import chain_text, integer_text
from amdjit.emulator.instructions.matrix.silicon import silicon_text
from amdjit.emulator.instructions.memory.access_native import access_text
from amdjit.emulator.instructions.memory.atomics_native import atomic_text, atomics
from amdjit.emulator.instructions.memory.spaces import SIZES, SPACES, Access
from amdjit.emulator.instructions.scalar.memory_native import scalar_address_text
from amdjit.emulator.instructions.vector.transcendental_native import (
    cosine_text,
    exp2_text,
    log2_text,
    sine_text,
)
from amdjit.emulator.scheduling.barriers import BARRIERS
from amdjit.emulator.scheduling.driver import driver_symbol, driver_text
from amdjit.emulator.scheduling.fault_record import (
    fault_text,
    refuse_mode_text,
    require_lanes_text,
    resolve_text,
    stopped_text,
    tick_text,
)
from amdjit.emulator.scheduling.report_rows import report_text, sync_report_text
from amdjit.emulator.tiers.quick_native import interpreter_symbol, threaded_text
from amdjit.emulator.wave.instrument import AccessKind

_DEFINITION = re.compile(r"^define [^@]*@(\w+)\(", re.MULTILINE)
_REFERENCE = re.compile(r"@(aj_\w+)\(")
Source = Callable[[str], str]


def native_references(text: str) -> list[str]:
    """Return the native functions that IR calls and does not define."""
    return sorted(set(_REFERENCE.findall(text)) - set(_DEFINITION.findall(text)))


def _access_sources() -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for space in SPACES:
        for size in SIZES:
            for store in (False, True):
                access = Access(space, size, store)
                sources[access.symbol] = partial(access_text, access)
    return sources


def _race_sources() -> dict[str, Source]:
    sources: dict[str, Source] = {
        "aj_race_wave": wave_text,
        "aj_race_epoch": epoch_text,
        "aj_race_fence": fence_text,
        "aj_race_ordered": ordered_text,
        "aj_race_arrive": arrive_text,
        "aj_race_waits": waits_text,
        "aj_race_waited": waited_text,
        "aj_race_split": split_text,
        "aj_race_split_barrier": split_barrier_text,
        "aj_race_sync": sync_text,
        "aj_race_dword": dword_text,
        "aj_race_find": find_text,
        "aj_race_scalar": scalar_text,
        "aj_lane_conflicts": conflicts_text,
        "aj_lane_conflicts_across": conflicts_across_text,
    }
    for kind in AccessKind:
        sources[process_symbol(kind)] = partial(process_text, kind)
        sources[global_symbol(kind)] = partial(global_text, kind)
        sources[lds_symbol(kind)] = partial(lds_text, kind)
    return sources


def _matrix_source(matrix: Matrix, rows: int, arithmetic: str) -> Source:
    if matrix.is_integer:
        return partial(integer_text, matrix, rows)
    return partial(silicon_text if arithmetic == "silicon" else chain_text, matrix, rows)


def native_sources(matrix_rows: int, arithmetic: str = "silicon") -> Mapping[str, Source]:
    """Return the maker of each native function's text.

    matrix_rows: accumulators that fit host registers. arithmetic: "silicon" or "fma", of float
    matrix and dot products.
    """
    return {
        "aj_fault": fault_text,
        "aj_report": report_text,
        "aj_sync_report": sync_report_text,
        "aj_stopped": stopped_text,
        "aj_tick": tick_text,
        "aj_refuse_mode": refuse_mode_text,
        "aj_require_lanes": require_lanes_text,
        "aj_resolve": resolve_text,
        **BARRIERS,
        **{driver_symbol(wave_size): partial(driver_text, wave_size) for wave_size in (32, 64)},
        **{
            interpreter_symbol(wave_size): partial(threaded_text, wave_size)
            for wave_size in (32, 64)
        },
        "aj_scalar_address": scalar_address_text,
        "aj_gather_lanes": gather_lanes_text,
        "aj_scatter_lanes": scatter_lanes_text,
        WIDEN: widen_text,
        NARROW: narrow_text,
        **long_sources(),
        "aj_exp2": exp2_text,
        "aj_log2": log2_text,
        "aj_sin": sine_text,
        "aj_cos": cosine_text,
        **_access_sources(),
        PLACE: place_text,
        **PARTS,
        **TEXELS,
        **shadow_sources(),
        **_race_sources(),
        **{atomic.symbol: partial(atomic_text, atomic) for atomic in atomics()},
        **dot_sources(arithmetic),
        **{matrix.symbol: _matrix_source(matrix, matrix_rows, arithmetic) for matrix in matrices()},
        **rounded_sources(),
    }


class NativeLibrary:
    """Addresses of native functions by symbol. Safe to use from several threads.

    arithmetic: "silicon" or "fma". Kernels call the same functions in both, so that their host code
    is the same.
    """

    def __init__(
        self, compiler: HostCompiler, cache: DiskCache, arithmetic: str = "silicon"
    ) -> None:
        self._compiler = compiler
        self._cache = cache
        self._matrix_rows = 16 if compiler.wide_vectors else 4
        self._variant = f"{self._matrix_rows} {arithmetic}"
        self._sources = native_sources(self._matrix_rows, arithmetic)
        self._code: dict[str, LinkedCode] = {}
        self._addresses: dict[str, int] = {}
        self._lock = threading.RLock()

    def address(self, symbol: str) -> int:
        """Return a function's address, compiling it and what it calls if need be."""
        with self._lock:
            if symbol not in self._addresses:
                self._load(symbol)
            return self._addresses[symbol]

    def addresses(self, symbols: Iterable[str]) -> dict[str, int]:
        """Return the addresses of several functions."""
        return {symbol: self.address(symbol) for symbol in symbols}

    def run_time(self, symbol: str = "") -> dict[str, int]:
        """Return the functions of LLVM's run-time library that host code other than `symbol` may
        call."""
        if self._compiler.converts_halves or symbol in (WIDEN, NARROW):
            return {}
        return self.addresses((WIDEN, NARROW))

    def _load(self, symbol: str) -> None:
        needed, image = self._object(symbol)
        imports = {**self.addresses(needed), **self.run_time(symbol)}
        code = self._compiler.link([image], imports, [symbol])
        self._code[symbol] = code
        self._addresses[symbol] = code.addresses[symbol]

    def _object(self, symbol: str) -> tuple[list[str], bytes]:
        """Return the native functions that one needs, and its object code."""
        # The cache's version changes with the text of the functions, so that it need not be made to
        # look for it.
        key = self._cache.key("native function", self._compiler.identity, self._variant, symbol)
        stored = self._cache.get(key)
        if stored is not None:
            header, _, image = stored.partition(b"\n")
            return header.decode().split(), image
        text = self._sources[symbol](self._compiler.function_attributes)
        needed = native_references(text)
        image = self._compiler.compile(text)
        self._cache.put(key, " ".join(needed).encode() + b"\n" + image)
        return needed, image
