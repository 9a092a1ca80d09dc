"""The command line. What it runs is loaded inside, a second or more, so that Ctrl-C is answered meanwhile too."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status, 130 after an interruption."""
    try:
        from planner.cli.run import run

        return run(arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
