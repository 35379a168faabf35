"""A verdict with its parts named. The lines are recorded ones, in outputs/; `make.py --record` renews them."""

import re
from pathlib import Path

from drawing import Drawing

OUTPUTS = Path(__file__).parent / "outputs"
COMMANDS = {
    "conforms": "ropecheck verify ./my_kernel.so --level quick --verbose",
    "fails": "ropecheck verify ./broken_kernel.so --level quick --only ROT-01",
}
SIZE, STEP = 11.5, 16.5
CHARACTER = SIZE * 0.6
COLUMNS = 90  # of the terminal
PANEL_LEFT, PANEL_WIDTH, TEXT_LEFT, LABELS = 14, 772, 22, 660
VERDICTS = {"pass": "green bold", "FAIL": "red bold"}
# What a line of a failure begins with: its name in the picture, and its colour.
FAILURE = (
    ("./broken", "verdict", "red"),
    ("  diagnosis", "the bug, in words", "orange"),
    ("    evidence", "why this bug", "orange"),
    ("    fails with", "when it happens", "orange"),
    ("  ROT-01", "a failed MUST", "red"),
    ("    Every", "its sentence", "muted"),
    ("      found", "what is wrong", "red"),
    ("      where", "where it is wrong", "blue"),
    ("      failed", "cases that failed", "muted"),
    ("      replay", "repeats this case", "purple"),
)

SHOWN = {
    "conforms": ("./my_kernel", "  ROT-01", "  ROT-02", "  f32"),
    "fails": tuple(start for start, _, _ in FAILURE),
}


def lines_to_record(name, printed):
    """The lines that the picture shows. The time, which differs from run to run, is always 2.0 s."""
    lines = [line_of(printed.splitlines(), start) for start in SHOWN[name]]
    return re.sub(r"\d+\.\d s,", "2.0 s,", "\n".join(lines) + "\n")


def recorded(name):
    return (OUTPUTS / f"{name}.txt").read_text().splitlines()


def line_of(lines, start):
    found = [line for line in lines if line.startswith(start)]
    if not found:
        raise ValueError(f"no line of the output begins with {start!r}")
    return found[0]


def wrapped(line):
    """Broken as on a narrow terminal: after spaces and commas, continued below the text of the line."""
    label = re.match(r" {6}[a-z]+ +", line)
    indent = " " * (label.end() if label else len(line) - len(line.lstrip()) + 2)
    rows = [""]
    for word in re.findall(r"\s+|[^\s,]+,?|,", line):
        if len((rows[-1] + word).rstrip()) > COLUMNS:
            rows.append(indent)
            word = word.lstrip()
        rows[-1] += word
    return [row.rstrip() for row in rows]


def draw_line(drawing, y, line, look="text"):
    """Each run of characters gets its own column, so that parts can be pointed at in every font."""
    for run in re.finditer(r"\S+(?: \S+)*", line):
        colour = VERDICTS.get(run.group(), look)
        drawing.text(TEXT_LEFT + run.start() * CHARACTER, y, run.group(), f"{colour} mono small")


def draw_panel(drawing, top, height, command):
    drawing.rectangle(PANEL_LEFT, top, PANEL_WIDTH, height, "panel", "line", stroke=0.7)
    draw_line(drawing, top + 21, f"$ {command}", "muted")


def draw_label(drawing, y, name, colour, end):
    """`end`: where the line's text ends."""
    if end + 12 < LABELS:
        drawing.path(f"M{end + 6:g} {y - 4:g} H{LABELS - 6}", {"muted": "line"}.get(colour, colour), 1, "2 3")
    drawing.text(LABELS, y, name, f"{colour} small bold")


def draw_parts(drawing, y, line):
    """Names above the parts of a requirement's line. The first name stands higher: it is wider than its part."""
    parts = (
        (r"[A-Z]+-\d+", "requirement", "blue", 17),
        (r"pass", "result", "green", 0),
        (r"\d+ cases", "cases", "purple", 0),
        (r"worst .*? bound", "share of the bound", "orange", 0),
        (r"f32, .*", "where", "muted", 0),
    )
    for pattern, name, colour, higher in parts:
        found = re.search(pattern, line)
        left, right = (TEXT_LEFT + column * CHARACTER for column in found.span())
        mark = {"muted": "line"}.get(colour, colour)
        drawing.path(f"M{left:g} {y - 11:g} V{y - 15:g} H{right:g} V{y - 11:g}", mark, 1.2)
        if higher:
            drawing.path(f"M{left + 4:g} {y - 15:g} V{y - 18 - higher:g}", mark, 1.2)
        drawing.text(left, y - 21 - higher, name, f"{colour} small bold")


def end_of(line):
    """At most: the characters of some fonts are wider than 0.6 of their size."""
    return round(TEXT_LEFT + len(line) * CHARACTER * 1.03, 1)


def draw_named(drawing, y, line, name, colour):
    """A line with its name beside it. Returns where the next one begins."""
    rows = wrapped(line)
    draw_label(drawing, y, name, colour, end_of(rows[0]))
    for row in rows:
        draw_line(drawing, y, row)
        y += STEP
    return y


def draw_conforms(drawing, top):
    lines = recorded("conforms")
    draw_panel(drawing, top, 178, COMMANDS["conforms"])
    y = draw_named(drawing, top + 41, line_of(lines, "./my_kernel"), "verdict", "green") + 42
    first = line_of(lines, "  ROT-01")
    draw_parts(drawing, y, first)
    draw_line(drawing, y, first)
    y += STEP
    for line in (line_of(lines, "  ROT-02"), "  ..."):
        draw_line(drawing, y, line)
        y += STEP
    draw_named(drawing, y, line_of(lines, "  f32"), "grade per dtype", "purple")
    return top + 178


def draw_fails(drawing, top):
    lines = recorded("fails")
    shown = [(line_of(lines, start), name, colour) for start, name, colour in FAILURE]
    height = 40 + STEP * sum(len(wrapped(line)) for line, _, _ in shown)
    draw_panel(drawing, top, height, COMMANDS["fails"])
    y = top + 21 + STEP + 4
    for line, name, colour in shown:
        y = draw_named(drawing, y, line, name, colour)
    return top + height


def draw():
    draft = Drawing(2000, "", "")
    height = round(draw_fails(draft, draw_conforms(draft, 36) + 40) + 14)
    drawing = Drawing(
        height,
        "A verdict with its parts named",
        "Above, a kernel that conforms: verdict, requirement, result, number of cases, worst error as a share of the "
        "bound, and grade. Below, a kernel that fails: the verdict, the diagnosis with its evidence, what is wrong, "
        "where, and the command that repeats the minimal case.",
    )
    drawing.text(PANEL_LEFT, 25, "A kernel that conforms", "green bold")
    below = draw_conforms(drawing, 36)
    drawing.text(PANEL_LEFT, below + 29, "A kernel that fails", "red bold")
    draw_fails(drawing, below + 40)
    return drawing
