"""What memory instructions do, in words."""

from __future__ import annotations

from amdjit.inspection.named_operands import Named
from amdjit.isa.traits import Access, CacheAction, MemoryKind, Space, Unit

__all__ = ["memory_body"]

_SPACES = {
    Space.GLOBAL: "global memory",
    Space.LDS: "LDS",
    Space.PRIVATE: "private memory",
    Space.FLAT: "memory, global or LDS or private as the address says,",
}
_CACHES = {
    CacheAction.INVALIDATE: "invalidates caches, so that later loads see what others have written",
    CacheAction.WRITE_BACK: "writes caches back, so that others see earlier stores",
    CacheAction.BOTH: "writes caches back and invalidates them",
}


def memory_body(subject: Named, phrase: str) -> str:
    """Return what a memory or cache instruction does. phrase: as its opcode has it, of an atomic
    its operation, else details."""
    traits = subject.opcode.traits
    if traits.cache is not None:
        cache = "the scalar data cache: " if traits.unit is Unit.SCALAR_MEMORY else ""
        return f"{cache}{_CACHES[traits.cache]}{_counts(subject)}"
    access = traits.memory
    assert access is not None
    if access.kind is MemoryKind.ATOMIC:
        return _atomic(subject, access, subject.fill(phrase))
    details = f" ({phrase})" if phrase else ""
    return _transfer(subject, access) + details + _counts(subject)


def _atomic(subject: Named, access: Access, operation: str) -> str:
    returned = subject.names.get("d") or ""
    place = _place(subject, access)
    text = f"{_lanes(subject).strip()}, atomically, {operation}, where mem is {place}"
    if subject.returns:
        text += f"; {returned} = the old value"
    elif subject.returns is None:
        text += f"; {returned} = the old value if it is asked for"
    return text + _counts(subject)


def _transfer(subject: Named, access: Access) -> str:
    place = _place(subject, access)
    data = subject.names.get("d") or subject.names.get("a", "")
    both = f" and {subject.names['b']}" if access.has_two_addresses and "b" in subject.names else ""
    half = {None: "", 0: "the low half of ", 1: "the high half of "}[access.half]
    amount = _amount(access)
    if access.kind is MemoryKind.LOAD:
        how = ", transposed between lanes," if access.is_transposed else ""
        return f"loads {amount}{_lanes(subject)} from {place}{how} into {half}{data}"
    if access.kind is MemoryKind.STORE:
        return f"stores {amount} of {half}{data}{both}{_lanes(subject)} to {place}"
    if access.kind is MemoryKind.PREFETCH:
        return f"brings {place} into a cache"
    what = "the buffer's" if access.has_descriptor else "the address's"
    return f"probes {what} translation, of {place}"


def _amount(access: Access) -> str:
    if access.converts:
        return (
            "a value in the format of the instruction"
            if access.names_format
            else ("a value in the buffer's format")
        )
    if not access.size:
        return "registers"
    each = " each" if access.has_two_addresses else ""
    return f"{access.size} byte{'s' if access.size > 1 else ''}{each}"


def _lanes(subject: Named) -> str:
    if subject.opcode.traits.unit is Unit.SCALAR_MEMORY:
        return " for the wave"
    return " for each active lane" if subject.opcode.traits.lane_by_lane else " for the wave"


def _place(subject: Named, access: Access) -> str:
    """Return the memory that is accessed, with its address as a sum."""
    roles = subject.roles
    terms = [roles.get(role) or "" for role in ("sbase", "saddr", "vaddr", "addr", "soffset")]
    terms = [term for term in terms if term and term not in ("null", "off")]
    immediates = subject.immediates
    if access.has_two_addresses:
        offsets = ("offset0", "offset1")
        pair = offsets if immediates is None else tuple(str(immediates[name]) for name in offsets)
        return f"{_SPACES[access.space]} at {terms[0]} with the offsets {pair[0]} and {pair[1]}"
    offset = "offset" if immediates is None else _number(immediates.get("offset", 0))
    terms += [offset] if offset and (immediates is None or offset != "0" or not terms) else []
    where = " + ".join(terms)
    if access.has_descriptor:
        buffer = roles.get("rsrc") or terms.pop(0)
        return f"the buffer {buffer} at {' + '.join(terms) or 0}"
    return f"{_SPACES[access.space]} at {where.replace('+ -', '- ')}"


def _number(value: int) -> str:
    return str(value) if abs(value) <= 64 else f"{value:#x}"


def _counts(subject: Named) -> str:
    return f"; counts on {subject.counters}" if subject.counters else ""
