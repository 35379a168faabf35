"""Scores of one query and one key at every pair of positions, and how scores fall with the distance: golden values.

The report shows neither; it says that the angle tells the distance. RoFormer says that scores decay with it.
"""

import math

import golden
from drawing import Drawing

CASE = "published/report-heatmap"
MAP = (68, 70, 7)  # left, top, cell
PLOT = (392, 70, 372, 224)  # left, top, width, height
DECAY = (68, 396, 696, 120)
FARTHEST = 512


def axes(drawing, box, ticks_x, ticks_y, place_x, place_y):
    left, top, width, height = box
    for value in ticks_x:
        drawing.path(f"M{place_x(value):g} {top:g}v{height:g}", "line", 0.3)
        drawing.text(place_x(value), top + height + 16, f"{value:g}", "muted small", "middle")
    for value in ticks_y:
        drawing.path(f"M{left:g} {place_y(value):.2f}h{width:g}", "line", 1 if value == 0 else 0.3)
        drawing.text(left - 7, place_y(value) + 4, f"{value:g}", "muted small", "end")


def scale(lowest, highest, start, length):
    """Where a value is on an axis."""
    return lambda value: start + (value - lowest) / (highest - lowest) * length


def draw_scores(drawing, scores):
    left, top, cell = MAP
    highest = max(abs(score) for row in scores for score in row)
    drawing.text(left, top - 12, "score of query m and key n", "text bold")
    drawing.heatmap(left, top, (cell, cell), scores, -highest, highest, "diverging")
    for place in (0, 8, 16, 24, 31):
        drawing.text(left - 6, top + (place + 0.5) * cell + 4, str(place), "muted small", "end")
        drawing.text(left + (place + 0.5) * cell, top + 32 * cell + 16, str(place), "muted small", "middle")
    drawing.text(24, top + 16 * cell + 4, "m", "muted")
    drawing.text(left + 16 * cell, top + 32 * cell + 32, "n", "muted", "middle")
    drawing.legend(left + 38, top + 32 * cell + 42, 130, -highest, highest, "diverging", "{:.3g}".format)


def draw_distances(drawing, scores):
    highest = math.ceil(max(abs(score) for row in scores for score in row) / 10) * 10
    left, top, width, height = PLOT
    x, y = scale(-31, 31, left, width), scale(-highest, highest, top + height, -height)
    drawing.text(left, top - 12, "the same scores by their distance n - m", "text bold")
    axes(drawing, PLOT, (-31, -16, 0, 16, 31), (-highest, -highest / 2, 0, highest / 2, highest), x, y)
    by_distance = {}
    for m, row in enumerate(scores):
        for n, score in enumerate(row):
            by_distance.setdefault(n - m, []).append(score)
    drawing.curve([(x(d), y(found[0])) for d, found in sorted(by_distance.items())], "orange", 1.2)
    for distance, found in sorted(by_distance.items()):
        drawing.dot(x(distance), y(found[0]), "orange", 2)
    spread = max(max(found) - min(found) for found in by_distance.values())
    drawing.text(left, top + height + 36, f"All scores of one distance are equal within {spread:.1g}.", "muted small")


def mean_cosine(theta, distance):
    """The score of a query and a key with equal entries, as a share of their score at distance 0."""
    return sum(math.cos(distance * t) for t in theta) / len(theta)


def draw_decay(drawing, theta):
    left, top, width, height = DECAY
    x, y = scale(0, FARTHEST, left, width), scale(-0.25, 1, top + height, -height)
    drawing.text(left, top - 14, "a query equal to its key: score / score at distance 0", "text bold")
    axes(drawing, DECAY, range(0, FARTHEST + 1, 64), (0, 0.5, 1), x, y)
    drawing.curve([(x(d), y(mean_cosine(theta, d))) for d in range(FARTHEST + 1)], "blue", 1.3)
    drawing.text(left + width / 2, top + height + 32, "distance", "muted small", "middle")
    drawing.text(left, top + height + 50, f"mean of cos(distance θ) over the case's {len(theta)} θ", "muted small")


def draw():
    theta, scores = golden.values(CASE, "theta"), golden.values(CASE, "scores")[0][0]
    drawing = Drawing(
        578,
        "A score depends on the distance of its positions",
        "Top left: a heatmap of the scores of one query and one key, both at positions 0 to 31. All cells "
        "on a diagonal have one colour. Top right: the same scores drawn by the distance of key and query, one curve. "
        f"Bottom: a query that equals its key. Its score falls from 1 at distance 0 to {mean_cosine(theta, 64):.2f} "
        f"at 64 and {mean_cosine(theta, FARTHEST):.2f} at {FARTHEST}, and swings on the way.",
    )
    drawing.text(24, 26, "The same query and the same key at every position.", "text")
    draw_scores(drawing, scores)
    draw_distances(drawing, scores)
    draw_decay(drawing, theta)
    drawing.text(776, 566, f"Values: scores and theta of {CASE}.", "muted small", "end")
    return drawing
