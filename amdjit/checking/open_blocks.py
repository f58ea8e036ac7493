"""Blocks of `with` that code inside of them finds: those of `sanitize`, `profile` and `record`."""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["OpenBlock"]


class OpenBlock:
    """A block that is among the enclosing ones of its kind while it is open. It may be entered
    again, also within itself."""

    enclosing: ClassVar[ContextVar[tuple[Any, ...]]]
    """The blocks of the kind that enclose what runs, innermost last."""

    def __init__(self) -> None:
        self._tokens: list[Token[tuple[Any, ...]]] = []

    def __enter__(self) -> Self:
        self._tokens.append(self.enclosing.set((*self.enclosing.get(), self)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.enclosing.reset(self._tokens.pop())
