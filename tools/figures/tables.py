"""The cosines and sines of the report's code: its figure 3, from golden values."""

import golden
from drawing import Drawing

CASE = "published/report-heatmap"
LEFT, TOP, CELL = (68, 452), 76, (5, 8)


def draw_table(drawing, x, name, rows):
    pairs = len(rows[0])
    drawing.text(x, TOP - 14, f"{name}(m θ)", "text bold")
    drawing.heatmap(x, TOP, CELL, rows, -1, 1, "diverging")
    for m in (0, 8, 16, 24, 31):
        drawing.text(x - 8, TOP + (m + 0.5) * CELL[1] + 4, str(m), "muted small", "end")
    for feature in (0, 16, 32, 48, 63):
        drawing.text(
            x + (feature + 0.5) * CELL[0], TOP + len(rows) * CELL[1] + 16, str(feature), "muted small", "middle"
        )
    drawing.text(x + pairs * CELL[0] / 2, TOP + len(rows) * CELL[1] + 34, "feature", "muted small", "middle")


def draw():
    drawing = Drawing(
        416,
        "The tables of cosines and sines",
        "Two heatmaps, cosines and sines, of 32 positions (down) and 64 features (across). Both features of a pair "
        "have the same entry. On the left, where theta is near 1, the entries swing between -1 and 1. On the right, "
        "where theta is small, cosines stay near 1 and sines near 0.",
    )
    drawing.text(24, 26, "One row for each position m, one column for each feature. Two neighbours are a pair.", "text")
    for x, name in zip(LEFT, ("cos", "sin"), strict=True):
        draw_table(drawing, x, name, golden.values(CASE, name)[0])
    drawing.text(24, TOP + 132, "m", "muted small")
    drawing.legend(LEFT[0] + 20, 388, 208, -1, 1, "diverging")
    drawing.text(LEFT[1], 397, f"Values: cos and sin of {CASE}.", "muted small")
    return drawing
