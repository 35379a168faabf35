"""Debian's Chromium, driven by PyPI's playwright, for tests that open pages from files. Without either, the test says so
and counts as skipped."""

import shutil
import tempfile
import unittest
from pathlib import Path

import environment

CHROMIUM = shutil.which("chromium")
REQUIREMENTS = environment.ROOT / "tests" / "unit" / "report" / "html" / "requirements.txt"


def continue_in_environment():
    """Runs this test again where playwright and axe-core are, unless they are here."""
    if not CHROMIUM:
        environment.leave_out("left out: Chromium is missing (Debian package chromium)")
    environment.with_requirements("browser-venv", REQUIREMENTS)


def launched(playwright):
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


def sticks_out(page):
    """By how many pixels the page is wider than its window; 0 or less: it fits."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


class InBrowser(unittest.TestCase):
    """Tests with a folder of their own and one browser."""

    may_ask = ()  # beginnings of what a page may ask for

    @classmethod
    def setUpClass(cls):
        from playwright.sync_api import sync_playwright

        cls.folder = Path(cls.enter(tempfile.TemporaryDirectory()))
        cls.chromium = launched(cls.enter(sync_playwright()))
        cls.addClassCleanup(cls.chromium.close)

    @classmethod
    def enter(cls, manager):
        cls.addClassCleanup(manager.__exit__, None, None, None)
        return manager.__enter__()

    def opened(self, path, **how):
        """The page in a window of its own, and what it says: messages, errors, dialogs, and what it may not ask for."""
        context = self.chromium.new_context(**how)
        self.addCleanup(context.close)
        page = context.new_page()
        said = []

        def asked(request):
            if request.url != path.as_uri() and not request.url.startswith(self.may_ask):
                said.append(request.url)

        page.on("request", asked)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        return page, said
