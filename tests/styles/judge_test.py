"""judge.py must be able to fail: each way in which a kernel and kernels.txt can disagree."""

import ast
import unittest

import judge

TEXT = """# comment
paged             right                                  Tokens rotated in the output.

paged/words       position-offset                        Words instead of positions.
tiles/batches     heads-batch-qk|position-offset         The first batch for all.
tiles/two         backward+launch-limits                 Forward, and two batches.
"""
LISTED = judge.read_list(TEXT)


class Lists(unittest.TestCase):
    def test_a_line_is_read_as_it_stands(self):
        self.assertEqual(list(LISTED), ["paged", "paged/words", "tiles/batches", "tiles/two"])
        self.assertEqual(LISTED["paged"], (["right"], "Tokens rotated in the output."))
        self.assertEqual(LISTED["tiles/batches"][0], ["heads-batch-qk", "position-offset"])
        self.assertEqual(LISTED["tiles/two"][0], ["backward", "launch-limits"])

    def test_half_a_line_or_a_name_twice_is_refused(self):
        for text, words in [("paged right", "are needed"), ("a right one\na right one", "twice")]:
            with self.assertRaisesRegex(ValueError, words):
                judge.read_list(text)

    def test_library_and_list_have_the_same_kernels(self):
        self.assertEqual(judge.problems_of_list(list(LISTED), LISTED), [])
        for kernels, words in [
            ([*LISTED, "paged/new"], "paged/new does not stand in kernels.txt"),
            ([name for name in LISTED if name != "tiles/two"], "tiles/two stands in kernels.txt and in no library"),
        ]:
            problems = judge.problems_of_list(kernels, LISTED)
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(words, problems[0])

    def test_the_lists_of_the_repository_can_be_read(self):
        for library, counts in [("styles.so", (11, 74)), ("engines.so", (32, 108)), ("reported.so", (27, 64))]:
            listed = judge.read_list(judge.LISTS[library].read_text())
            right = [name for name in listed if judge.is_right(name, listed)]
            self.assertEqual((len(right), len(listed) - len(right)), counts)
            for name in listed:
                self.assertEqual("/" not in name, name in right, name)

    def test_no_kernel_is_in_two_lists(self):
        self.assertEqual(len(judge.listed_for(judge.Compiled)), 85 + 140 + 91)


class InPython(unittest.TestCase):
    listed = judge.listed_for(judge.InPython)

    def test_the_list_of_the_repository_can_be_read(self):
        right = [name for name in self.listed if judge.is_right(name, self.listed)]
        self.assertEqual((len(right), len(self.listed) - len(right)), (21, 81))

    def test_every_kernel_of_the_list_is_in_its_module(self):
        for name in self.listed:
            module, function = name.split(":")
            text = (judge.InPython.folder / "kernels" / f"{module}.py").read_text()
            defined = [node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
            self.assertIn(function, defined, module)

    def test_a_module_is_called_by_the_convention_of_its_name(self):
        style = judge.InPython("/bin/python")
        self.assertEqual(style.arguments("vllm:rope"), ["python:kernels.vllm:rope", "--python", "/bin/python",
                                                        "--convention", "vllm"])
        self.assertEqual(style.arguments("own_torch:autocast")[-1], "/bin/python")
        self.assertTrue(style.belongs("vllm:rope", "vllm") and style.belongs("vllm:rope", "vllm:rope"))
        self.assertFalse(style.belongs("vllm:rope", "rope"))


class Verdicts(unittest.TestCase):
    def problem(self, name, exit_code, failed):
        return judge.problem_of(name, exit_code, failed, LISTED)

    def test_what_the_list_says_is_no_problem(self):
        self.assertIsNone(self.problem("paged", 0, []))
        self.assertIsNone(self.problem("paged/words", 1, ["POS-01"]))

    def test_a_wrong_kernel_that_passes_is_one(self):
        self.assertIn("is wrong and conforms: Words instead", self.problem("paged/words", 0, []))

    def test_a_right_kernel_that_fails_is_one(self):
        self.assertIn("is right and rejected by ROT-01, POS-01", self.problem("paged", 1, ["ROT-01", "POS-01"]))

    def test_a_run_without_a_verdict_is_one(self):
        for exit_code, failed in [(3, None), (0, None), (4, []), (1, []), (0, ["ROT-01"]), (-11, None)]:
            for name in ("paged", "paged/words"):
                self.assertIn("verify gave no verdict", self.problem(name, exit_code, failed))


class Diagnoses(unittest.TestCase):
    def named(self, name, *classes):
        return judge.named_rightly(name, [{"class": word} for word in classes], LISTED)

    def test_the_first_class_has_to_be_one_of_the_kernels(self):
        self.assertTrue(self.named("paged/words", "position-offset", "backward"))
        self.assertTrue(self.named("tiles/batches", "position-offset"))
        self.assertTrue(self.named("tiles/two", "launch-limits"))
        self.assertFalse(self.named("paged/words", "backward", "position-offset"))
        self.assertFalse(self.named("paged/words"))


if __name__ == "__main__":
    unittest.main()
