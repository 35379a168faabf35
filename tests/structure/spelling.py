#!/usr/bin/env python3
"""codespell finds no mistake: python3 tests/structure/spelling.py

Without a path codespell reads the whole folder, with the settings of .codespellrc. A word that is right, or wrong on
purpose, goes into tools/spelling_ignore.txt, a word a line. Exit code 77: codespell is missing; ctest then counts the
test as skipped.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = 77


def mistakes(program, *words):
    """What codespell prints."""
    done = subprocess.run([program, *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 65):  # 65: it found mistakes
        raise SystemExit(f"spelling.py: codespell ended with exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def check_itself(program):
    """Tests this check: it finds mistakes, but no words of the list."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.md"
        file.write_text("We " + "rec" + "ieve this.\n" + (ROOT / "tools" / "spelling_ignore.txt").read_text())
        found = mistakes(program, str(file))
    assert len(found) == 1 and "receive" in found[0], found


def main():
    program = shutil.which("codespell")
    if not program:
        print("left out: codespell is missing (Debian package codespell, or pip install codespell)")
        return LEFT_OUT
    check_itself(program)
    found = mistakes(program)
    for mistake in found:
        print(f"spelling.py: {mistake}", file=sys.stderr)
    print(f"{len(found)} mistakes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
