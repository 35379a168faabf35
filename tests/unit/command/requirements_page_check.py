#!/usr/bin/env python3
"""Does the page of requirements match the sources?  requirements_page_check.py ROPECHECK SOURCE_FOLDER"""

import difflib
import subprocess
import sys
from pathlib import Path

PAGE = "tests/conformance/REQUIREMENTS.md"


def main():
    program, source = sys.argv[1:]
    page = Path(source) / PAGE
    command = [program, "list", "requirements", "--markdown", "-"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    there = page.read_text(encoding="utf-8") if page.exists() else ""
    if made.stdout == there:
        return 0
    sys.stderr.writelines(difflib.unified_diff(there.splitlines(keepends=True), made.stdout.splitlines(keepends=True),
                                               PAGE, "what the sources make"))
    print(f"{PAGE} is stale; renew it: tools/run list requirements --markdown {PAGE}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
