"""Progress of runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

#: Whether to print progress on standard error, or a function of (runs done, runs planned).
Progress: TypeAlias = bool | Callable[[float, int], object]


@contextmanager
def shown(progress: Progress) -> Iterator[Callable[[float, int], object] | None]:
    """Yields the progress function, and ends its line."""
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
