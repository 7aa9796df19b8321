"""The command `packetscale`: the same program as elsewhere, inside the module."""

import signal
import sys

from packetscale import _native


def main() -> int:
    """Runs the command with the arguments of this process, and returns the exit code."""
    # The command has its own answer to Ctrl-C. Python's would wait until the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["packetscale", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
