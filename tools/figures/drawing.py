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


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Drawing:
    def __init__(self, height, title, description):
        self.height = height
        self.title = title
        self.description = description
        self.parts = []
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

    def svg(self):
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
                f'height="{self.height}" role="img" aria-labelledby="title desc">',
                f'<title id="title">{escape(self.title)}</title>',
                f'<desc id="desc">{escape(self.description)}</desc>',
                f"<style>{STYLE}</style>",
                *self.parts,
                "</svg>\n",
            ]
        )
