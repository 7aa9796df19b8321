"""How far the runs are, for who waits for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

#: Whether a line on standard error says how far the runs are, or a function of (runs done, runs planned).
Progress: TypeAlias = bool | Callable[[float, int], object]


@contextmanager
def shown(progress: Progress) -> Iterator[Callable[[float, int], object] | None]:
    """Gives the function that is told, and ends the line that it has written."""
    if progress is not True:
        yield progress or None
        return

    last = ""

    def line(done: float, planned: int) -> None:
        nonlocal last
        if (text := f"\r{done:.1f} of {planned} runs") != last:
            print(text, end="", file=sys.stderr, flush=True)
        last = text

    try:
        yield line
    finally:
        print(file=sys.stderr)
