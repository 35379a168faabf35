"""Reports in a real browser: python3 browser_test.py BUILD [--screenshots FOLDER]

Debian's Chromium opens the pages from files. It is looked at what is visible, that nothing is fetched, that nothing is
wider than the window, and what axe-core says of contrast and labels. With --screenshots the pages of docs/reports are
photographed instead. Exit code 77: Chromium or a package is missing; ctest then counts the test as skipped.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tests" / "unit" / "python"))

import browser  # noqa: E402

if __name__ == "__main__":
    browser.continue_in_environment()
    BUILD = Path(sys.argv.pop(1)).resolve()

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

RAISES = """import ropecheck

@ropecheck.kernel(head_dims=[64])
def kernel(call):
    cos, sin = call.cos, call.sin
    raise ValueError(f"expected 3 dimensions, got {call.q.ndim}")
"""
QUICK = ["--level", "quick"]
FEW = ["--only", "ROT,ANG-01,REL-01,BWD-01,MEM-01"]  # each kind of row is there
# What each page is of: the words of the command.
PAGES = {
    "right": ["half_split"],
    "wrong-pairing": ["mutants.so#PAIR-01"],
    "wrong-base": ["mutants.so#FREQ-WHOLE-BASE"],
    "in-place": ["examples/broken_kernel.so"],
    "crash": ["mutants.so#MEM-PAST-COS"],
    "exception": ["python:raises:kernel"],
}
NASTY = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202egnp.lenrek\u202c \u05e7\u05e8\u05e0\u05dc",
         "k" * 10000]  # fmt: skip
AXE_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]}


def make(folder, name, *more):
    """The page of one kernel, and its JSON."""
    page, data = folder / f"{name}.html", folder / f"{name}.json"
    words = [str(BUILD / PAGES[name][0]) if ".so" in PAGES[name][0] else PAGES[name][0]]
    done = run("verify", *words, *QUICK, *more, "--html", page, "--json", data, cwd=folder)
    if not page.is_file():
        raise AssertionError(done.stderr)
    return page, json.loads(data.read_text())


def make_certificate(folder):
    """The page of a kernel that is wrong at one position, and its JSON."""
    out = folder / "certified"
    done = run("certify", f"{BUILD}/one_element.so#position", "--out", out, "--dtype", "f32", "--head-dim", "4",
               "--sweep", "positions")  # fmt: skip
    if not (out / "certificate.html").is_file():
        raise AssertionError(done.stderr)
    return out / "certificate.html", json.loads((out / "certificate.json").read_text())


def run(*words, cwd=None):
    variables = {**os.environ, "ROPECHECK_PYTHON": "/usr/bin/python3", "PYTHONDONTWRITEBYTECODE": "1",
                 "PYTHONPATH": str(ROOT / "tools" / "python")}
    return subprocess.run([str(BUILD / "ropecheck"), *map(str, words)], cwd=cwd, env=variables, capture_output=True,
                          text=True, timeout=300)


class Browser(browser.InBrowser):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "raises.py").write_text(RAISES)
        cls.made = {name: make(cls.folder, name, *FEW) for name in ("right", "wrong-pairing", "crash")}
        cls.made["certificate"] = make_certificate(cls.folder)

    def opened(self, path, **how):
        """The page in a window of its own. The test fails if it says anything, or asks for any file."""
        page, said = super().opened(path, **how)
        self.addCleanup(lambda: self.assertEqual(said, []))
        return page

    def assert_nothing_sticks_out(self, page):
        self.assertLessEqual(browser.sticks_out(page), 0)

    def test_first_screen_says_what_is_wrong(self):
        page = self.opened(self.made["wrong-pairing"][0], viewport={"width": 1600, "height": 900})
        data = self.made["wrong-pairing"][1]["subjects"][0]
        screen = page.evaluate("innerHeight")
        for text in ("does not conform", data["diagnosis"]["candidates"][0]["sentence"]):
            box = page.get_by_text(text, exact=False).first.bounding_box()
            self.assertLess(box["y"] + box["height"], screen, text)
        picture = page.locator("figure svg").first.bounding_box()
        self.assertLess(picture["y"] + picture["height"], screen)
        self.assertEqual(page.locator("h1").count(), 1)

    def test_order_and_content(self):
        page = self.opened(self.made["wrong-pairing"][0])
        titles = page.locator("h1, h2").all_inner_texts()
        wanted = ["does not conform", "What it does instead", "How exact it is", "Horizon", "Requirements", "Claims",
                  "This run"]  # fmt: skip
        self.assertEqual(len(titles), len(wanted), titles)
        for title, words in zip(titles, wanted):
            self.assertIn(words, title)
        embedded = json.loads(page.locator("#ropecheck-report").text_content())
        self.assertEqual(embedded, self.made["wrong-pairing"][1])

    def test_order_and_content_of_a_certificate(self):
        path, certificate = self.made["certificate"]
        page = self.opened(path)
        titles = page.locator("h1, h2").all_inner_texts()
        wanted = ["does not conform: 3 blocks failed", "Failures", "Sweeps", "How errors are spread", "This run"]
        self.assertEqual(len(titles), len(wanted), titles)
        for title, words in zip(titles, wanted):
            self.assertIn(words, title)
        sweeps = certificate["sweeps"]
        self.assertEqual(page.locator("#sweeps ~ div tbody tr").count(), len(sweeps))
        self.assertEqual(page.locator("figure svg[role=img]").count(), len(sweeps) + 1)
        self.assertIn("beyond the bound", page.locator("figure svg[role=img]").first.get_attribute("aria-label"))
        self.assertEqual(json.loads(page.locator("#ropecheck-report").text_content()), certificate)

    def test_a_replay_command_is_copied_and_runs(self):
        page = self.opened(self.made["wrong-pairing"][0], permissions=["clipboard-read", "clipboard-write"])
        requirement = page.locator("details.requirement.bad").first
        requirement.locator("summary").click()
        requirement.get_by_role("button", name="Copy replay command").click()
        requirement.get_by_role("button", name="Copied replay command").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        words = shlex.split(copied)
        self.assertEqual(words[:2], ["ropecheck", "replay"])
        done = run(*words[1:])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("found", done.stdout)

    def test_by_keyboard(self):
        page = self.opened(self.made["wrong-pairing"][0])
        reached = set()
        for _ in range(12):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.tagName"))
        self.assertIn("SUMMARY", reached)
        page.locator("details.requirement summary").first.focus()
        page.keyboard.press("Enter")
        self.assertTrue(page.evaluate("document.activeElement.parentElement.open"))

    def test_without_scripts(self):
        page = self.opened(self.made["wrong-pairing"][0], java_script_enabled=False)
        self.assertTrue(page.get_by_role("heading", name="does not conform").is_visible())
        page.locator("details.requirement summary").first.click()
        self.assertTrue(page.get_by_text("replay command").first.is_visible())
        self.assertEqual(page.locator("button.copy:visible").count(), 0)  # they could do nothing

    def test_nothing_sticks_out_and_axe_finds_nothing(self):
        axe = Axe()
        for name, colours in (("wrong-pairing", "light"), ("wrong-pairing", "dark"), ("right", "light"), ("crash", "dark"),
                              ("certificate", "light"), ("certificate", "dark")):  # fmt: skip
            path = self.made[name][0]
            with self.subTest(name, colours=colours):
                page = self.opened(path, viewport={"width": 360, "height": 740}, color_scheme=colours)
                page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
                self.assert_nothing_sticks_out(page)
                found = axe.run(page, options=AXE_RULES).response["violations"]
                self.assertEqual([(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found], [])
                page.set_viewport_size({"width": 1600, "height": 900})
                self.assert_nothing_sticks_out(page)

    def test_marks_beside_colours(self):
        page = self.opened(self.made["wrong-pairing"][0])
        for picture in page.locator("figure svg[role=img]").all():
            self.assertTrue(picture.get_attribute("aria-label"))
        wrong = self.opened(self.made["wrong-pairing"][0]).locator("figure path.cross").first
        self.assertGreater(len(wrong.get_attribute("d")), 100)
        right = self.opened(self.made["right"][0]).locator("figure path.cross").first
        self.assertEqual(right.get_attribute("d"), "")

    def test_names_are_text(self):
        for name in NASTY:
            with self.subTest(name[:20]):
                data = json.loads(json.dumps(self.made["wrong-pairing"][1]))
                data["subjects"][0]["subject"] = name
                data["subjects"][0]["diagnosis"]["candidates"][0]["sentence"] = name
                stored = self.folder / "nasty.json"
                stored.write_text(json.dumps(data))
                done = run("report", stored, "--html", self.folder / "nasty.html")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertLess((self.folder / "nasty.html").stat().st_size, 1_000_000)
                page = self.opened(self.folder / "nasty.html", viewport={"width": 360, "height": 740})
                self.assertEqual(page.locator("h1 .name bdi").text_content(), name)
                self.assertEqual(page.locator("img").count(), 0)
                self.assertEqual(page.locator("script").count(), 2)
                self.assert_nothing_sticks_out(page)

    def test_print(self):
        page = self.opened(self.made["wrong-pairing"][0])
        self.assertTrue(page.pdf(format="A4").startswith(b"%PDF"))


def photograph(folder):
    """The pictures of docs/reports: the first screen of each page."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        (Path(scratch) / "raises.py").write_text(RAISES)
        chromium = browser.launched(playwright)
        for name in PAGES:
            path, _ = make(Path(scratch), name)
            page = chromium.new_page(viewport={"width": 1100, "height": 1150}, color_scheme="light")
            page.goto(path.as_uri())
            page.screenshot(path=folder / f"{name}-light.png")
        chromium.close()


if __name__ == "__main__":
    if "--screenshots" in sys.argv:
        photograph(Path(sys.argv[sys.argv.index("--screenshots") + 1]))
    else:
        unittest.main()
