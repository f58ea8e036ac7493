"""The operations of threaded programs as host code: shared by all kernels, kept in the cache on
disk in packs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from amdjit.disk_cache import DiskCache
from amdjit.emulator.host.jit import HostCompiler, LinkedCode
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.forking import Lock

if TYPE_CHECKING:
    from amdjit.emulator.tiers.operations import Operation

# A later process finds this many packs: reading their list takes time, too.
_LISTED = 64


class OperationLibrary:
    """Addresses of operations by symbol. Safe to use from several threads."""

    def __init__(self, compiler: HostCompiler, cache: DiskCache, natives: NativeLibrary) -> None:
        self._compiler = compiler
        self._cache = cache
        self._natives = natives
        self._list_key = cache.key("packs of operations", compiler.identity)
        self._listed: dict[str, str] | None = None
        self._addresses: dict[str, int] = {}
        self._code: list[LinkedCode] = []
        self._lock = Lock()

    @property
    def is_empty(self) -> bool:
        """Whether no process that shares this cache has made an operation yet."""
        with self._lock:
            return not self._addresses and not self._list()

    def addresses(self, symbols: Iterable[str]) -> dict[str, int]:
        """Return the addresses of operations that have been made."""
        with self._lock:
            return {symbol: self._addresses[symbol] for symbol in symbols}

    def missing(self, symbols: Iterable[str]) -> frozenset[str]:
        """Return the operations that have to be made. Loads those that the cache has."""
        with self._lock:
            wanted = frozenset(symbols) - self._addresses.keys()
            if wanted:
                listed = self._list()
                for key in sorted({listed[symbol] for symbol in wanted if symbol in listed}):
                    self._load(key)
            return wanted - self._addresses.keys()

    def make(self, operations: Sequence[Operation]) -> None:
        """Compile those of these operations that are missing."""
        with self._lock:
            missing = self.missing(operation.symbol for operation in operations)
            new = [operation for operation in operations if operation.symbol in missing]
            if new:
                self._compile(new)

    def _compile(self, operations: Sequence[Operation]) -> None:
        attributes = self._compiler.function_attributes
        declarations = {line for operation in operations for line in operation.declarations}
        text = "\n".join(
            [*sorted(declarations), *(operation.text(attributes) for operation in operations)]
        )
        symbols = [operation.symbol for operation in operations]
        made = self._compiler.compile_quickly(text)
        self._link(symbols, made.natives, made.image)
        key = self._cache.key("pack of operations", self._compiler.identity, *sorted(symbols))
        self._cache.put(key, json.dumps([symbols, made.natives]).encode() + b"\n" + made.image)
        self._add_to_list(key, symbols)

    def _link(self, symbols: Sequence[str], needed: Sequence[str], image: bytes) -> None:
        imports = {**self._natives.addresses(needed), **self._natives.run_time()}
        code = self._compiler.link([image], imports, symbols)
        self._code.append(code)
        for symbol, address in code.addresses.items():
            self._addresses.setdefault(symbol, address)

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
        # Another process may write between these two lines. What it adds is lost, and is made again
        # when it is needed.
        packs = [*self._packs(), (key, list(symbols))][-_LISTED:]
        self._cache.put(self._list_key, json.dumps(packs).encode())

    def _load(self, key: str) -> None:
        stored = self._cache.get(key)
        if stored is None:
            return
        header, _, image = stored.partition(b"\n")
        symbols, needed = json.loads(header)
        self._link(symbols, needed, image)
