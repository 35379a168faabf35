"""The `ropecheck` command of an installed package: starts the program and tells it which interpreter to use."""

from __future__ import annotations

import os
import sys

from ropecheck import program
from ropecheck.errors import RopecheckError


def main() -> None:
    """Replaces this process with the program, so its signals and exit code are the command's."""
    try:
        path = str(program.path())
        os.execve(path, ["ropecheck", *sys.argv[1:]], program.environment())
    except (RopecheckError, OSError) as error:
        print(f"ropecheck: {error}", file=sys.stderr)
        raise SystemExit(3) from None
