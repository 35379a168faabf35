#!/usr/bin/env python3
"""The pages name what is there: python3 tests/structure/paths.py

Every relative link of a page has to lead to a file, a folder or a heading of ours. Every path in backticks that begins
with a folder of ours has to exist.
"""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
LINKS = (
    re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)"),  # [text](target "title")
    re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)", re.MULTILINE),  # [name]: target
    re.compile(r"<[^>]*\b(?:href|src|srcset)=[\"']([^\"']+)[\"']"),
)
PATH = re.compile(r"`((?:reference|impls|golden|tests|tools|docs|cmake|examples)/[\w./-]+)`")
FENCED = re.compile(r"^( *)(`{3,}|~{3,})[^\n]*\n.*?^ *\2[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
ANCHOR = re.compile(r"<[^>]*\b(?:id|name)=[\"']([^\"']+)[\"']")
FOREIGN = ("CHANGELOG.md",)  # tells of files that were


def pages(root=ROOT):
    """Our Markdown files: git knows them or would add them."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
                            capture_output=True, text=True)  # fmt: skip
    if listed.returncode == 0:
        return [root / name for name in sorted(filter(None, listed.stdout.split("\0"))) if (root / name).is_file()]
    return [page for page in sorted(root.rglob("*.md")) if (root / "build") not in page.parents]  # no git: an archive


def anchors_of(text):
    """What a link can name behind #, as GitHub makes it from headings."""
    found = set(ANCHOR.findall(text))
    for heading in HEADING.findall(FENCED.sub("", text)):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        words = re.sub(r"[^\w\- ]", "", re.sub(r"<[^>]*>", "", heading).lower()).strip().replace(" ", "-")
        number = 0
        while (name := f"{words}-{number}" if number else words) in found:
            number += 1
        found.add(name)
    return found


def links_of(text):
    """Targets of the links of a page; code is left out."""
    text = CODE.sub("`code`", FENCED.sub("", text))
    return [link for pattern in LINKS for link in pattern.findall(text)]


def leads_nowhere(link, page, text):
    """Whether a link of the page, which has this text, leads to nothing of ours."""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
        return False  # elsewhere: another test would need a network
    name, _, anchor = unquote(link).partition("#")
    target = (page.parent / name).resolve() if name else page
    if name and not target.exists() or (target != ROOT and ROOT not in target.parents):
        return True
    if not anchor:
        return False
    if target.suffix == ".md":
        return anchor not in anchors_of(text if target == page else target.read_text())
    line = re.fullmatch(r"L(\d+)(?:-L(\d+))?", anchor)
    return not line or target.is_dir() or int(line[2] or line[1]) > len(target.read_text().splitlines())


def missing(text, page, root):
    """What the text of a page names, but is missing."""
    links = [link for link in links_of(text) if leads_nowhere(link, page, text)]
    names = [] if page.name in FOREIGN else PATH.findall(text)
    return links + [path for path in names if not (root / path).exists()]


def check_itself():
    """Tests these checks: they find what they must find."""
    page = Path(__file__).resolve().parent / "page.md"
    text = "[a](paths.py) [b](nothing.py) `tests/structure/paths.py` `tests/nothing` [c](https://example.org/x)"
    assert missing(text, page, ROOT) == ["nothing.py", "tests/nothing"]
    assert missing("[a](#b-c) [d](#none)\n\n## `B` [C](paths.py)!\n", page, ROOT) == ["#none"]
    assert missing("[a](../../README.md#none) [b](paths.py#L1) [c](paths.py#L9999)", page, ROOT) == [
        "../../README.md#none", "paths.py#L9999"]  # fmt: skip
    assert missing('[a]: none.md\n<img src="none.svg"> [b](paths.py "a title") [c](none.md "a title")', page, ROOT) == [
        "none.md", "none.md", "none.svg"]  # fmt: skip
    assert not missing("`[a](none.md)`\n\n```text\n[b](none.md)\n## no heading\n```\n", page, ROOT)
    assert missing("[a](../../../outside)", page, ROOT)
    assert anchors_of("# A b\n## A b\n# C++: `x_y` (z)\n```\n# code\n```\n") == {"a-b", "a-b-1", "c-x_y-z"}


def main():
    check_itself()
    found = pages()
    problems = [f"{page.relative_to(ROOT)} names {name}, which is not there"
                for page in found for name in missing(page.read_text(), page, ROOT)]  # fmt: skip
    if len(found) < 10:
        problems.append(f"only {len(found)} pages: something was not read")
    for problem in problems:
        print(f"paths.py: {problem}", file=sys.stderr)
    print(f"{len(found)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
