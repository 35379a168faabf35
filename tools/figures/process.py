"""The process boundary: what ropecheck and the kernel share, and what comes back when the kernel dies or hangs."""

from drawing import Drawing

OUTCOMES = (
    ("returns", "the answer: a status and the time", "pass or FAIL, by its outputs", "green"),
    ("reads or writes past a tensor", "the guard page stops it", "wrote 1 element past the end of q_out", "red"),
    ("dies", "a fault report or its exit status", "aborted (SIGABRT)", "red"),
    ("hangs", "no answer by the deadline, twice", "did not return within 10 s; its process was killed", "red"),
)
# From tools/worker/client; tests/structure/figures.py looks them up there.
QUOTED = ("past the end of", "aborted", "did not return within", "its process was killed")
LEFT, RIGHT, TOP, HEIGHT = 24, 500, 52, 118


def draw_processes(drawing):
    for x, width, name, line in ((LEFT, 210, "ropecheck", "blue"), (RIGHT, 276, "worker process", "orange")):
        drawing.rectangle(x, TOP, width, HEIGHT, line, line, radius=8)
        drawing.text(x + width / 2, TOP + 24, name, "text bold", "middle")
    for place, note in enumerate(("makes the call,", "waits until the deadline,", "judges what comes back")):
        drawing.text(LEFT + 105, TOP + 52 + 18 * place, note, "text small", "middle")
    drawing.box(
        RIGHT + 20, TOP + 40, 236, 60, "your kernel", ("library, Python function or program",), "page", "orange"
    )
    gap, end = LEFT + 210, RIGHT
    centre = (gap + end) / 2
    drawing.arrow([(gap, TOP + 26), (end, TOP + 26)], "blue")
    drawing.text(centre, TOP + 18, "call: one line of JSON", "text small", "middle")
    drawing.arrow([(end, TOP + 54), (gap, TOP + 54)], "orange")
    drawing.text(centre, TOP + 46, "answer, or a report of the fault", "text small", "middle")
    drawing.rectangle(gap + 20, TOP + 72, end - gap - 40, 46, "panel", "line", dashes="5 3")
    drawing.text(centre, TOP + 91, "shared memory", "text bold", "middle")
    drawing.text(centre, TOP + 108, "inputs read-only, outputs writable", "muted small", "middle")
    for x, to in ((gap + 20, gap), (end - 20, end)):
        drawing.path(f"M{x} {TOP + 95} H{to}", "line", 1.5, "5 3")


def draw_memory(drawing, top):
    drawing.text(LEFT, top, "Tensors of a call in the worker of a shared library", "text bold")
    parts = (
        (150, "no access", "red", "muted"),
        (34, "", "grey", "text"),
        (176, "q: input, read-only", "blue", "text"),
        (128, "no access", "red", "muted"),
        (34, "", "grey", "text"),
        (136, "q_out: output", "orange", "text"),
        (94, "no access", "red", "muted"),
    )
    x = LEFT
    for width, words, surface, look in parts:
        drawing.rectangle(x, top + 14, width, 36, surface, "line", radius=0)
        if words:
            drawing.text(x + width / 2, top + 37, words, f"{look} small", "middle")
        x += width
    for end in (LEFT + 150 + 34 + 176, LEFT + 150 + 34 + 176 + 128 + 34 + 136):
        drawing.path(f"M{end} {top + 8} V{top + 56}", "red", 2.5)
    drawing.text(LEFT + 360, top + 70, "the next byte faults", "red small", "middle")
    for start in (LEFT + 150, LEFT + 150 + 34 + 176 + 128):
        drawing.path(f"M{start + 17} {top + 50} V{top + 58}", "line", 1.2)
    drawing.text(LEFT + 167, top + 70, "known bytes: a write shows", "muted small", "middle")
    drawing.text(LEFT + 505 + 80, top + 70, "known bytes, too", "muted small", "middle")


def draw_outcomes(drawing, top):
    columns = (LEFT + 10, 232, 446)
    for x, name in zip(columns, ("The kernel", "ropecheck notices", "The verdict says"), strict=True):
        drawing.text(x, top, name, "text bold")
    for place, (event, notice, words, colour) in enumerate(OUTCOMES):
        y = top + 12 + 30 * place
        drawing.rectangle(LEFT, y, 752, 26, "panel", radius=4)
        drawing.text(columns[0], y + 17.5, event, f"{colour} small bold")
        drawing.text(columns[1], y + 17.5, notice, "text small")
        drawing.text(columns[2], y + 17.5, words, "text small")
    drawing.text(LEFT, top + 152, "After each of the last three, a new worker process takes the next call.", "muted")


def draw():
    drawing = Drawing(
        482,
        "The process boundary",
        "ropecheck sends a call to a worker process as one line of JSON and gets an answer or a report of the fault. "
        "The tensors lie in shared memory. In the worker of a shared library each tensor ends where an inaccessible "
        "page begins. "
        + " ".join(
            f"A kernel that {event}: {notice}; the verdict says: {words}." for event, notice, words, _ in OUTCOMES
        ),
    )
    drawing.text(LEFT, 32, "Your kernel runs in a process of its own. It cannot end or damage the run.", "text")
    draw_processes(drawing)
    draw_memory(drawing, 204)
    draw_outcomes(drawing, 316)
    return drawing
