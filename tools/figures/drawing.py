"""One SVG picture, 800 wide, in the colours of GitHub's light and dark pages.

One file serves both: GitHub shows pictures as <img>, and there `prefers-color-scheme` follows the browser. A reader may
choose another theme in GitHub than in the browser, so the picture has its own background and is readable on both. (Two
files and <picture media=..> would follow GitHub's theme, but every picture would exist twice.)
"""

from xml.sax.saxutils import escape, quoteattr

WIDTH = 800
SANS = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
MONO_EM = 0.6  # width of one character; textLength makes it true in every font
SANS_EM = 0.56  # width of a character, on average; only to notice text that leaves the picture

# name: (light, dark)
INK = {
    "text": ("#1f2328", "#f0f6fc"),
    "muted": ("#59636e", "#a8b0ba"),
    "line": ("#6e7781", "#8b949e"),
    "blue": ("#0550ae", "#79c0ff"),
    "green": ("#116329", "#56d364"),
    "red": ("#a40e26", "#ff7b72"),
    "orange": ("#7d4e00", "#e3b341"),
    "purple": ("#6639ba", "#d2a8ff"),
}
SURFACE = {
    "page": ("#ffffff", "#0d1117"),
    "panel": ("#f6f8fa", "#161b22"),
    "blue": ("#ddf4ff", "#0c2d4f"),
    "green": ("#dafbe1", "#0f3320"),
    "red": ("#ffebe9", "#46151a"),
    "orange": ("#fff1c2", "#3d2b06"),
    "purple": ("#f3e8ff", "#2d1b4e"),
    "grey": ("#e6eaef", "#2a313c"),
}
# A scale of values, from its lowest to its highest: name: ((light, dark), ..), with even steps between.
SCALES = {
    "diverging": (("#0550ae", "#79c0ff"), ("#f6f8fa", "#161b22"), ("#953800", "#ffa657")),
    "rising": (("#eef2f6", "#1c232c"), ("#0550ae", "#79c0ff")),
}
LEVELS = 25  # colours of a scale; odd, so that a diverging one has a middle


def _rules(column):
    ink = [
        f".{name}{{fill:{colours[column]}}}.{name}-line{{stroke:{colours[column]}}}" for name, colours in INK.items()
    ]
    surface = [f".on-{name}{{fill:{colours[column]}}}" for name, colours in SURFACE.items()]
    return "".join(ink + surface)


STYLE = (
    f"text{{font-family:{SANS};font-size:13px}}.mono{{font-family:{MONO}}}.bold{{font-weight:600}}"
    f".small{{font-size:11.5px}}.big{{font-size:16px}}path,line{{fill:none}}"
    f"{_rules(0)}@media (prefers-color-scheme:dark){{{_rules(1)}}}"
)
SIZES = {"small": 11.5, "big": 16, "": 13}


