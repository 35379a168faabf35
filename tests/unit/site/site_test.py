"""The site in a real browser: python3 site_test.py BUILD

tools/site makes it. Every link leads to a page that is there. Debian's Chromium opens pages from files: nothing is
fetched, nothing is wider than the window, axe-core finds nothing, the search finds a word, and all can be read without
scripts. A broken link and a bad page are planted, and must be found. Exit code 77: Chromium or a package is missing;
ctest then counts the test as skipped.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "unit" / "python"), str(ROOT / "tools" / "site_pages")]

import browser  # noqa: E402
import environment  # noqa: E402

CANNOT_START = 3
if __name__ == "__main__":
    browser.continue_in_environment()
    BUILD = Path(sys.argv.pop(1)).resolve()

import guide  # noqa: E402
import links  # noqa: E402
from axe_playwright_python.sync_playwright import Axe  # noqa: E402

AXE_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"], "preload": False}  # it would fetch style sheets
# The pages that are looked at, and their colours. The first one is looked at in both.
PAGES = {"index.html": "light", "families.html": "light", "kernels/lucidrains.html": "dark",
         "golden-set/labml.html": "light", "docs/conventions.html": "dark"}  # fmt: skip


def make(out, program=None):
    words = [sys.executable, ROOT / "tools" / "site", "--out", out, "--program", program or BUILD / "ropecheck"]
    # The environment of this test is not the one that tools/site makes its own with.
    variables = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, env=variables)


class Site(browser.InBrowser):
    may_ask = ("file:", "data:", "about:")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site = cls.folder / "site"
        done = make(cls.site)
        if done.returncode == CANNOT_START:
            environment.leave_out(f"left out: {done.stderr.strip()}")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    def faults_of(self, path, colours):
        """What is wrong with how a page looks and behaves, at two widths."""
        page, said = self.opened(path, viewport={"width": 1400, "height": 900}, color_scheme=colours)
        found = self.sticks_out(page)
        page.set_viewport_size({"width": 360, "height": 740})
        found += self.sticks_out(page)
        for one in Axe().run(page, options=AXE_RULES).response["violations"]:
            found += [f"{one['id']}: {node['html'][:200]}" for node in one["nodes"][:3]]
        page.close()
        return [*said, *found]

    def sticks_out(self, page):
        by = browser.sticks_out(page)
        return [f"{by} pixels wider than the window"] if by > 0 else []

    def test_every_link_leads_somewhere(self):
        self.assertGreater(sum(1 for _ in self.site.rglob("*.html")), 100)
        self.assertEqual(links.problems(self.site), [])

    def test_the_check_of_links_finds_broken_ones(self):
        (self.folder / "small").mkdir()
        (self.folder / "small" / "there.html").write_text('<p id="place">')
        (self.folder / "small" / "page.html").write_text(
            '<a href="there.html#place">right</a><a href="there.html#nowhere"></a><a href="missing.html"></a>'
            '<img src="missing.png"><script src="https://example.org/x.js"></script><a href="https://example.org">right</a>')
        found = links.problems(self.folder / "small")
        self.assertEqual([problem.split()[3 if "leads" in problem else 2].rstrip(",") for problem in found],
                         ["https://example.org/x.js", "there.html#nowhere", "missing.html", "missing.png"])

    def test_pages_look_right(self):
        for path, colours in (*PAGES.items(), ("index.html", "dark")):
            with self.subTest(path, colours=colours):
                self.assertEqual(self.faults_of(self.site / path, colours), [])

    def test_the_check_of_pages_finds_faults(self):
        bad = self.site / "bad.html"
        self.addCleanup(bad.unlink)
        text = (self.site / "index.html").read_text()
        bad.write_text(text.replace("</article>", """
            <p style="width: 2000px; color: #ccc; background: #ddd">pale and wide</p><img src="assets/images/favicon.png">
            <script>console.log("said"); fetch("http://127.0.0.1:9/").catch(() => 0)</script></article>""", 1))
        found = "\n".join(self.faults_of(bad, "light"))
        for fault in ("said", "http://127.0.0.1:9/", "color-contrast", "image-alt", "wider than the window"):
            self.assertIn(fault, found)

    def test_front_page_answers(self):
        page, _ = self.opened(self.site / "index.html", viewport={"width": 1400, "height": 900})
        verdicts = page.locator("table.kernels .verdict").all_inner_texts()
        self.assertGreater(len(verdicts), 20)
        box = page.locator("table.kernels .verdict").first.bounding_box()
        self.assertLess(box["y"] + box["height"], 900)
        right = sum(text == "conforms" for text in verdicts) - 5  # the built-in kernels
        self.assertIn(f"{right} of {len(verdicts) - 5}", page.locator("p.answer").inner_text())
        page.locator("td.cell a").first.click()
        self.assertIn("/reports/", page.url)
        self.assertTrue(page.get_by_role("heading", name="Requirements").first.is_visible())

    def test_search_finds_a_word(self):
        page, said = self.opened(self.site / "index.html", viewport={"width": 1400, "height": 900})
        box = page.get_by_role("textbox", name="Search")
        box.click()
        box.press_sequentially("longrope")
        result = page.locator("a.md-search-result__link").first
        result.wait_for(timeout=10_000)
        result.click()
        page.wait_for_url("**/*.html?h=*")
        self.assertIn("longrope", page.locator("article").inner_text().lower())
        self.assertEqual(said, [])

    def test_without_scripts(self):
        for path in PAGES:
            page, _ = self.opened(self.site / path, java_script_enabled=False, viewport={"width": 360, "height": 740})
            self.assertTrue(page.locator("h1").first.is_visible(), path)
            self.assertGreater(len(page.locator("article").inner_text()), 500, path)
            page.close()


class Command(unittest.TestCase):
    def test_without_the_program_it_says_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            done = make(Path(folder) / "site", Path(folder) / "ropecheck")
            self.assertEqual(done.returncode, CANNOT_START)
            self.assertIn("`tools/run --version` builds it", done.stderr)

    def test_other_files_are_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "mine.txt").write_text("mine")
            done = make(Path(folder))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--out", done.stderr)
            self.assertEqual([file.name for file in Path(folder).iterdir()], ["mine.txt"])


class Pages(unittest.TestCase):
    def page(self, text):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            path = Path(folder) / "page.md"
            path.write_text(text)
            return guide.page_of(path)

    def test_links_out_of_the_guide(self):
        text, found = self.page("[a](../../tools/run#L3) [b](../../docs/verdict.md#grades) [c](../../tools) `[d](none.md)`")
        self.assertEqual(text, "[a](../../tools/run.md) [b](../../docs/verdict.md#grades) c `[d](none.md)`")
        self.assertEqual([path.name for path in found], ["run", "verdict.md"])

    def test_a_link_to_a_missing_file_is_named(self):
        with self.assertRaisesRegex(ValueError, "page.md leads to missing.md, which is not there"):
            self.page("[a](missing.md)")

    def test_blocks_keep_only_their_language(self):
        text, _ = self.page('```console not-run="x"\n$ a [b](c.md)\n```\n\n```text\nx\n```\n')
        self.assertEqual(text, "```console\n$ a [b](c.md)\n```\n\n```text\nx\n```\n")

    def test_a_list_behind_text_gets_an_empty_line(self):
        text, _ = self.page("These:\n- a\n- b\n")
        self.assertEqual(text, "These:\n\n- a\n- b\n")


if __name__ == "__main__":
    unittest.main()
