"""One query at positions 0 .. 7, pair by pair: figures 1 and 2 of the report, from golden values."""

import math

import golden
from drawing import Drawing

CASE = "published/report-heatmap"  # its query is the same at every position
PAIRS = (0, 4, 8, 16)
SHOWN = 8  # positions
RADIUS, TOP = 74, 168
COLOURS = ("blue", "orange", "purple", "green")


def draw_pair(drawing, x, y, pair, turned, theta, colour):
    drawing.circle(x, y, RADIUS, 0.7)
    drawing.path(
        f"M{x - RADIUS - 8:g} {y:g}H{x + RADIUS + 8:g}M{x:g} {y - RADIUS - 8:g}V{y + RADIUS + 8:g}", "line", 0.5
    )
    size = math.hypot(*turned[0])
    ends = [(x + a / size * RADIUS, y - b / size * RADIUS) for a, b in turned]
    for m, (to_x, to_y) in enumerate(ends):
        drawing.curve([(x, y), (to_x, to_y)], colour if m == 0 else "line", 2.5 if m == 0 else 0.8)
        drawing.dot(to_x, to_y, colour, 4 if m == 0 else 2.5)
    named = [0]  # and others, where their numbers do not cover each other
    for m in (SHOWN - 1, 1):
        if all(math.dist(ends[m], ends[other]) > 16 for other in named):
            named.append(m)
    for m in named:
        to_x, to_y = (middle + (end - middle) * (1 + 14 / RADIUS) for end, middle in zip(ends[m], (x, y), strict=True))
        drawing.text(to_x, to_y + 4, str(m), f"{colour} small bold", "middle")
    drawing.text(x, TOP - 106, f"pair {pair}", f"{colour} bold", "middle")
    drawing.text(x, TOP + RADIUS + 38, f"θ = {theta:.3g}", colour, "middle")
    drawing.text(x, TOP + RADIUS + 54, f"{math.degrees(theta):.3g}° each position", "muted small", "middle")


def draw():
    theta = golden.values(CASE, "theta")
    rows = golden.values(CASE, "q_out")[0][0][:SHOWN]
    drawing = Drawing(
        344,
        "One query at positions 0 to 7",
        "Four circles, one for each of the pairs 0, 4, 8 and 16 of a query of 64 features. Each shows the pair's two "
        "values as a point at positions 0 to 7. They stay on one circle and turn by theta at each position: by "
        + ", ".join(f"{math.degrees(theta[p]):.3g}" for p in PAIRS)
        + " degrees. The fast pairs go around, the slow ones stay near the start.",
    )
    drawing.text(24, 26, "The two values of a pair are a point. At position m it has turned by the angle m θ.", "text")
    for place, pair in enumerate(PAIRS):
        turned = [golden.pairs(row)[pair] for row in rows]
        draw_pair(drawing, 106 + 196 * place, TOP, pair, turned, theta[pair], COLOURS[place])
    drawing.text(
        24,
        326,
        f"Each circle is scaled to its pair. Values: q_out of {CASE}, positions 0 to {SHOWN - 1}.",
        "muted small",
    )
    return drawing
