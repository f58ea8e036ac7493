"""Python's names as names of C and C++, each used once, and C strings."""

from __future__ import annotations

__all__ = ["CNames", "c_identifier", "c_string"]

# Keywords of C and C++, and names that their headers and compilers may define as macros.
_RESERVED_TEXT = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
    virtual void volatile wchar_t while xor xor_eq
    _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal32 _Decimal64 _Decimal128 _Generic
    _Imaginary _Noreturn _Static_assert _Thread_local
    NULL EOF assert errno linux near far stderr stdin stdout unix offsetof min max
"""
_RESERVED = frozenset(_RESERVED_TEXT.split())


def c_identifier(name: str) -> str:
    """Return a name as an identifier of C: characters other than ASCII letters, digits and
    underscores become `_u` and their code, a leading digit gets an underscore before it, and
    reserved words one after them."""
    letters = (
        each if each.isascii() and (each.isalnum() or each == "_") else f"_u{ord(each):04x}"
        for each in name
    )
    text = "".join(letters)
    if not text or text[0].isdigit():
        text = f"_{text}"
    return f"{text}_" if text in _RESERVED else text


def c_string(text: str) -> str:
    """Return text as a C string literal in UTF-8. Question marks are escaped, because they may
    begin a trigraph."""
    parts = []
    for byte in text.encode():
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        parts.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


class CNames:
    """Gives out the names of one scope, each once: a name that is taken gets a number."""

    def __init__(self, *taken: str) -> None:
        self._taken = set(taken)

    def take(self, wanted: str) -> str:
        """Return the name, or the first of `wanted_2`, `wanted_3`, ... that is free."""
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name
