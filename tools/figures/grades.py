"""The axes of a grade: angles, storage, and the share of the bound that was used."""

from drawing import Drawing

ANGLES = (
    ("A", "exact at every position", "(f64 angles for f32 values),", "or given as tables"),
    ("B", "θ and angle in the working type,", "each computed directly"),
    ("C", "θ by repeated products,", "or by exp and log; f64: also", "vectorised sin and cos"),
)
STORAGE = (
    ("1", "working type inside,", "rounded once at the end"),
    ("2", "cos and sin rounded", "to the storage type"),
    ("3", "every operation rounded", "to the storage type"),
)
LEFT, TOP, CELL_WIDTH, CELL_HEIGHT = 262, 190, 166, 58
SURFACES = ("green", "green", "blue", "orange", "orange")  # by the steps from A1


def draw_example(drawing):
    """A line that verify prints, with its parts named."""
    left, character, y = 252, 13 * 0.6, 62
    # text, column, look; below it the part's name, the name's place, and how far down the line to it turns
    parts = (
        ("f32", 0, "text", "dtype", 170, 84),
        ("grade", 6, "text", "", 0, 0),
        ("A", 12, "blue", "angles", 300, 84),
        ("1", 13, "purple", "storage", 396, 84),
        (",", 14, "text", "", 0, 0),
        ("0.99", 16, "green", "share of the bound", 540, 78),
        ("of its bound used", 21, "text", "", 0, 0),
    )
    drawing.rectangle(left - 16, y - 20, 38 * character + 32, 30, "panel", "line")
    for words, column, look, name, label, turn in parts:
        start = left + column * character
        drawing.text(start, y, words, f"{look} mono" + (" bold" if name else ""))
        if name:
            middle = start + len(words) * character / 2
            line = "line" if look == "text" else look
            drawing.path(f"M{middle:g} {y + 6} V{turn} H{label} V{y + 30}", line, 1.2)
            drawing.text(label, y + 44, name, f"{look} bold", "middle")


def draw_grid(drawing):
    drawing.text(24, TOP - 46, "Angles: how they are made", "blue bold")
    drawing.text(LEFT, TOP - 46, "Storage: where values are rounded", "purple bold")
    for column, (digit, *notes) in enumerate(STORAGE):
        x = LEFT + column * (CELL_WIDTH + 6)
        drawing.text(x + 2, TOP - 16, digit, "purple big bold")
        for place, note in enumerate(notes):
            drawing.text(x + 18, TOP - 23 + 14 * place, note, "text small")
    for row, (letter, *notes) in enumerate(ANGLES):
        y = TOP + row * (CELL_HEIGHT + 6)
        drawing.text(28, y + CELL_HEIGHT / 2 + 6, letter, "blue big bold")
        for place, note in enumerate(notes):
            drawing.text(52, y + CELL_HEIGHT / 2 + 12 - 7.5 * len(notes) + 15 * place, note, "text small")
        for column in range(3):
            x = LEFT + column * (CELL_WIDTH + 6)
            drawing.rectangle(x, y, CELL_WIDTH, CELL_HEIGHT, SURFACES[row + column], "line", stroke=0.7)
            note = {0: "the tightest bound", 4: "the loosest that conforms"}.get(row + column)
            middle = y + CELL_HEIGHT / 2 + (0 if note else 5)
            drawing.text(x + CELL_WIDTH / 2, middle, f"{letter}{column + 1}", "text big bold", "middle")
            if note:
                drawing.text(x + CELL_WIDTH / 2, middle + 18, note, "muted small", "middle")


def draw_share(drawing, top):
    drawing.text(24, top, "Share: worst error / bound", "green bold")
    left, width = LEFT, 340
    drawing.rectangle(left, top - 11, width, 14, "grey", radius=3)
    drawing.rectangle(left, top - 11, 0.99 * width, 14, "green", "green", radius=3)
    drawing.path(f"M{left + width:g} {top - 17} V{top + 9}", "red", 2)
    drawing.text(left, top + 20, "0: exact", "muted small")
    drawing.text(left + width, top + 20, "1: the bound", "red small", "middle")
    drawing.text(left + width + 14, top + 1, "above 1: not this grade", "muted small")


def draw():
    drawing = Drawing(
        462,
        "The three axes of a grade",
        "The line 'f32 grade A1, 0.99 of its bound used' has three axes. The letter tells how the angles are computed, "
        "A to C. The digit tells where values are rounded to the storage type, 1 to 3. The number is the worst error "
        "divided by that grade's bound. A1 is the tightest grade, C3 the loosest that conforms.",
    )
    drawing.text(24, 28, "A report has one grade for each dtype: the tightest that held in every case.", "text")
    draw_example(drawing)
    draw_grid(drawing)
    draw_share(drawing, 404)
    drawing.text(
        24,
        446,
        "The letter is decided first. 1, 2 and 3 differ only where values are stored in a narrower type "
        "than the working type.",
        "muted small",
    )
    return drawing
