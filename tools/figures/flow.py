"""From the claims to the report: what is exact above, what the kernel does below."""

from drawing import Drawing

WIDTH, HEIGHT, PITCH, LEFT = 112, 66, 132, 14
EXACT, KERNEL, RESULT = 62, 218, 350


def column(place):
    return LEFT + place * PITCH


def middle(place):
    return column(place) + WIDTH / 2


def draw_boxes(drawing):
    exact = (
        ("RopeSpec", "base, scaling,", "pairing, ..."),
        ("rotation plan", "features, θ, axis", "of each pair"),
        ("angles", "position × θ", "for each pair"),
        ("exact values", "every pair turned", "by its angle"),
    )
    kernel = (
        ("claims", "what your", "kernel can do"),
        ("case", "types, shapes,", "positions, RoPE"),
        ("call", "tensors and", "attributes"),
        ("your kernel", "runs apart,", "is watched"),
        ("its values", "what it wrote", "to the outputs"),
    )
    for place, (name, *notes) in enumerate(exact, start=1):
        drawing.box(column(place), EXACT, WIDTH, HEIGHT, name, notes, "blue", "blue")
    for place, (name, *notes) in enumerate(kernel):
        drawing.box(column(place), KERNEL, WIDTH, HEIGHT, name, notes, "orange", "orange")
    drawing.box(
        column(5),
        (EXACT + KERNEL) / 2 - 8,
        WIDTH,
        HEIGHT + 16,
        "compare",
        ("is the error", "within the", "bound?"),
        "green",
        "green",
    )
    drawing.box(column(5), RESULT, WIDTH, HEIGHT, "verdict", ("a result for each", "requirement"), "green", "green")
    drawing.box(
        column(2),
        RESULT,
        2 * WIDTH + 20,
        HEIGHT,
        "diagnosis, after a FAIL",
        ("what the kernel computes instead,", "from more calls of it"),
        "green",
        "green",
    )
    drawing.box(
        column(0), RESULT, WIDTH + 90, HEIGHT, "report", ("terminal, JSON,", "JUnit, Markdown"), "green", "green"
    )


def draw_arrows(drawing):
    for place in range(1, 4):
        y = EXACT + HEIGHT / 2
        drawing.arrow([(column(place) + WIDTH, y), (column(place + 1), y)], "blue")
    for place in range(4):
        y = KERNEL + HEIGHT / 2
        drawing.arrow([(column(place) + WIDTH, y), (column(place + 1), y)], "orange")
    drawing.arrow([(middle(1), KERNEL), (middle(1), EXACT + HEIGHT)])
    drawing.text(middle(1) + 8, KERNEL - 62, "its RoPE", "muted small")
    turn = KERNEL - 34
    drawing.arrow([(middle(2), KERNEL), (middle(2), turn), (middle(3), turn), (middle(3), EXACT + HEIGHT)])
    drawing.arrow([(middle(3), turn), (middle(4), turn), (middle(4), EXACT + HEIGHT)])
    drawing.text(middle(3) + 8, KERNEL - 62, "positions", "muted small")
    drawing.text(middle(4) - 8, KERNEL - 62, "inputs", "muted small", "end")
    drawing.arrow(
        [(column(4) + WIDTH, EXACT + 33), (middle(5), EXACT + 33), (middle(5), (EXACT + KERNEL) / 2 - 8)], "blue"
    )
    drawing.arrow(
        [
            (column(4) + WIDTH, KERNEL + 33),
            (middle(5) - 20, KERNEL + 33),
            (middle(5) - 20, (EXACT + KERNEL) / 2 + 8 + HEIGHT),
        ],
        "orange",
    )
    drawing.arrow([(middle(5) + 20, (EXACT + KERNEL) / 2 + 8 + HEIGHT), (middle(5) + 20, RESULT)], "green")
    drawing.arrow([(column(5), RESULT + 33), (column(2) + 2 * WIDTH + 20, RESULT + 33)], "green")
    drawing.arrow([(column(2), RESULT + 33), (column(0) + WIDTH + 90, RESULT + 33)], "green")


def draw():
    drawing = Drawing(
        440,
        "From a claim to a verdict",
        "The kernel's claims allow a case. The case's RopeSpec is compiled to a rotation plan. The plan and the "
        "positions give angles, and with the inputs exact values. The case also becomes a call, which your kernel "
        "runs. Its values are compared with the exact ones, within the bound. This gives the verdict, a diagnosis "
        "after a failure, and the report.",
    )
    drawing.text(LEFT, 36, "What is right", "blue bold")
    drawing.text(LEFT + 108, 36, "computed to 28 digits, independent of your kernel", "muted")
    drawing.text(LEFT, KERNEL - 14, "Your kernel", "orange bold")
    drawing.text(LEFT, RESULT - 14, "What you get", "green bold")
    draw_boxes(drawing)
    draw_arrows(drawing)
    return drawing
