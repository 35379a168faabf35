"""python -m ropecheck.conventions: what `ropecheck list conventions` prints. Needs no array library."""

import signal

from ropecheck.conventions import NAMES, convention_called


def main() -> None:
    """Prints a line for each, with its signature."""
    for name in NAMES:
        convention = convention_called(name)
        print(f"{name:<18} {convention.signature}\n{'':<18} python:{convention.example}")


signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it, as it ends every other program
main()
