"""Controllers written in Python."""

from __future__ import annotations

import hashlib
import inspect
import uuid
from collections.abc import Callable, Iterable
from typing import TypeVar

from packetscale import _native
from packetscale._errors import InputError
from packetscale._native import Scenario

_Class = TypeVar("_Class", bound=type)

#: Required methods; `on_mark`, `on_undo` and `on_sent` are optional.
_REQUIRED = ("on_ack", "on_loss", "on_timeout", "decision")

#: Name and class by the source that is part of run ids.
_known: dict[str, tuple[str, type]] = {}


def controller(name: str) -> Callable[[_Class], _Class]:
    """Registers the class as the controller of this name, for scenarios read from now on.

    Each flow has an instance, made with a `Start`. The class has `on_ack(ack)`, `on_loss(lost)`, `on_timeout(expired)` and
    `decision()`, which returns (window in packets, earliest time in ns of the next packet, or None), called at the
    start and after each event. Optional: `on_mark(marks)`, which makes its packets ECN-capable, ECT(0), `on_undo(undone)` and
    `on_sent(left)`.

    An exception in it ends all runs, and `run` raises it. The ids of runs depend on the text of the class and of its bases, not
    on other code. If Python does not know the text, every definition of the class gets new ids.
    Raises InputError: a name of packetscale, a missing method.
    """

    def give(cls: _Class) -> _Class:
        _register(name, cls, f"python:{name}:{_source(cls)}")
        return cls

    return give


def _register(name: str, cls: type, source: str) -> None:
    for call in _REQUIRED:
        if not callable(getattr(cls, call, None)):
            expected = ", ".join(_REQUIRED)
            raise InputError(f"{name}: found a class without {call}; expected {expected}", key=call)
    _native.register(name, cls, source)
    _known[source] = (name, cls)


def _source(cls: type) -> str:
    digest = hashlib.sha256()
    try:
        for one in cls.__mro__:
            if one.__module__ != "builtins":
                digest.update(f"{one.__qualname__}\n{inspect.getsource(one)}\n".encode())
    except (OSError, TypeError):
        return uuid.uuid4().hex
    return digest.hexdigest()


def given(sources: Iterable[str]) -> list[tuple[str, type, str]]:
    """The controllers of these sources: name, class, source.

    Raises InputError: a policy of `gym.controller`, which other processes cannot be given.
    """
    given = [(_known.get(source), source) for source in sources]
    if lost := [source for known, source in given if known is None]:
        raise InputError(f"found {lost[0]}, a policy; expected controllers that are classes, to go to another process")
    return [(*known, source) for known, source in given if known is not None]


def scenario(
    controllers: Iterable[tuple[str, type, str]], text: str, path: str, changes: list[str]
) -> Scenario:
    """Reads a scenario of another process, with the controllers that it had there."""
    for name, cls, source in controllers:
        _register(name, cls, source)
    return Scenario._read(text, path, changes)
