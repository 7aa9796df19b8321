"""The exceptions of the package."""

from __future__ import annotations


class InputError(ValueError):
    """The input is wrong. Its text names file, line, key, found and expected."""

    def __init__(
        self, message: str, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        #: The file, where the mistake is in one.
        self.file = file
        #: The line of the file, from 1; None for a change made by `Scenario.set`.
        self.line = line
        #: The key, dotted, as in `flow.0.rtt`, or the name of the argument.
        self.key = key


class MachineError(RuntimeError):
    """The input is right, but this machine cannot do it."""
