"""Threaded programs as values, and the operations that they call as host code: shared by all
kernels, and cached on disk in packs.

Many operations belong to one kernel, because they contain one of its literals. So code is unloaded
some time after the last kernel that uses it is gone.
"""

from __future__ import annotations

import json
import weakref
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from amdjit.disk_cache import DiskCache
from amdjit.emulator.host.jit import HostCompiler, LinkedCode
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.forking import Lock
from amdjit.late_methods import dataclass

if TYPE_CHECKING:
    from amdjit.emulator.tiers.operations import Operation


@dataclass(frozen=True, slots=True)
class ThreadedProgram:
    """A translated kernel."""

    code: bytes
    """The offset of each resume id's record, 64 bits each, then the records; operations' addresses
    are 0."""
    calls: dict[str, tuple[int, ...]]
    """For each operation's symbol, where in the code its address must be put."""
    operations: tuple[Operation, ...]
    """The operations that it needs."""
    site_pcs: tuple[int, ...]
    resume_pcs: tuple[int, ...]
    """By resume id; if it can stop before instructions, their ids come last, in the order of their
    pcs."""
    longest: int | None
    may_yield: bool
    calls_host: bool
    instructions: int
    """How many instructions the kernel has."""
    blocks: int
    """How many blocks the kernel has."""


def interpreter_symbol(wave_size: int) -> str:
    """Return the name of the wave function that runs threaded programs."""
    return f"aj_threaded{wave_size}"


# The most packs that are listed for later processes, because reading the list takes time.
_LISTED = 64
# How many unused packs remain loaded. Each takes two pages, and some memory in LLVM.
_RECENT = 64


class OperationLibrary:
    """Addresses of operations by symbol. Safe to use from several threads."""

    def __init__(self, compiler: HostCompiler, cache: DiskCache, natives: NativeLibrary) -> None:
        self._compiler = compiler
        self._cache = cache
        self._natives = natives
        self._list_key = cache.key("packs of operations", compiler.identity)
        self._listed: dict[str, str] | None = None
        self._code: weakref.WeakValueDictionary[str, LinkedCode] = weakref.WeakValueDictionary()
        self._recent: deque[LinkedCode] = deque(maxlen=_RECENT)
        self._lock = Lock()

    @property
    def is_empty(self) -> bool:
        """Whether no process that shares this cache has made an operation yet."""
        with self._lock:
            return not self._recent and not self._list()

    def missing(self, symbols: Iterable[str]) -> frozenset[str]:
        """Return the operations that have to be made. Loads those that the cache has."""
        with self._lock:
            held = self._held(symbols)
            return frozenset(symbol for symbol, code in held.items() if code is None)

    def made(
        self, symbols: Collection[str], operations: Sequence[Operation]
    ) -> tuple[dict[str, int], tuple[LinkedCode, ...]] | None:
        """Return the addresses of operations, and their code, which the caller keeps alive.
        operations: those that may have to be compiled. None if another one is needed, too: it was
        there when the caller asked, but its last user has released it since."""
        with self._lock:
            held = self._held([*symbols, *(operation.symbol for operation in operations)])
            new = [operation for operation in operations if held[operation.symbol] is None]
            if new:
                made = self._compile(new)
                held.update((operation.symbol, made) for operation in new)
            addresses, code = {}, dict.fromkeys(each for each in held.values() if each is not None)
            for symbol in symbols:
                each = held[symbol]
                if each is None:
                    return None
                addresses[symbol] = each.addresses[symbol]
            return addresses, tuple(code)

    def _held(self, symbols: Iterable[str]) -> dict[str, LinkedCode | None]:
        """Return the code of operations, None for those that neither this process nor the cache
        has. Only a reference keeps code: kernels may be collected at any time."""
        held = {symbol: self._code.get(symbol) for symbol in symbols}
        wanted = [symbol for symbol, code in held.items() if code is None]
        listed = self._list() if wanted else {}
        packs = {key: self._load(key) for key in sorted({listed[s] for s in wanted if s in listed})}
        held.update((symbol, packs[listed[symbol]]) for symbol in wanted if symbol in listed)
        return held

    def _compile(self, operations: Sequence[Operation]) -> LinkedCode:
        attributes = self._compiler.function_attributes
        declarations = {line for operation in operations for line in operation.declarations}
        text = "\n".join(
            [*sorted(declarations), *(operation.text(attributes) for operation in operations)]
        )
        symbols = [operation.symbol for operation in operations]
        made = self._compiler.compile_quickly(text)
        code = self._link(symbols, made.natives, made.image)
        key = self._cache.key("pack of operations", self._compiler.identity, *sorted(symbols))
        self._cache.put(key, json.dumps([symbols, made.natives]).encode() + b"\n" + made.image)
        self._add_to_list(key, symbols)
        return code

    def _link(self, symbols: Sequence[str], needed: Sequence[str], image: bytes) -> LinkedCode:
        imports = {**self._natives.addresses(needed), **self._natives.run_time()}
        code = self._compiler.link([image], imports, symbols)
        self._recent.append(code)
        for symbol in code.addresses:
            self._code.setdefault(symbol, code)
        return code

    # The cache: a list of packs, and the packs

    def _list(self) -> dict[str, str]:
        """Return in which pack each operation is."""
        if self._listed is None:
            self._listed = {symbol: key for key, symbols in self._packs() for symbol in symbols}
        return self._listed

    def _packs(self) -> list[tuple[str, list[str]]]:
        stored = self._cache.get(self._list_key)
        return [(key, symbols) for key, symbols in json.loads(stored)] if stored is not None else []

    def _add_to_list(self, key: str, symbols: Sequence[str]) -> None:
        # Another process may write between these two lines. What it adds is lost, and is compiled
        # again when it is needed.
        packs = [*self._packs(), (key, list(symbols))][-_LISTED:]
        self._cache.put(self._list_key, json.dumps(packs).encode())

    def _load(self, key: str) -> LinkedCode | None:
        stored = self._cache.get(key)
        if stored is None:
            return None
        header, _, image = stored.partition(b"\n")
        symbols, needed = json.loads(header)
        return self._link(symbols, needed, image)