def _mixed(first, second, share):
    """A colour between two, #rrggbb."""
    parts = ((int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _scale_rules(scale):
    def colours(column):
        stops = [stop[column] for stop in SCALES[scale]]
        for level in range(LEVELS):
            place = level * (len(stops) - 1) / (LEVELS - 1)
            stop = min(int(place), len(stops) - 2)
            yield f".{scale}{level}{{fill:{_mixed(stops[stop], stops[stop + 1], place - stop)}}}"

    light, dark = ("".join(colours(column)) for column in (0, 1))
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def blocks(rows):
    """Rectangles of cells that are alike, {level: [(column, row, width, height)]}: few, so that the file is small."""
    open_runs, found = {}, {}
    for y, row in enumerate([*rows, []]):
        runs, x = {}, 0
        while x < len(row):
            end = x
            while end < len(row) and row[end] == row[x]:
                end += 1
            runs[x, end, row[x]] = open_runs.get((x, end, row[x]), y)
            x = end
        for (first, end, level), top in open_runs.items():
            if (first, end, level) not in runs:
                found.setdefault(level, []).append((first, top, end - first, y - top))
        open_runs = runs
    return found


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Drawing:
    def __init__(self, height, title, description):
        self.height = height
        self.title = title
        self.description = description
        self.parts = []
        self.scales = []
        self.rectangle(0.5, 0.5, WIDTH - 1, height - 1, "page", "line", radius=8, stroke=0.5)

    def text(self, x, y, words, look="text", anchor="start"):
        """`look`: classes, such as "muted small"."""
        size = SIZES[next((name for name in look.split() if name in SIZES), "")]
        width = len(words) * size * (MONO_EM if "mono" in look.split() else SANS_EM)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        if left < 0 or left + width > WIDTH or not 0 < y < self.height:
            raise ValueError(f"{self.title}: this text leaves the picture: {words}")
        # A text of one word must begin exactly where it is put, in every font, so its length is set.
        length = f' textLength="{number(width)}" lengthAdjust="spacingAndGlyphs"' if "mono" in look.split() else ""
        at = f'x="{number(x)}" y="{number(y)}"' + (f' text-anchor="{anchor}"' if anchor != "start" else "")
        self.parts.append(f"<text {at} class={quoteattr(look)}{length}>{escape(words)}</text>")

    def rectangle(self, x, y, width, height, surface, line="", radius=4, dashes="", stroke=1):
        looks = f"on-{surface}" + (f" {line}-line" if line else "")
        drawn = f' stroke-width="{number(stroke)}"' if line else ""
        drawn += f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
            f'rx="{number(radius)}" class="{looks}"{drawn}/>'
        )

    def path(self, way, line="line", width=1.5, dashes=""):
        drawn = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<path d="{way}" class="{line}-line" stroke-width="{number(width)}"{drawn}/>')

    def arrow(self, points, line="line", width=1.5, dashes=""):
        """Draws along the points, all horizontal or vertical; the head is at the last one."""
        (x0, y0), (x1, y1) = points[-2], points[-1]
        dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
        ends = [*points[:-1], (x1 - 4 * dx, y1 - 4 * dy)]
        self.path("M" + " L".join(f"{number(x)} {number(y)}" for x, y in ends), line, width, dashes)
        corners = [(x1, y1), (x1 - 8 * dx - 4 * dy, y1 - 8 * dy - 4 * dx), (x1 - 8 * dx + 4 * dy, y1 - 8 * dy + 4 * dx)]
        head = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
        self.parts.append(f'<polygon points="{head}" class="{line}"/>')

    def box(self, x, y, width, height, name, notes=(), surface="panel", line="line"):
        """A named box, its notes below the name; all centred."""
        self.rectangle(x, y, width, height, surface, line)
        first = y + height / 2 + 4.5 - 8 * len(notes)
        self.text(x + width / 2, first, name, "text bold", "middle")
        for place, note in enumerate(notes):
            self.text(x + width / 2, first + 17 + 15 * place, note, "muted small", "middle")

    def heatmap(self, x, y, cell, rows, lowest, highest, scale):
        """rows: numbers, or None where a cell is masked. cell: its width and height."""
        if scale not in self.scales:
            self.scales.append(scale)

        def level(value):
            return None if value is None else round((value - lowest) / (highest - lowest) * (LEVELS - 1))

        width, height = cell[0] * len(rows[0]), cell[1] * len(rows)
        for found, alike in sorted(blocks([[level(v) for v in row] for row in rows]).items(), key=str):
            way = "".join(
                f"M{number(x + left * cell[0])} {number(y + top * cell[1])}h{number(w * cell[0])}"
                f"v{number(h * cell[1])}h{number(-w * cell[0])}z"
                for left, top, w, h in alike
            )
            look = "on-page" if found is None else f"{scale}{found}"
            self.parts.append(f'<path d="{way}" class="{look}" shape-rendering="crispEdges"/>')
            for left, top, w, h in alike if found is None else ():
                for i, j in ((i, j) for i in range(left, left + w) for j in range(top, top + h)):
                    a, b = x + i * cell[0], y + j * cell[1]
                    self.path(f"M{number(a)} {number(b + cell[1])}L{number(a + cell[0])} {number(b)}", "line", 0.6)
        frame = f"M{number(x)} {number(y)}h{number(width)}v{number(height)}h{number(-width)}z"
        self.path(frame, "line", 0.7)

    def legend(self, x, y, width, lowest, highest, scale, words=str):
        """The colours of a scale, with what they stand for."""
        step = (highest - lowest) / (LEVELS - 1)
        self.heatmap(x, y, (width / LEVELS, 10), [[lowest + i * step for i in range(LEVELS)]], lowest, highest, scale)
        self.text(x - 6, y + 9, words(lowest), "muted small", "end")
        self.text(x + width + 6, y + 9, words(highest), "muted small")

    def curve(self, points, line="line", width=1.5):
        self.path("M" + "L".join(f"{number(x)} {number(y)}" for x, y in points), line, width)

    def circle(self, x, y, radius, width):
        way = f"M{number(x - radius)} {number(y)}" + "".join(
            f"a{number(radius)} {number(radius)} 0 0 1 {number(step)} 0" for step in (2 * radius, -2 * radius)
        )
        self.path(way, "line", width)

    def dot(self, x, y, ink, radius=2.5):
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" class="{ink}"/>')

    def svg(self):
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
                f'height="{self.height}" role="img" aria-labelledby="title desc">',
                f'<title id="title">{escape(self.title)}</title>',
                f'<desc id="desc">{escape(self.description)}</desc>',
                f"<style>{STYLE}{''.join(map(_scale_rules, self.scales))}</style>",
                *self.parts,
                "</svg>\n",
            ]
        )
