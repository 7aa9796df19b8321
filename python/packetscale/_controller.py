"""Controllers written in Python."""

from __future__ import annotations

import hashlib
import inspect
import uuid
from collections.abc import Callable, Iterable
from typing import TypeVar

from packetscale import _native
from packetscale._errors import InputError

_Class = TypeVar("_Class", bound=type)

#: What a controller must have; `on_mark`, `on_undo` and `on_sent` it may have.
_REQUIRED = ("on_ack", "on_loss", "on_timeout", "decision")

#: By name: the class, and the source that is in the ids of its runs.
_known: dict[str, tuple[type, str]] = {}


def controller(name: str) -> Callable[[_Class], _Class]:
    """Gives the class below it to scenarios that are read from now on, as the controller of this name.

    Each flow has an instance, made with a `Start`. The class has `on_ack(ack)`, `on_loss(lost)`, `on_timeout(expired)` and
    `decision()`, which returns (window in packets, time in ns before which nothing leaves, or None); it is asked at the
    start and after each event. It may have `on_mark(marks)`, with which its packets say ECT(0), `on_undo(undone)` and
    `on_sent(left)`.

    An exception in it ends all runs, and `run` raises it. The ids of runs cover the text of the class and of its bases, not
    what these use outside. Where Python does not know the text, the class makes other runs each time that it is defined.
    Raises InputError: a name of packetscale, a call that is missing.
    """

    def give(cls: _Class) -> _Class:
        _register(name, cls, _source(cls))
        return cls

    return give


def _register(name: str, cls: type, source: str) -> None:
    for call in _REQUIRED:
        if not callable(getattr(cls, call, None)):
            expected = ", ".join(_REQUIRED)
            raise InputError(f"{name}: found a class without {call}; expected {expected}", key=call)
    _native.register(name, cls, source)
    _known[name] = (cls, source)


def _source(cls: type) -> str:
    digest = hashlib.sha256()
    try:
        for one in cls.__mro__:
            if one.__module__ != "builtins":
                digest.update(f"{one.__qualname__}\n{inspect.getsource(one)}\n".encode())
    except (OSError, TypeError):
        return f"python:{uuid.uuid4().hex}"
    return f"python:{digest.hexdigest()}"


def known() -> list[tuple[str, type, str]]:
    """All controllers that were given, for a process that does not have them."""
    return [(name, cls, source) for name, (cls, source) in _known.items()]


def take(controllers: Iterable[tuple[str, type, str]]) -> None:
    """Registers what another process has given."""
    for name, cls, source in controllers:
        if _known.get(name) != (cls, source):
            _register(name, cls, source)
