#!/usr/bin/env python3
"""The pages name what is there: python3 tests/structure/paths.py

Every relative link of a page, and every path in backticks that begins with a folder of ours, has to exist.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)#\s]+)")
PATH = re.compile(r"`((?:reference|impls|golden|tests|tools|docs|cmake|examples)/[\w./-]+)`")
FOREIGN = ("CHANGELOG.md",)  # tells of files that were


def missing(text, folder, root):
    """What the text of a page in `folder` names and is not there."""
    links = [link for link in LINK.findall(text) if "://" not in link and not (folder / link).exists()]
    return links + [path for path in PATH.findall(text) if not (root / path).exists()]


def check_itself():
    """What must be found, is found."""
    here = Path(__file__).resolve().parent
    text = "[a](paths.py) [b](nothing.py) `tests/structure/paths.py` `tests/nothing` [c](https://example.org/x)"
    assert missing(text, here, ROOT) == ["nothing.py", "tests/nothing"]


def main():
    check_itself()
    build = ROOT / "build"
    pages = [page for page in sorted(ROOT.rglob("*.md"))
             if build not in page.parents and page.name not in FOREIGN and ".git" not in page.parts]  # fmt: skip
    problems = [f"{page.relative_to(ROOT)} names {name}, which is not there"
                for page in pages for name in missing(page.read_text(), page.parent, ROOT)]  # fmt: skip
    if len(pages) < 10:
        problems.append(f"only {len(pages)} pages: something was not read")
    for problem in problems:
        print(f"paths.py: {problem}", file=sys.stderr)
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
