"""The native functions of a process: compiled when first needed, and cached on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from amdjit.disk_cache import DiskCache
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32
from amdjit.emulator.host.jit import HostCompiler, LinkedCode
from amdjit.emulator.host.native_sources import NativeSources, Source, Variant, all_makers
from amdjit.emulator.host.rounded import rounded_sources
from amdjit.forking import Lock

# Half precision for hosts whose processor cannot convert it: LLVM calls these two functions of its
# run-time library.
#
# Source of the names and meanings: compiler-rt, `extendhfsf2.c` and `truncsfhf2.c`.

WIDEN, NARROW = "__extendhfsf2", "__truncsfhf2"


def widen_text(attributes: str) -> str:
    """Return `float __extendhfsf2(half)`: shift the bits and let a multiplication put the exponent
    right."""
    b = NativeFunction(WIDEN, "float", [("half", "x")])
    bits = b.resize(b.bitcast(b.parameter("x"), "i16"), 32)
    magnitude = b.shift("shl", b.mask(bits, 15), 13)
    scaled = b.binary("fmul", b.bitcast(magnitude, "float"), Value("float", "0x46F0000000000000"))
    special = b.bitcast(b.or_(magnitude, i32(0x7F800000)), "float")
    is_special = b.compare("uge", b.mask(bits, 15), i32(0x7C00))
    number = b.bitcast(b.select(is_special, special, scaled), "i32")
    sign = b.shift("shl", b.and_(bits, i32(0x8000)), 16)
    b.give(b.bitcast(b.or_(number, sign), "float"))
    return b.text(attributes)


def narrow_text(attributes: str) -> str:
    """Return `half __truncsfhf2(float)`: to nearest even."""
    b = NativeFunction(NARROW, "half", [("float", "x")])
    bits = b.bitcast(b.parameter("x"), "i32")
    magnitude = b.mask(bits, 31)
    # Normal results: subtract the exponents' difference, and round the low 13 bits.
    odd = b.mask(b.shift("lshr", magnitude, 13), 1)
    rounded = b.add(b.add(b.sub(magnitude, i32(112 << 23)), i32(0xFFF)), odd)
    normal = b.shift("lshr", rounded, 13)
    # Denormal results: adding 0.5 aligns the last bit with half precision's, and rounds.
    moved = b.binary("fadd", b.bitcast(magnitude, "float"), Value("float", "0x3FE0000000000000"))
    denormal = b.sub(b.bitcast(moved, "i32"), i32(0x3F000000))
    result = b.select(b.compare("ult", magnitude, i32(113 << 23)), denormal, normal)
    result = b.select(b.compare("uge", magnitude, i32(0x47800000)), i32(0x7C00), result)
    payload = b.or_(b.shift("lshr", b.mask(magnitude, 23), 13), i32(0x7E00))
    result = b.select(b.compare("ugt", magnitude, i32(0x7F800000)), payload, result)
    sign = b.shift("lshr", b.and_(bits, i32(0x80000000 - (1 << 32))), 16)
    b.give(b.bitcast(b.resize(b.or_(result, sign), 16), "half"))
    return b.text(attributes)


# What host code of any room may call.
NATIVES = NativeSources({WIDEN: widen_text, NARROW: narrow_text, **rounded_sources()})


def variant_for(
    compiler: HostCompiler, arithmetic: str = "silicon", math: str = "silicon"
) -> Variant:
    """Return the variant for a host. arithmetic: "silicon" or "fma"; math: "silicon" or "fast"."""
    return Variant(16 if compiler.wide_vectors else 4, arithmetic, math)


class NativeLibrary:
    """Addresses of native functions by symbol. Safe to use from several threads.

    rooms: returns what functions there are, once one must be compiled: those in the cache need no
    text, and so not the modules that write it. `add` adds more. Kernels call the same functions in
    every variant, so that their host code is the same.
    """

    def __init__(
        self,
        compiler: HostCompiler,
        cache: DiskCache,
        rooms: Callable[[], Iterable[NativeSources]],
        variant: Variant | None = None,
    ) -> None:
        self._compiler = compiler
        self._cache = cache
        self._variant = variant or variant_for(compiler)
        self._first_rooms = rooms
        self._more: list[NativeSources] = []
        self._makers: dict[str, Source] = {}
        self._code: dict[str, LinkedCode] = {}
        self._addresses: dict[str, int] = {}
        self._lock = Lock()

    def add(self, *rooms: NativeSources) -> None:
        """Add the functions of rooms; those that are known already stay as they are."""
        with self._lock:
            new = [room for room in rooms if room not in self._more]
            self._more += new
            if self._makers:
                self._makers.update(all_makers(new, self._variant))

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
        # The cache's version changes with the text of the functions: looking one up does not need
        # its text.
        variant = self._variant.identity
        key = self._cache.key("native function", self._compiler.identity, variant, symbol)
        stored = self._cache.get(key)
        if stored is not None:
            header, _, image = stored.partition(b"\n")
            return header.decode().split(), image
        text = self._maker(symbol)(self._compiler.function_attributes)
        made = self._compiler.compile(text)
        self._cache.put(key, " ".join(made.natives).encode() + b"\n" + made.image)
        return list(made.natives), made.image

    def _maker(self, symbol: str) -> Source:
        if not self._makers:
            rooms = [NATIVES, *self._first_rooms(), *self._more]
            self._makers = all_makers(rooms, self._variant)
        return self._makers[symbol]
