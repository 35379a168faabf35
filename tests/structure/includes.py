#!/usr/bin/env python3
"""Includes go one way: python3 tests/structure/includes.py

The table in docs/architecture.md says which folder may use which; it lists the lowest first. This reads the includes of
every C, C++ and CUDA file. It fails on an include that the table does not allow, and on a circle between files. It
also fails on a folder without a row, and on a row that names a folder at or below its own place. A header that is slow
to read may be included by few of ours.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/architecture.md"
SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".cu")
ROW = re.compile(r"^\| `([^`]+)/` \|[^|]*\|([^|]*)\|$", re.MULTILINE)
# They take a compiler three and four seconds. Other headers of the product declare what they need: <nlohmann/json_fwd.hpp>,
# tools/command/cli_fwd.hpp.
SLOW = {
    "CLI/CLI.hpp": ["tools/command/application.hpp"],
    "nlohmann/json.hpp": ["golden/json_fields.hpp", "reference/spec_json.hpp", "tools/certify/plan.hpp",
                          "tools/report/html/model.hpp", "tools/worker/protocol/wire.hpp"],
}  # fmt: skip
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def layers_of(page):
    """{folder: the folders that it may use}, lowest first. A name stands for the rows below it, too."""
    rows = ROW.findall(page)
    folders = [folder for folder, _ in rows]
    layers = {}
    for place, (folder, used) in enumerate(rows):
        if used.strip() == "everything above":
            layers[folder] = folders[:place]
            continue
        names = re.findall(r"`([^`]+)/`", used)
        below = {name: [other for other in folders if other.startswith(name + "/")] for name in names}
        layers[folder] = [each for name in names for each in ([name] if name in folders else below[name] or [name])]
    return layers


def files_of(root):
    """{file: our files that it includes}. A name without a folder is a file beside it, or a generated one."""
    found = {}
    for top in ("reference", "impls", "golden", "tests", "tools", "examples"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SUFFIXES:
                includes = INCLUDE.findall(path.read_text())
                found[path.relative_to(root).as_posix()] = [name for name in includes if (root / name).is_file()]
    return found


def layer_of(file, layers):
    """The deepest folder of the table that holds the file, or None."""
    return max((folder for folder in layers if file.startswith(folder + "/")), key=len, default=None)


def problems_of_table(layers):
    places = list(layers)
    problems = []
    for folder, used in layers.items():
        for other in used:
            if other not in layers:
                problems.append(f"{PAGE}: {folder} may use {other}, which has no row")
            elif places.index(other) >= places.index(folder):
                problems.append(f"{PAGE}: {folder} may use {other}, which does not stand above it")
    return problems


def problems_of_includes(files, layers):
    problems = []
    for file, includes in files.items():
        layer = layer_of(file, layers)
        if layer is None:
            problems.append(f"{file}: its folder has no row in {PAGE}")
            continue
        for include in includes:
            other = layer_of(include, layers)
            if other != layer and other not in layers[layer]:
                problems.append(f"{file} includes {include}: {layer} may not use {other}; {PAGE} says what it may")
    return problems


def problems_of_slow(headers):
    """`headers`: {header: its text}. Each that includes a slow one, and is not in the list; and the other way round."""
    problems = []
    for slow, allowed in SLOW.items():
        found = [name for name, text in headers.items() if re.search(rf"^#include <{slow}>", text, re.MULTILINE)]
        problems += [f"{name} includes <{slow}>, so all that include it read that: declare what it needs, or say in SLOW "
                     "of tests/structure/includes.py that it may" for name in found if name not in allowed]
        problems += [f"{name} is in SLOW, and does not include <{slow}>" for name in allowed if name not in found]
    return problems


def headers_of_the_product(root):
    paths = [path for top in ("reference", "impls", "golden", "tools") for path in (root / top).rglob("*.hpp")]
    return {path.relative_to(root).as_posix(): path.read_text() for path in paths}


def circle_of(files):
    """A circle of files that include each other, or []."""
    done = set()
    for start in files:
        path = []
        stack = [(start, iter(files[start]))]
        while stack:
            file, rest = stack[-1]
            if file not in path:
                path.append(file)
            following = next((other for other in rest if other not in done), None)
            if following is None:
                done.add(file)
                path.pop()
                stack.pop()
            elif following in path:
                return path[path.index(following):] + [following]
            else:
                stack.append((following, iter(files.get(following, []))))
    return []


def check_itself():
    """Tests these checks: they find what they must find."""
    layers = layers_of("| `low/` | a | nothing |\n| `low/deep/` | b | `low/` |\n| `high/` | c | `low/`, `low/deep/` |\n")
    assert layers == {"low": [], "low/deep": ["low"], "high": ["low", "low/deep"]}
    assert layers_of("| `a/b/` | | nothing |\n| `a/c/` | | `a/b/` |\n| `d/` | | `a/` |\n| `e/` | | everything above |\n") == {
        "a/b": [], "a/c": ["a/b"], "d": ["a/b", "a/c"], "e": ["a/b", "a/c", "d"]}  # fmt: skip
    assert not problems_of_table(layers)
    assert len(problems_of_table({"low": ["high"], "high": []})) == 1
    assert len(problems_of_table({"low": ["none"]})) == 1
    right = {"high/a.cpp": ["low/a.hpp", "low/deep/b.hpp"], "low/a.hpp": [], "low/deep/b.hpp": ["low/a.hpp"]}
    assert not problems_of_includes(right, layers) and not circle_of(right)
    assert len(problems_of_includes({"low/a.hpp": ["high/b.hpp"], "high/b.hpp": []}, layers)) == 1
    assert len(problems_of_includes({"low/a.hpp": ["low/deep/b.hpp"]}, layers)) == 1
    assert len(problems_of_includes({"new/a.hpp": []}, layers)) == 1
    slow = {name: f"#include <{header}>" for header, names in SLOW.items() for name in names}
    assert not problems_of_slow(slow)
    assert len(problems_of_slow({**slow, "tools/new.hpp": "#include <CLI/CLI.hpp>\n"})) == 1
    assert len(problems_of_slow({**slow, "tools/command/application.hpp": "#include <CLI/App.hpp>\n"})) == 1
    assert circle_of({"a": ["b"], "b": ["c"], "c": ["b"]}) == ["b", "c", "b"]


def main():
    check_itself()
    layers = layers_of((ROOT / PAGE).read_text())
    files = files_of(ROOT)
    problems = problems_of_table(layers) + problems_of_includes(files, layers)
    problems += problems_of_slow(headers_of_the_product(ROOT))
    if not layers or len(files) < 100:
        problems.append(f"{len(layers)} folders in {PAGE} and {len(files)} files: something was not read")
    circle = circle_of(files)
    if circle:
        problems.append("a circle: " + " -> ".join(circle))
    for problem in problems:
        print(f"includes.py: {problem}", file=sys.stderr)
    print(f"{sum(map(len, files.values()))} includes of {len(files)} files, {len(problems)} not allowed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
