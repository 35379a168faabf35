"""python -m ropecheck.conventions [--json]: what `ropecheck list conventions` prints. Needs no array library."""

import json
import signal
import sys

from ropecheck.conventions import NAMES, convention_called


def main() -> None:
    """Prints a line for each, with its signature; with --json an array of objects."""
    known = {name: convention_called(name) for name in NAMES}
    if "--json" in sys.argv[1:]:
        rows = [{"name": name, "signature": one.signature, "example": f"python:{one.example}"}
                for name, one in known.items()]  # fmt: skip
        print(json.dumps(rows, indent=2))
        return
    for name, convention in known.items():
        print(f"{name:<18} {convention.signature}\n{'':<18} python:{convention.example}")


signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it, as it ends every other program
main()
