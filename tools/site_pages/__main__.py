"""Makes the site: python tools/site_pages OUT PROGRAM. tools/site starts this with MkDocs installed."""

import logging
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import conformance
import golden_catalogue
import jinja2
import links
import mkdocs.exceptions
import published
from guide import Guide, nav_of
from mkdocs.commands.build import build
from mkdocs.config import load_config

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REQUIREMENTS = "tests/conformance/REQUIREMENTS.md"
ADAPTERS = "tools/adapters/README.md"
PUBLISHED = "tests/kernels/published/README.md"
WRONG = 1  # exit code


class Wrong(Exception):
    """The site cannot be made of what is there. The message says which file, and what to do."""


def render(name: str, **values: object) -> str:
    loader = jinja2.FileSystemLoader(HERE / "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                     undefined=jinja2.StrictUndefined)
    environment.filters["thousands"] = "{:,}".format
    return environment.get_template(name).render(values, dtypes=conformance.DTYPES)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_reports(docs: Path, kernels: list[conformance.Kernel], program: Path) -> None:
    """The page of each stored report, by the command itself."""
    (docs / "reports").mkdir()

    def one(kernel: conformance.Kernel) -> str:
        stored = conformance.stored.REPORTS / f"{kernel.name}.json"
        page = docs / "reports" / f"{kernel.name}.html"
        done = subprocess.run([str(program), "report", str(stored), "--html", str(page)], capture_output=True, text=True)
        why = done.stderr.strip() or "no page was written"
        return "" if page.is_file() else f"{stored.relative_to(ROOT)}: {why}"

    with ThreadPoolExecutor(2) as pool:
        if wrong := list(filter(None, pool.map(one, kernels))):
            raise Wrong("\n".join([*wrong, "python3 tools/adapters/matrix.py --again all makes the reports again"]))


def write_kernels(docs: Path, guide: Guide, kernels: list[conformance.Kernel]) -> None:
    if wrong := conformance.problems(kernels):
        raise Wrong("\n".join(wrong))
    families = conformance.families_of(kernels)
    real = [kernel for kernel in kernels if not kernel.ours]
    classes, columns = published.classes(), published.columns()
    values = {"kernels": kernels, "real": real, "ours": [one for one in kernels if one.ours], "families": families,
              "columns": columns,
              "rejected": published.rejected_by_ours(columns[0].kernels),
              "classes": classes, "requirements": len(kernels[0].subject["requirements"])}
    write(docs / "index.md", render("index.md.j2", **values))
    write(docs / "families.md", render("families.md.j2", **values))
    for kernel in kernels:
        write(docs / "kernels" / f"{kernel.name}.md", render(
            "kernel.md.j2", kernel=kernel, families=families, classes={one.name: one for one in classes}))
        guide.take(*(one.path for one in kernel.findings), *filter(None, [kernel.adapter]))


def write_golden(docs: Path) -> list:
    """The catalogue, and its part of the navigation."""
    version, groups = golden_catalogue.catalogue()
    write(docs / "golden-set" / "index.md", render("golden.md.j2", version=version, groups=groups))
    nav: list = ["golden-set/index.md"]
    for group in groups:
        write(docs / "golden-set" / f"{group.name}.md", render("golden_group.md.j2", group=group))
        nav.append({group.title: f"golden-set/{group.name}.md"})
    return [*nav, {"The formulas": "golden/README.md"}]


def write_pages(docs: Path, program: Path) -> list:
    """All pages. Returns the navigation."""
    shutil.copytree(HERE / "assets", docs / "assets")
    guide = Guide(docs)
    guide.take("docs/README.md", REQUIREMENTS, published.KILL_MATRIX, ADAPTERS, PUBLISHED, "golden/README.md")
    kernels = conformance.judged()
    write_reports(docs, kernels, program)
    write_kernels(docs, guide, kernels)
    return [
        {"Kernels": ["index.md", {"Every family": "families.md"}, {"Findings": ADAPTERS}]},
        {"Requirements": [REQUIREMENTS, {"What rejects which wrong kernel": published.KILL_MATRIX},
                          {"What published tests say": PUBLISHED}]},
        {"Golden files": write_golden(docs)},
        {"Guide": nav_of("docs/README.md")},
    ]  # fmt: skip


def make(out: Path, program: Path) -> None:
    """Builds beside the last site, and replaces it in the end. An error leaves the last one."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        docs, site, old = (Path(scratch) / name for name in ("docs", "site", "old"))
        docs.mkdir()
        nav = write_pages(docs, program)
        build(load_config(str(HERE / "mkdocs.yml"), docs_dir=str(docs), site_dir=str(site), nav=nav, strict=True))
        for name in ("404.html", "sitemap.xml", "sitemap.xml.gz"):  # they suppose a server, and its address
            (site / name).unlink(missing_ok=True)
        if wrong := links.problems(site):
            raise Wrong("\n".join(wrong[:20]))
        if out.exists():
            out.rename(old)
        site.chmod(0o755)
        site.rename(out)


def main() -> int:
    out, program = Path(sys.argv[1]), Path(sys.argv[2])
    logging.basicConfig(level=logging.WARNING, format="site: %(message)s")
    started = time.monotonic()
    if out.exists() and not (out / "index.html").is_file() and any(out.iterdir()):
        print(f"site: {out} holds other files; name another folder with --out", file=sys.stderr)
        return 2
    try:
        make(out, program)
    except (Wrong, ValueError, OSError, mkdocs.exceptions.MkDocsException) as error:
        print(f"site: {error}", file=sys.stderr)
        return WRONG
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{out / 'index.html'}  {pages} pages, {time.monotonic() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
