"""Pages of the repository as pages of the site, at the same place, and every page and file that they link to."""

import re
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
FENCED = re.compile(r"^( *)(`{3,}|~{3,})[^\n]*\n.*?^ *\2[ \t]*$", re.MULTILINE | re.DOTALL)
OPENED = re.compile(r"^( *(?:`{3,}|~{3,}))(\w+)[ \t]+\S.*$", re.MULTILINE)  # a fence with more than a language
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"(?P<before>\]\(\s*<?)(?P<target>[^)\s>]+)(?P<after>>?[^)]*\))")
HTML_LINK = re.compile(r"""(?P<before>\b(?:href|src)=["'])(?P<target>[^"']+)(?P<after>["'])""")
WHOLE_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^)\s>]+)>?[^)]*\)")
LIST_AFTER_TEXT = re.compile(r"^(?!\s*(?:[-*] |\d+\. ))(\S[^\n]*)\n(?=(?:[-*] |1\. ))", re.MULTILINE)
FOREIGN = re.compile(r"[a-z][a-z0-9+.-]*:|//|#")
PICTURES = (".svg", ".png", ".jpg")
LANGUAGES = {".py": "python", ".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".cu": "cpp", ".json": "json",
             ".yml": "yaml", ".yaml": "yaml", ".txt": "text"}  # fmt: skip
# Long tables of names, which would stand before every page that explains a word.
UNSEARCHED = ("KILL_MATRIX.md", "RESULTS.md")
HIDDEN = "---\nsearch: {exclude: true}\n---\n\n"
NAMED = {"CMakeLists.txt": "cmake", "Makefile": "make", "Dockerfile": "docker"}


class Guide:
    """Takes in pages, in any order, into a folder."""

    def __init__(self, into: Path) -> None:
        self.into = into
        self.taken: set[Path] = set()

    def take(self, *names: str) -> None:
        """These pages and what they link to, and what that links to."""
        waiting = [ROOT / name for name in names]
        while waiting:
            path = waiting.pop()
            if path in self.taken:
                continue
            self.taken.add(path)
            if path.suffix == ".md":
                text, found = page_of(path)
                self.write(path, HIDDEN * (path.name in UNSEARCHED) + text)
                waiting += found
            elif path.suffix in PICTURES:
                self.write(path, path.read_bytes())
            else:
                self.write(path.with_name(path.name + ".md"), source_page(path))

    def write(self, path: Path, content: str | bytes) -> None:
        target = self.into / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())


def page_of(path: Path) -> tuple[str, list[Path]]:
    """The page as MkDocs reads it, and the files that it links to."""
    found: list[Path] = []

    def own(text: str) -> str:
        text = WHOLE_LINK.sub(lambda link: without_a_folder(link, path), text)
        for pattern in (LINK, HTML_LINK):
            text = pattern.sub(lambda link: link["before"] + target_of(link["target"], path, found) + link["after"], text)
        return LIST_AFTER_TEXT.sub(r"\1\n\n", text)

    return outside_code(path.read_text(), own), found


def outside_code(text: str, change) -> str:
    """Changes what is neither in a block nor between backticks. Of the first line of a block the language is kept."""
    kept: list[str] = []

    def hide(code: re.Match) -> str:
        kept.append(OPENED.sub(r"\1\2", code[0], count=1) if "\n" in code[0] else code[0])
        return f"\0{len(kept) - 1}\0"

    text = change(CODE.sub(hide, FENCED.sub(hide, text)))
    for number in reversed(range(len(kept))):
        text = text.replace(f"\0{number}\0", kept[number])
    return text


def file_of(target: str, page: Path) -> Path:
    name = unquote(target.partition("#")[0])
    return (page.parent / name).resolve()


def without_a_folder(link: re.Match, page: Path) -> str:
    """Only the words of a link to a folder: a site of files has no list of them."""
    words, target = link[1], link[2]
    return words if not FOREIGN.match(target) and file_of(target, page).is_dir() else link[0]


def target_of(target: str, page: Path, found: list[Path]) -> str:
    """Where the link leads on the site. A source file has a page of its own, without anchors for its lines. Raises
    ValueError for a file that is missing."""
    if FOREIGN.match(target):
        return target
    file = file_of(target, page)
    if not file.is_file():
        raise ValueError(f"{page.relative_to(ROOT)} leads to {target}, which is not there")
    found.append(file)
    if file.suffix == ".md" or file.suffix in PICTURES:
        return target
    return target.partition("#")[0] + ".md"


def source_page(path: Path) -> str:
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text()
    language = NAMED.get(path.name) or LANGUAGES.get(path.suffix, "text")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=2) + 3)
    return f"---\nsearch: {{exclude: true}}\nhide: [navigation, toc]\n---\n\n# {path.name}\n\n`{name}`\n\n{fence}{language}\n{text}\n{fence}\n"


TABLE = re.compile(r"^\*\*([^*\n]+)\*\*$|^\| \[([^\]]+)\]\(([^)]+)\) \|", re.MULTILINE)


def nav_of(readme: str) -> list:
    """The order of the guide: docs/README.md lists its pages under bold headings."""
    nav: list = [readme]
    for heading, title, target in TABLE.findall((ROOT / readme).read_text()):
        if heading:
            nav.append({heading: []})
        else:
            page = file_of(target, ROOT / readme).relative_to(ROOT).as_posix()
            next(iter(nav[-1].values())).append({title[0].upper() + title[1:]: page})
    return nav
