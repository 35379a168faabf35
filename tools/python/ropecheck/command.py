"""The `ropecheck` command of an installed package: the program itself, told of this interpreter."""

from __future__ import annotations

import os
import sys

from ropecheck import program
from ropecheck.errors import RopecheckError


def main() -> None:
    """Becomes the program, so that its signals and its exit code are the command's."""
    try:
        path = str(program.path())
        os.execve(path, ["ropecheck", *sys.argv[1:]], program.environment())
    except (RopecheckError, OSError) as error:
        print(f"ropecheck: {error}", file=sys.stderr)
        raise SystemExit(3) from None
