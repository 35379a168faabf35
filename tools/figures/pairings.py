"""Which features make a pair: half_split above interleaved."""

from drawing import Drawing

HEAD_DIM = 8
ROTARY_DIM = 6
BASE = 10000
COLOURS = ("blue", "orange", "purple")
PAIRS = ROTARY_DIM // 2
PAIRINGS = (
    ("half_split", "pair p = features p and p + rotary_dim/2", lambda p: (p, p + PAIRS)),
    ("interleaved", "pair p = features 2p and 2p + 1", lambda p: (2 * p, 2 * p + 1)),
)

LEFT, PITCH, SIDE = 68, 86, 60


def theta(pair):
    return BASE ** (-2 * pair / ROTARY_DIM)


def centre(feature):
    return LEFT + feature * PITCH + SIDE / 2


def draw_row(drawing, top, name, rule, features_of):
    drawing.text(24, top, name, "text bold mono")
    drawing.text(140, top, rule, "muted")
    boxes = top + 118
    colour_of = {feature: COLOURS[pair] for pair in range(PAIRS) for feature in features_of(pair)}
    for feature in range(HEAD_DIM):
        colour = colour_of.get(feature)
        drawing.rectangle(LEFT + feature * PITCH, boxes, SIDE, 38, colour or "grey", colour or "line", stroke=1.5)
        drawing.text(centre(feature), boxes + 24, f"x[{feature}]", f"{colour or 'muted'} mono", "middle")
    for pair in range(PAIRS):
        first, second = map(centre, features_of(pair))
        apex = boxes - 62
        drawing.path(
            f"M{first:g} {boxes - 3} C{first:g} {apex - 18:g} {second:g} {apex - 18:g} {second:g} {boxes - 3}",
            COLOURS[pair],
            2.5,
        )
        middle = (first + second) / 2
        drawing.text(middle, apex - 24, f"pair {pair}", f"{COLOURS[pair]} bold", "middle")
        drawing.text(middle, apex - 8, f"θ = {theta(pair):.3g}", COLOURS[pair], "middle")
    middle = (centre(ROTARY_DIM) + centre(HEAD_DIM - 1)) / 2
    drawing.text(middle, boxes - 12, "do not turn: copied", "muted small", "middle")


def draw():
    drawing = Drawing(
        468,
        "The two pairings of RoPE",
        f"Eight features of one head, of which six turn. half_split pairs features 0 and 3, 1 and 4, 2 and 5. "
        f"interleaved pairs 0 and 1, 2 and 3, 4 and 5. Features 6 and 7 are copied. Theta is {theta(0):.3g} for pair "
        f"0, {theta(1):.3g} for pair 1 and {theta(2):.3g} for pair 2.",
    )
    drawing.text(24, 30, f"head_dim {HEAD_DIM}, rotary_dim {ROTARY_DIM}, base {BASE}", "muted")
    drawing.text(776, 30, "θ of pair p = base^(-2p / rotary_dim)", "muted", "end")
    for place, (name, rule, features_of) in enumerate(PAIRINGS):
        draw_row(drawing, 62 + 192 * place, name, rule, features_of)
    drawing.text(
        400, 446, "a pair (a, b) at position m becomes (a cos mθ - b sin mθ, b cos mθ + a sin mθ)", "text", "middle"
    )
    return drawing
