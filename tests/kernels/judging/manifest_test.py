"""kernels.txt is read correctly, and every disagreement with the libraries is found."""

import unittest

from judging import manifest
from judging.subjects import SETS

TEXT = """# comment
none      right  smoke bitwise
*         right  notes=ERR-04
exact     right  f64=B1 f32=A2/A1 notes=DET-02,SHP-07
PAIR-01   wrong  ROT-01 ANG-02  smoke
BITS      wrong  ROT-01  bitwise f16 in=some.so
LONG      wrong  full : 65537 tokens are the most there

paged/words  position-offset|heads-batch-qk  : Words instead of positions: always.
two/bugs     backward+launch-limits  : Two. (https://example.org/issues/4)
"""
ENTRIES = manifest.read(TEXT)
NAMES = [name for name in ENTRIES if name != manifest.ANY]


class Reading(unittest.TestCase):
    def test_a_line_is_read_as_it_stands(self):
        pair, bits, exact = ENTRIES["PAIR-01"], ENTRIES["BITS"], ENTRIES["exact"]
        self.assertEqual((pair.right, pair.classes, pair.requirements), (False, (), ("ROT-01", "ANG-02")))
        self.assertEqual((pair.smoke, bits.smoke, pair.options), (True, False, ()))
        self.assertEqual(bits.options, ("--require", "bitwise,batch-invariant", "--dtype", "f16"))
        self.assertEqual((bits.library, exact.library), ("some.so", ""))
        self.assertEqual(exact.grades, {"f64": "B1", "f32": "A2/A1"})
        self.assertEqual((exact.right, exact.notes), (True, {"DET-02", "SHP-07"}))
        self.assertEqual(ENTRIES["LONG"].passes, "full")
        self.assertEqual(ENTRIES["paged/words"].classes, ("position-offset", "heads-batch-qk"))
        self.assertEqual(ENTRIES["paged/words"].sentence, "Words instead of positions: always.")
        self.assertEqual(ENTRIES["two/bugs"].classes, ("backward", "launch-limits"))

    def test_class_and_sentence_of_a_wrong_kernel_are_the_librarys(self):
        described = ENTRIES["PAIR-01"].described("pairing-layout: half-split: always")
        self.assertEqual((described.classes, described.sentence), (("pairing-layout",), "half-split: always"))
        self.assertEqual(ENTRIES["paged/words"].described("a loop"), ENTRIES["paged/words"])
        self.assertEqual(ENTRIES["exact"].described("in double").sentence, "in double")

    def test_the_origin_is_a_thread_the_catalogue_or_our_own(self):
        origins = [ENTRIES[name].origin for name in ("two/bugs", "PAIR-01", "BITS")]
        self.assertEqual(origins, ["https://example.org/issues/4", "PAIR-01", "planted"])

    def test_what_makes_no_sense_is_refused_with_its_line(self):
        for line, words in [
            ("a", "expected right, wrong or a class"),
            ("a right smoke\na right", "kernels.txt:2: a: is listed twice"),
            ("a wrong ROT-1", "unknown word ROT-1"),
            ("a right ROT-01", "a right kernel is rejected by nothing"),
            ("a wrong f32=A1", "a wrong kernel has no grades"),
            ("a wrong ROT-01 full : why", "full and ROT-01 contradict each other"),
            ("a wrong unseen", "unseen needs a reason"),
            ("a Wrong! ROT-01", "Wrong! is not a class"),
        ]:
            with self.assertRaisesRegex(ValueError, words):
                manifest.read(line)


class Lists(unittest.TestCase):
    def test_library_and_list_have_the_same_kernels(self):
        self.assertEqual(manifest.problems("p", NAMES, ENTRIES), [])
        self.assertEqual(manifest.problems("p", [*NAMES, "NEW"], ENTRIES)[0][:16], "NEW is not in p;")
        self.assertIn("BITS is in p and in no library", manifest.problems("p", set(NAMES) - {"BITS"}, ENTRIES)[0])

    def test_right_kernels_of_known_grades_have_some(self):
        found = manifest.problems("p", NAMES, {n: e for n, e in ENTRIES.items() if e.right}, graded=True)
        self.assertIn("none in p has no grades", found[-1])
        self.assertFalse([problem for problem in found if problem.startswith("exact")])

    def test_every_requirement_rejects_a_kernel(self):
        def found(requirements):
            return manifest.unanswered(ENTRIES.values(), requirements)

        self.assertEqual(found(["ROT-01", "ANG-02"]), [])
        self.assertIn("SPC-01 has to reject no kernel", found(["ROT-01", "ANG-02", "SPC-01"])[0])
        self.assertIn("ANG-02 in kernels.txt is not a requirement", found(["ROT-01"])[0])

    def test_the_lists_of_the_repository_can_be_read(self):
        named = {}
        for of in SETS.values():
            entries = of.entries()
            self.assertTrue(entries, of.path)
            if not of.drawn:
                named[of.name] = entries
        for name in ("designs", "device"):
            for kernel, entry in named[name].items():
                self.assertEqual("/" not in kernel, entry.right, f"{kernel}: a wrong one is called DESIGN/BUG")
                self.assertTrue(entry.sentence, kernel)


if __name__ == "__main__":
    unittest.main()
