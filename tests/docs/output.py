"""Compares what a command prints with what a page shows."""

import difflib
import re

# What differs from run to run, each by one word. Both sides are changed in the same way. Worst errors are not among
# them: a program has the same ones in every run. They differ with the C library's sine, and with the code that numpy or
# torch chooses by the CPU. Then the page is renewed by --update, which is better than a page that nobody compares.
CHANGING = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d[.\d]*Z?)?"), "DATE"),
    (re.compile(r"(\"\w*seconds\w*\": )[\d.e+-]+"), r"\1TIME"),
    (re.compile(r"(\b(?:time|timestamp)=)\"[^\"]*\""), r"\1TIME"),
    (re.compile(r"\s*(?<![\w.])\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|min|seconds)\b(?!/)"), " TIME"),
    (re.compile(r"(?<![\w.])/(?:[\w.+@~-]+/)+"), "PATH/"),
    (re.compile(r"(?<![\w.])\d+\.\d+\.\d+(?:[\w.+-]*\w)?"), "VERSION"),
    (re.compile(r"\b(pid|process|PID)(:? )\d+\b"), r"\1\2NUMBER"),
    (re.compile(r"\bsha256 [0-9a-f]{64}\b"), "sha256 DIGEST"),
    (re.compile(r"\b0x[57][0-9a-f]{11}\b"), "ADDRESS"),
)
LEFT_OUT = "..."


def without_changing(line):
    for pattern, word in CHANGING:
        line = pattern.sub(word, line)
    return line.rstrip()


def without_empty_end(lines):
    """A page does not show empty lines at the end."""
    count = len(lines)
    while count and not lines[count - 1].strip():
        count -= 1
    return lines[:count]


def is_left_out(line):
    return line.strip() == LEFT_OUT


def parts_of(expected):
    """The runs of lines between the '...', with the place of each."""
    parts = [(0, [])]
    for place, line in enumerate(expected):
        if is_left_out(line):
            parts.append((place + 1, []))
        else:
            parts[-1][1].append(without_changing(line))
    return parts


def mismatch(expected, found):
    """None, or the first line of `expected` that `found` does not show: its place, from 0. len(expected): there is more."""
    found = without_empty_end([without_changing(line) for line in found])
    parts = parts_of(without_empty_end(expected))
    first, last = parts[0], parts[-1]
    at = 0
    for number, (place, lines) in enumerate(parts):
        anchored_first, anchored_last = number == 0, number == len(parts) - 1
        if anchored_first:
            same = _common(lines, found)
            if same < len(lines):
                return place + same
            at = same
            if anchored_last and at < len(found):
                return len(expected)
        elif anchored_last:
            start = len(found) - len(lines)
            same = _common(lines, found[max(start, at) :])
            if start < at or same < len(lines):
                return place + same if same < len(lines) else place
        else:
            start = next((i for i in range(at, len(found) - len(lines) + 1) if found[i : i + len(lines)] == lines), None)
            if start is None:
                return place + max((_common(lines, found[i:]) for i in range(at, len(found))), default=0)
            at = start + len(lines)
    return None


def _common(one, other):
    """How many lines at the beginning are the same."""
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def updated(expected, found):
    """`expected` with the lines that a command prints now: '...' stay, and lines that differ only in times stay, too."""
    found = without_empty_end(found)
    result = []
    at = 0  # of found
    open_end = False  # after a '...'
    for line in expected:
        if is_left_out(line):
            result.append(line)
            open_end = True
            continue
        scores = [(difflib.SequenceMatcher(None, without_changing(line), without_changing(other)).ratio(), -i)
                  for i, other in enumerate(found[at:])]  # fmt: skip
        score, place = max(scores, default=(0, 0))
        if score < 0.5:
            continue  # nothing like it is printed any more
        place = at - place
        if not open_end:
            result += found[at:place]
        same = without_changing(line) == without_changing(found[place])
        result.append(line if same else found[place])
        at, open_end = place + 1, False
    return result if open_end else result + found[at:]
