#!/usr/bin/env python3
"""What the pages show is what the program does: python3 tests/docs/pages.py BUILD [PAGE...]

Runs the console blocks of every page and compares what is printed with what the page shows. CONTRIBUTING.md has the
convention. Exit codes: 0 all pages are true, 1 one is not, 2 bad usage.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import blocks
import output
from shell import Shell

ROOT = Path(__file__).resolve().parents[2]
# The list of pages is that test's.
sys.path.insert(0, str(ROOT / "tests" / "structure"))

import paths  # noqa: E402

# Pages show the digits of x86-64. Elsewhere a compiler may fuse a product and a sum: other digits, as right.
SAME_DIGITS = platform.machine() in ("x86_64", "AMD64")
LINKS = ("examples", "impls", "tests", "tools", "golden", "reference")
SHOWN = 30  # lines of an output in a message
HAVE_MODULE = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"


def has(python, name):
    """Whether a program or a Python module is there."""
    if shutil.which(name):
        return True
    return name.isidentifier() and subprocess.run([python, "-c", HAVE_MODULE, name]).returncode == 0


def needed_by(page_blocks):
    return sorted({name for block in page_blocks for name in block.options.get("needs", "").split(",") if name})


def python_for(names, pythons):
    """The first interpreter that has all of the modules, or else the most; and what it misses."""
    missing = [([name for name in names if not has(python, name)], python) for python in pythons]
    return min(missing, key=lambda pair: len(pair[0]))[::-1]


def shortened(lines):
    left_out = len(lines) - SHOWN
    return lines if left_out <= 1 else [*lines[: SHOWN // 2], f".. {left_out} lines ..", *lines[-SHOWN // 2 :]]


def indented(title, lines):
    return [f"  {title}:", *(f"    | {line}" for line in shortened(lines))]


class Page:
    """Runs one page. `problems` are its failures, `notes` what was left out, `changes` the outputs for --update."""

    def __init__(self, path, root=ROOT, same_digits=True):
        self.path = Path(path)
        self.root = root
        self.same_digits = same_digits  # False: outputs are not compared
        self.name = os.path.relpath(path, root)
        self.problems, self.notes, self.changes = [], [], []
        self.commands = 0
        self.seconds = 0.0

    def run(self, build, pythons, limit):
        start = time.monotonic()
        text = self.path.read_text()
        try:
            found = blocks.blocks_of(text)
        except blocks.PageError as error:
            self.problems.append(f"{self.name}, {error}")
            return self
        if self.path.parent in (self.root, self.root / "docs"):
            for line, words in blocks.commands_outside(text, found):
                self._fail(line, f"this command stands outside of a console block, so it is not run: {words}")
        python, missing = python_for(needed_by(found), pythons)
        with tempfile.TemporaryDirectory(prefix="ropecheck-page-") as name:
            self._run_blocks(found, Path(name).resolve(), build, python, missing, limit)
        self.seconds = time.monotonic() - start
        return self

    def _run_blocks(self, found, base, build, python, missing, limit):
        folder = base / "page"
        for made in (folder, base / "home", base / "tmp"):
            made.mkdir()
        for link in LINKS:
            if (self.root / link).is_dir():
                (folder / link).symlink_to(self.root / link)
        (folder / "build").mkdir()
        (folder / "build" / "release").symlink_to(build)
        with Shell(folder, self._environment(base, build, python), limit) as shell:
            for block in found:
                absent = [each for each in block.options.get("needs", "").split(",") if each in missing]
                if "not-run" in block.options:
                    self.notes.append(f"{self.name}, line {block.line}: not run: {block.options['not-run']}")
                elif absent:
                    self.notes.append(f"{self.name}, line {block.line}: left out: needs {', '.join(absent)}")
                elif block.language == "console":
                    if not self._run_console(block, shell):
                        return
                else:
                    self._check_text(block, folder)

    def _environment(self, base, build, python):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("ROPECHECK", "PYTHON", "VIRTUAL_ENV", "LC_"))}  # fmt: skip
        path = os.pathsep.join([str(build), str(Path(python).parent), kept.get("PATH", os.defpath)])
        return {**kept, "PATH": path, "PYTHONPATH": str(self.root / "tools" / "python"), "PYTHONDONTWRITEBYTECODE": "1",
                "HOME": str(base / "home"), "TMPDIR": str(base / "tmp"), "LANG": "C.UTF-8", "COLUMNS": "120",
                "TERM": "dumb"}  # fmt: skip

    def _check_text(self, block, folder):
        if "file" in block.options:
            target = folder / block.options["file"]
            if folder not in target.resolve().parents:
                self._fail(block.line, f"file={block.options['file']} lies outside of the page's scratch folder")
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        if "from" in block.options:
            source = self.root / block.options["from"]
            if not source.is_file():
                self._fail(block.line, f"from={block.options['from']}: there is no such file")
            elif not blocks.stands_in(block.lines, source.read_text().splitlines()):
                self._fail(block.line, f"this block does not stand in {block.options['from']}, line for line")

    def _run_console(self, block, shell):
        """False: a time limit or an `exit` ended the shell, so nothing more can be run."""
        shows_output = any(command.expected for command in block.commands)
        for command, following in zip(block.commands, [*block.commands[1:], None]):
            self.commands += 1
            code, lines = shell.run(command.text)
            if code is None:
                self._fail(command.line, *self._words(command, lines), f"  stopped after {shell.limit:g} s")
                return False
            is_point = following is not None and "$?" in following.text
            if shows_output and self.same_digits:
                self._compare(block, command, lines)
            elif not shows_output and code != 0 and not is_point:
                self._fail(command.line, *self._words(command, lines), f"  exit code {code}, expected 0")
        return True

    def _compare(self, block, command, lines):
        place = output.mismatch(command.expected, lines)
        if place is None:
            return
        self.changes.append((block, command, output.updated(command.expected, lines)))
        line = command.end - len(command.expected) + place
        if place == len(command.expected):
            words = "  the command prints more than the page shows"
        else:
            words = f"  line {line} of the page is not printed here: {command.expected[place].strip()}"
        self._fail(command.line, *self._words(command, lines), words)

    def _words(self, command, lines):
        return [f"$ {command.text}", *indented("expected", command.expected), *indented("found", lines)]

    def _fail(self, line, *words):
        self.problems.append("\n".join([f"{self.name}, line {line}: {words[0]}", *words[1:]]))

    def update(self):
        """Writes the outputs of now into the page."""
        lines = self.path.read_text().splitlines()
        for block, command, new in sorted(self.changes, key=lambda change: -change[1].line):
            start = command.end - len(command.expected) - 1
            lines[start : command.end - 1] = [(" " * block.indent + line).rstrip() for line in new]
        self.path.write_text("\n".join(lines) + "\n")


def pages_with_commands():
    return [page for page in paths.pages() if page.name != "CHANGELOG.md"]


def pythons_of(build):
    """This one; Debian's, which may have numpy; the environment that tools/adapters makes, with torch and the others."""
    others = ("/usr/bin/python3", Path(build).parent / "adapters-venv" / "bin" / "python")
    return [sys.executable, *(str(python) for python in others if Path(python).is_file())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="a build folder: build/release")
    parser.add_argument("pages", nargs="*", type=Path, help="default: every Markdown page of the repository")
    parser.add_argument("--update", action="store_true", help="write what is printed now into the pages")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for each command (default 300)")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if not (build / "ropecheck").is_file():
        parser.error(f"{build / 'ropecheck'} is missing; build it, or name another folder")
    chosen = [Page(page.resolve(), same_digits=SAME_DIGITS) for page in arguments.pages or pages_with_commands()]
    pythons = pythons_of(build)
    if not SAME_DIGITS:
        print("outputs are not compared: this machine's digits may differ from the pages'")
    with ThreadPoolExecutor(2) as pool:
        for page in pool.map(lambda page: page.run(build, pythons, arguments.limit), chosen):
            if page.commands or page.problems or page.notes:
                print(f"{page.name}: {page.commands} commands, {len(page.problems)} problems, {page.seconds:.0f} s")
            for note in page.notes:
                print(f"  {note}")
            for problem in page.problems:
                print(f"pages.py: {problem}", file=sys.stderr, flush=True)
            if arguments.update and page.changes:
                page.update()
                print(f"  {page.name}: {len(page.changes)} outputs written")
            sys.stdout.flush()
    problems = sum(len(page.problems) for page in chosen)
    print(f"{len(chosen)} pages, {sum(page.commands for page in chosen)} commands, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
