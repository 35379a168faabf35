"""Every link of the built site leads to a file of it, and to a place that is there."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

LEADS = {"href", "src", "poster", "data"}
FETCHED = {"script", "img", "link", "iframe", "source", "object", "video", "audio"}


class Page(HTMLParser):
    """What a page links to, what it fetches, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.places.add(value)
            elif name in LEADS and value:
                (self.fetched if tag in FETCHED else self.links).append(value)


def problems(site: Path) -> list[str]:
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        shown = path.relative_to(site)
        found += [f"{shown} fetches {link} from elsewhere" for link in page.fetched if is_elsewhere(link)]
        found += [f"{shown} leads to {link}, which is not there" for link in page.links + page.fetched
                  if not is_elsewhere(link) and leads_nowhere(link, path, pages)]
    return found


def is_elsewhere(link: str) -> bool:
    return bool(re.match(r"(?!file:)[a-z][a-z0-9+.-]*:|//", link)) and not link.startswith(("data:", "javascript:"))


def leads_nowhere(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    if link.startswith(("data:", "javascript:")):
        return False
    parts = urlsplit(urljoin(path.as_uri(), link))
    target = Path(unquote(parts.path))
    if not target.is_file():
        return True
    place = unquote(parts.fragment)
    return bool(place) and target in pages and place not in pages[target].places and not place.startswith("__")
