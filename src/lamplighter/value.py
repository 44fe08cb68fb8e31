"""Values: frozen, slotted, keyword-only classes for what every run loads.

They say what `@dataclass(frozen=True, slots=True, kw_only=True)` says, and type checkers read them so (PEP 681).
`dataclasses` is not used there because it costs a start some 35 ms: it loads `inspect`, and compiles six methods for
each class (docs/decisions/0012). Everything that a run need not load keeps to dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import ClassVar, NoReturn, TypeVar, cast, dataclass_transform, overload

T = TypeVar("T")
_NO_DEFAULTS: Mapping[str, object] = MappingProxyType({})


class _Value:
    """What all values can: be made by names, be compared, be shown; and never be changed."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[Mapping[str, object]] = _NO_DEFAULTS
    _hidden: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **given: object) -> None:
        values = {**self._defaults, **given}
        if values.keys() != set(self._fields):
            missing = [name for name in self._fields if name not in values]
            unknown = sorted(values.keys() - set(self._fields))
            raise TypeError(f"{type(self).__name__}: missing {missing}, unknown {unknown}")
        for name in self._fields:
            object.__setattr__(self, name, values[name])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set: a value never changes")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted: a value never changes")

    def __eq__(self, other: object) -> bool:
        return as_dict(self) == as_dict(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(as_dict(self).values()))

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in as_dict(self).items() if name not in self._hidden)
        return f"{type(self).__name__}({', '.join(shown)})"


@overload
def value(cls: type[T]) -> type[T]: ...


@overload
def value(*, hidden: tuple[str, ...]) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(kw_only_default=True, frozen_default=True)
def value(cls: type[T] | None = None, *, hidden: tuple[str, ...] = ()) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a value class of a plain one: its annotated names are the fields, what they are set to the defaults.

    The fields of `hidden` stay out of its repr, and so of tracebacks and logs. A default that can change is refused.
    """
    return _rebuild(cls, hidden) if cls is not None else lambda plain: _rebuild(plain, hidden)


def _rebuild(cls: type[T], hidden: tuple[str, ...]) -> type[T]:
    space = {name: one for name, one in vars(cls).items() if name not in {"__dict__", "__weakref__"}}
    names = tuple(cls.__annotations__)
    defaults = {name: space.pop(name) for name in names if name in space}
    if any(isinstance(one, (list, dict, set)) for one in defaults.values()):
        raise TypeError(f"{cls.__name__}: a default must not be a list, dict or set, which all would share")
    space |= {"__slots__": names, "_fields": names, "_defaults": defaults, "_hidden": frozenset(hidden)}
    return cast("type[T]", type(cls.__name__, (_Value,), space))


def replace(value: T, **changes: object) -> T:
    """Return a value with some of its fields changed; raises TypeError for a field that it has not."""
    return type(value)(**{**as_dict(value), **changes})


def as_dict(value: object) -> dict[str, object]:
    """Return the fields of a value by their names; those that are values themselves stay so."""
    return {name: getattr(value, name) for name in value._fields} if isinstance(value, _Value) else {}
