#!/usr/bin/env python3
"""The pictures in docs/figures are what tools/figures makes, and pages show them: python3 -B tests/structure/figures.py

With the path of a ropecheck and of a C compiler, the output in the picture of a verdict is compared with a new one.
"""

import platform
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The programs of tools/figures import each other by their names.
sys.path.insert(0, str(ROOT / "tools" / "figures"))

import drawing  # noqa: E402
import make  # noqa: E402
import process  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
LARGEST = 60_000  # bytes
PICTURE = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*\.svg)\)|<img[^>]*?src=\"([^\"]*\.svg)\"[^>]*>")


def differences(files):
    """Names of the files, {file: text}, that hold something else."""
    return [file.relative_to(ROOT).as_posix() for file, text in files.items()
            if not file.is_file() or file.read_text() != text]  # fmt: skip


def problems_of_pictures(pictures):
    problems = [f"{name} is not what tools/figures/make.py makes; run it" for name in differences(pictures)]
    extra = sorted(set(make.FOLDER.iterdir()) - set(pictures))
    problems += [f"{file.relative_to(ROOT)} is not made by tools/figures/make.py" for file in extra]
    for file, text in pictures.items():
        root = ET.fromstring(text)
        for part in ("title", "desc"):
            if not (root.findtext(SVG + part) or "").strip():
                problems.append(f"{file.name} has no <{part}> for screen readers")
        if len(text.encode()) > LARGEST:
            problems.append(f"{file.name} has {len(text.encode())} bytes; at most {LARGEST}: merge cells or show fewer")
        if "prefers-color-scheme:dark" not in (root.findtext(SVG + "style") or ""):
            problems.append(f"{file.name} has no colours for dark pages")
    return problems


def shown_by(text, folder):
    """The pictures that a page in `folder` shows."""
    return {(folder / (link or source)).resolve() for _, link, source in PICTURE.findall(text)}


def problems_of_pages(pictures):
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    shown = set().union(*(shown_by(page.read_text(), page.parent) for page in pages))
    return [f"no page shows {file.relative_to(ROOT)}" for file in pictures if file not in shown]


def problems_of_words():
    """The picture of the process boundary must quote words that stand in the worker's code."""
    code = "".join(file.read_text() for file in sorted((ROOT / "tools/worker/client").glob("*.cpp")))
    return [f"tools/figures/process.py quotes {words!r}, which tools/worker/client does not say"
            for words in process.QUOTED if words not in code]  # fmt: skip


def problems_of_output(program, compiler):
    if platform.machine() not in ("x86_64", "AMD64"):
        return []  # elsewhere the compiler may fuse a product and a sum: other digits, equally right
    try:
        return [f"{name} is not what ropecheck prints now; run tools/figures/make.py --record {program}"
                for name in differences(make.outputs_of(program, compiler))]  # fmt: skip
    except (subprocess.CalledProcessError, ValueError) as error:
        return [f"the commands in the picture of a verdict cannot be run as before: {error}"]


def check_itself():
    """Tests these checks: they find what they must find."""
    docs = ROOT / "docs"
    text = '![a](figures/a.svg) <img src="figures/b.svg" width="800"> [c](c.md)'
    assert shown_by(text, docs) == {docs / "figures/a.svg", docs / "figures/b.svg"}
    assert differences({ROOT / "README.md": "another text"}) == ["README.md"]
    assert problems_of_pages({docs / "figures/none.svg": ""})
    rows = [[1, 1, 2], [1, 1, 2], [2, None, None]]
    assert drawing.blocks(rows) == {1: [(0, 0, 2, 2)], 2: [(2, 0, 1, 2), (0, 2, 1, 1)], None: [(1, 2, 2, 1)]}


def main():
    check_itself()
    pictures = make.pictures()
    problems = problems_of_pictures(pictures) + problems_of_pages(pictures) + problems_of_words()
    if len(sys.argv) > 1:
        problems += problems_of_output(*sys.argv[1:])
    for problem in problems:
        print(f"figures.py: {problem}", file=sys.stderr)
    print(f"{len(pictures)} pictures, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
