#!/usr/bin/env python3
"""tools/lint finds what it says: python3 -B tests/structure/lint_test.py"""

import contextlib
import importlib.machinery
import importlib.util
import io
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]


def program(path):
    loader = importlib.machinery.SourceFileLoader("lint", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lint", loader))
    sys.modules["lint"] = module  # its dataclasses ask for it
    loader.exec_module(module)
    return module


lint = program(ROOT / "tools" / "lint")


def rules(text, reader=None):
    """[(line, rule)] of each finding."""
    return [(found.line, found.rule) for found in lint.lint_text("a", text, reader or lint.markdown)]


WRONG = {
    "is no": ["It is no option of it.", "Races are no problems.", "It\nis\nno zero."],
    "alone": ["Only f32 alone works.", "for f32 alone", "It alone works."],
    "that of": ["The name is that of X.", "Its values are those of Y."],
    "what .. is that": ["What a hang costs is that the run is longer.", "What it needs are those\nbytes."],
    "so that an .. goes on": ["It is kept so that an interrupted run goes on."],
}
RIGHT = ["There is no network.", "It is no longer read.", "a stand-alone program", "A test that runs alone.",
         "What is it? That is it.", "Tell what it is, and that it works.", "known of that"]  # fmt: skip
LONG = " ".join(["of"] * 36) + "."


class Patterns(unittest.TestCase):
    def test_each_is_found_everywhere(self):
        for rule, texts in WRONG.items():
            for text in texts:
                with self.subTest(text):
                    lines = text.split("\n")
                    self.assertEqual(rules(text), [(1, rule)][:1] if len(lines) == 1 else rules(text)[:1])
                    self.assertEqual([name for _, name in rules(text)], [rule])
                    flat = text.replace("\n", " ")
                    for source in (f"// {flat}\nint a;", f"int a;  // {flat}", f"/* {flat} */", f'f("{flat}");',
                                   "// " + text.replace("\n", "\n// "), "/**\n * " + text.replace("\n", "\n * ") + " */"):
                        self.assertEqual([name for _, name in rules(source, lint.c_family)], [rule], source)
                    for source in (f"# {flat}\na = 1", f"a = 1  # {flat}", f'"""{text}"""', f"a = '{flat}'",
                                   f"a = f'{flat} {{a}}'", "# " + text.replace("\n", "\n# ")):
                        self.assertEqual([name for _, name in rules(source, lint.python)], [rule], source)

    def test_plain_english_is_not(self):
        for text in RIGHT:
            self.assertEqual(rules(text), [], text)

    def test_the_line_is_that_of_the_words(self):
        self.assertEqual(rules("A title.\n\nA line\nthat ends, and is\nno more\nno.\n- it is no b"), [(7, "is no")])
        self.assertEqual(rules("int a;\n// One line\n// is no other line.\nint b;  // it is no c", lint.c_family),
                         [(4, "is no")])  # fmt: skip
        self.assertEqual(rules('a = 1\n"""One.\n\n    It is no b.\n"""', lint.python), [(4, "is no")])


class Sentences(unittest.TestCase):
    def test_a_long_one(self):
        self.assertEqual(rules(LONG), [(1, "long sentence")])
        self.assertEqual(rules("// Short. " + LONG.replace(" ", "\n// "), lint.c_family), [(1, "long sentence")])
        self.assertEqual(rules("f(\"" + LONG.replace(" ", ' "\n "') + "\");", lint.c_family), [(1, "long sentence")])
        self.assertEqual(rules(f"def f():\n    '''{LONG}'''", lint.python), [(2, "long sentence")])

    def test_two_short_ones(self):
        half = " ".join(["w"] * 20)
        for text in (f"W {half}. W {half}.", f"W {half} (why?) W {half}.", f"- {half}\n- {half}", f"# {half}\n{half}",
                     f"| {half} | {half} |", f"W {half}: `f.x`. `g` {half}.", f"{half}\n\n{half}"):
            self.assertEqual([r for r in rules(text) if r[1] != "wide line"], [], text)

    def test_code_is_one_word(self):
        self.assertEqual(rules("The code `" + LONG.replace(" ", "\n") + "` is short."), [])
        self.assertEqual(rules("```text\n" + LONG + "\nis no b\n```\n\n    " + LONG), [])

    def test_a_list_is_no_code(self):
        item = "A long line of an item, that is no b."
        self.assertEqual(rules(f"**A**\n\n    {item}"), [])
        self.assertEqual(rules(f"- a\n\n    {item}"), [(3, "is no")])
        self.assertEqual(rules(f"1. a\n    - {item}\n\nText\n\n    {item}"), [(2, "is no")])

    def test_a_generated_block_is_data(self):
        data = f"{LONG}\n| a | is no b |\n- {'wide ' * 30}"
        self.assertEqual(rules(f"<!-- written by x.py -->\n\n{data}\n\n<!-- end -->\n\nIt is no b."), [(9, "is no")])
        self.assertEqual(rules("<!-- written by x.py -->\n\nIt is no b."), [(3, "is no")])
        self.assertEqual(rules("<!-- a comment -->\n\nIt is no b.\n\n<!-- end -->"), [(3, "is no")])

    def test_a_field_of_a_docstring_is_a_sentence_of_its_own(self):
        half = " ".join(["w"] * 20)
        fields = f":param a: {half}.\n:param b: {half}.\n:raises C: {half}."
        self.assertEqual(rules(f'"""W.\n\n{fields}\n"""', lint.python), [])
        self.assertEqual(rules(f'"""W.\n\n:param a: {LONG}\n"""', lint.python), [(3, "long sentence")])

    def test_warnings_begin_earlier(self):
        text = " ".join(["w"] * 26) + "."
        self.assertEqual(rules(text), [])
        self.assertEqual(len(lint.lint_text("a", text, lint.markdown, lint.LONG)), 1)


class Lines(unittest.TestCase):
    def test_wide_ones_in_markdown(self):
        wide = "Word, " * 21
        self.assertEqual([r for r in rules(wide) if r[1] != "long sentence"], [(1, "wide line")])
        for text in (f"| {wide} |", f"```text\n{wide}\n```", f"[a](https://example.org/{'x' * 120})",
                     f"<picture><img src='{'x' * 120}'></picture>"):
            self.assertEqual([r for r in rules(text) if r[1] != "long sentence"], [], text)


class Sources(unittest.TestCase):
    def test_names_and_formats_are_no_sentences(self):
        for source in ('f("is no");', 'f("%s alone");', "int alone;", "f('is no zero')"):
            self.assertEqual(rules(source, lint.c_family), [], source)

    def test_code_does_not_hide_comments(self):
        for code in ('f("//");', "f('\"');", "x = 1'000'000;", 'f("\\"");', "f('\\'');", 'R"(a " b)";'):
            self.assertEqual(rules(f"{code}  // this is no b", lint.c_family), [(1, "is no")], code)

    def test_strings_behind_each_other_are_one(self):
        self.assertEqual(rules('f("this one is"\n  " no zero");', lint.c_family), [(1, "is no")])
        self.assertEqual(rules("f('this one is'\n  ' no zero')", lint.python), [(1, "is no")])

    def test_python_without_a_suffix_is_read(self):
        self.assertIs(lint.reader_of(ROOT / "tools" / "lint"), lint.python)
        self.assertIsNone(lint.reader_of(ROOT / "tools" / "test"))


class Program(unittest.TestCase):
    """With its own files and exceptions."""

    def setUp(self):
        self.file = ROOT / "tests" / "structure" / "lint_test.py"
        self.enter(mock.patch.object(lint, "files_of", lambda paths: [self.file]))

    def enter(self, patch):
        patch.start()
        self.addCleanup(patch.stop)

    def result(self, text, exceptions, *options):
        """(exit code, output) for a page with this text."""
        self.enter(mock.patch.object(lint, "reader_of", lambda path: lambda _: lint.markdown(text)))
        self.enter(mock.patch.object(lint, "EXCEPTIONS", mock.Mock(read_text=lambda: exceptions)))
        self.enter(mock.patch.object(sys, "argv", ["lint", *options]))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            return lint.main(), out.getvalue()

    def test_found(self):
        code, out = self.result("It is no b.", "")
        self.assertEqual(code, 1)
        self.assertIn("tests/structure/lint_test.py:1: is no: 'It is no b.'", out)
        self.assertIn("1 files, 1 problems", out)

    def test_an_exception(self):
        code, out = self.result("It is no b.", "# a comment\n\ntests/structure/lint_test.py | is no b | a reason\n")
        self.assertEqual((code, out), (0, "1 files, 0 problems\n"))

    def test_one_of_another_text_or_file_does_not_count(self):
        code, out = self.result("It is no b.", "tests/structure/lint_test.py | is no c | a reason\n")
        self.assertEqual(code, 1)
        self.assertIn("is no c: allows nothing any more", out)
        code, out = self.result("It is no b.", "tools/lint | is no b | a reason\n")
        self.assertEqual(code, 1)

    def test_one_without_a_reason(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as err:
            self.result("It is no b.", "a.md | is no b\n")
        self.assertIn("line 1: expected FILE | TEXT | REASON", err.getvalue())

    def test_counts(self):
        code, out = self.result("It is no b. It is that of c.", "", "--count")
        self.assertEqual(code, 1)
        self.assertEqual(out, "    2  tests/structure\n    1  is no\n    1  that of\n1 files, 2 problems\n")

    def test_warnings_fail_nothing(self):
        code, out = self.result(" ".join(["w"] * 30) + ".", "", "--warnings")
        self.assertEqual(code, 0)
        self.assertIn("warning: ", out)
        self.assertIn("0 problems, 1 warnings", out)


if __name__ == "__main__":
    unittest.main()
