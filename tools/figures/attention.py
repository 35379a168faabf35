"""Attention weights of encoder, decoder and cross-attention: figures 4 to 7 of the report, from golden values.

The report compares two trained models. Here the same queries and keys, drawn at random, are seen without and with the
rotation.
"""

import math

import golden
from drawing import Drawing

BLOCKS = (
    ("encoder", "published/report-encoder", "9 tokens; the last 3; are padding"),
    ("decoder", "published/report-decoder", "5 tokens; the last is padding; later ones hidden"),
    ("cross-attention", "published/report-cross-attention", "5 queries of the; decoder, 9 keys; of the encoder"),
)
SENTENCE = 1  # the shorter one of the two
CELL = 16
LEFT, PITCH = 170, 156


def softmax(scores):
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def without_rotation(case, head):
    """The weights that the report's function gives q and k without the argument rotary_emb."""
    q, k = (golden.values(case, name)[SENTENCE][head] for name in ("q", "k"))
    rows = golden.values(case, "mask")[SENTENCE]
    scale = golden.CASES[case]["score_scale"]
    return [softmax([scale * dot(x, y) if seen else -1e9 for y, seen in zip(k, row, strict=True)])
            for x, row in zip(q, rows, strict=True)]  # fmt: skip


def shown(weights, mask):
    """None where the mask hides a key."""
    return [[w if seen else None for w, seen in zip(*rows, strict=True)] for rows in zip(weights, mask, strict=True)]


def draw_map(drawing, x, y, weights, mask):
    drawing.heatmap(x, y, (CELL, CELL), shown(weights, mask), 0, 1, "rising")
    for place in (0, len(mask[0]) - 1):
        drawing.text(x + (place + 0.5) * CELL, y + len(mask) * CELL + 14, str(place), "muted small", "middle")


def draw():
    drawing = Drawing(
        508,
        "Attention weights without and with the rotation",
        "Heatmaps of the attention weights of two heads, without and with the rotation: encoder, decoder and "
        "cross-attention. Rows are queries, columns are keys. Hidden keys are hatched: padding in all three, and later "
        "tokens in the decoder. The rotation moves weight to other keys; it never gives weight to a hidden key.",
    )
    drawing.text(24, 26, "Weights of each query (row) over the keys (columns). Hatched: hidden by the mask.", "text")
    drawing.text(
        24, 46, "Queries and keys are random numbers, so that most queries give their weight to one key.", "muted"
    )
    heads = [(head, rotated) for head in (0, 1) for rotated in (False, True)]
    for place, (head, rotated) in enumerate(heads):
        look = "blue bold" if rotated else "muted bold"
        drawing.text(LEFT + PITCH * place, 76, f"head {head}, {'rotated' if rotated else 'as it is'}", look)
    top = 88
    for name, case, note in BLOCKS:
        mask = golden.values(case, "mask")[SENTENCE]
        drawing.text(24, top + 16, name, "text bold")
        for line, words in enumerate(note.split("; ")):
            drawing.text(24, top + 34 + 16 * line, words, "muted small")
        for place in (0, len(mask) - 1):
            drawing.text(LEFT - 5, top + (place + 0.5) * CELL + 4, str(place), "muted small", "end")
        for place, (head, rotated) in enumerate(heads):
            weights = golden.values(case, "weights")[SENTENCE][head] if rotated else without_rotation(case, head)
            draw_map(drawing, LEFT + PITCH * place, top, weights, mask)
        top += len(mask) * CELL + 30
    drawing.legend(LEFT, 480, 130, 0, 1, "rising")
    drawing.text(LEFT + PITCH + 40, 489, "Rotated: weights of published/report-*, the second sentence.", "muted small")
    return drawing
