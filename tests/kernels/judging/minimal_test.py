"""What is needed of an invented set of kernels, and what its file must say."""

import unittest

from judging import blocks, manifest, minimal
from judging.minimal import Witness, needed
from judging.subjects import SETS


def witness(name, of, *, classes=("a",), **words):
    """`of`: the blocks in which it fails, a letter each."""
    return Witness(name, frozenset(of), classes, **words)


def names(*witnesses):
    return set(needed(witnesses))


class Needed(unittest.TestCase):
    def test_what_fails_in_a_part_of_the_blocks_makes_the_others_unneeded(self):
        self.assertEqual(names(witness("easy", "ABC"), witness("hard", "A"), witness("other", "BC")), {"hard", "other"})
        self.assertEqual(needed([witness("hard", "AB"), witness("easy", "ABC"), witness("rest", "C")])["hard"],
                         "hardest: A, B")

    def test_every_change_of_the_suite_that_all_notice_is_noticed_by_the_needed(self):
        everything = [witness(of, of) for of in ("AB", "BC", "ABD", "D", "ABC", "CE", "BCE", "E")]
        kept = [w for w in everything if w.name in needed(everything)]
        for bits in range(32):
            off = {letter for i, letter in enumerate("ABCDE") if bits >> i & 1}
            self.assertEqual(any(w.blocks <= off for w in everything), any(w.blocks <= off for w in kept), off)
        self.assertEqual({w.name for w in kept}, {"AB", "BC", "D", "E"})

    def test_of_equal_ones_the_reported_one_stays(self):
        self.assertEqual(names(witness("first", "A"), witness("second", "A")), {"first"})
        self.assertEqual(names(witness("first", "A"), witness("second", "A", is_reported=True)), {"second"})

    def test_a_reported_one_stays(self):
        self.assertEqual(needed([witness("hard", "A"), witness("r", "AB", is_reported=True)])["r"], minimal.REPORT)

    def test_no_block_class_or_requirement_is_left_without_a_kernel(self):
        hard = witness("hard", "A")
        self.assertEqual(needed([hard, witness("easy", "AB"), witness("wide", "ABC")])["wide"], "only one left of B, C")
        self.assertEqual(names(hard, witness("x", "A", classes=("b",))), {"hard", "x"})
        self.assertEqual(names(hard, witness("x", "A", requirements=("ROT-01",))), {"hard", "x"})

    def test_what_a_test_asks_for_stays(self):
        self.assertEqual(names(witness("hard", "A"), witness("used", "AB", user="x_test.cpp")), {"hard", "used"})
        self.assertEqual(minimal.user_of("A-B", {"x": "A-BC Z-A-B", "y": 'the "A-B"'}), "y")

    def test_what_only_level_full_rejects_stays_and_replaces_nothing(self):
        self.assertEqual(needed([witness("quick", "AB"), witness("full", "A", passes_quick=True)])["full"], "full")
        self.assertEqual(names(witness("quick", "AB"), witness("full", "A", passes_quick=True)), {"quick", "full"})


class File(unittest.TestCase):
    def test_a_newcomer_is_compared_with_the_blocks_in_the_file(self):
        kept = minimal.read("a.so#x : hardest: A 1, B 2\na.so#y : report\n")
        self.assertEqual(minimal.harder_than(frozenset(["A 1", "B 2", "C 1"]), kept), "a.so#x")
        self.assertIsNone(minimal.harder_than(frozenset(["A 1", "C 1"]), kept))

    def test_what_is_written_is_read(self):
        reasons = {"mutants.so#A": "hardest: ROT-01 cases 1, ROT-02 cases 1", "designs.so#b/c": "report"}
        self.assertEqual(minimal.read(minimal.write(reasons)), reasons)

    def test_a_kernel_without_a_reason_and_a_reason_without_a_kernel_are_problems(self):
        entries = {"mutants": manifest.read("none right\nA wrong\nROT-01 wrong\nB wrong : see https://a.b/c\n")}
        kept = {f"mutants.so#{name}": minimal.REPORT for name in ("ROT-01", "B")}
        self.assertEqual(minimal.unneeded(entries, {**kept, "mutants.so#A": "hardest: x"}), [])
        (problem,) = minimal.unneeded(entries, kept)
        self.assertIn("mutants.so#A has no reason in kept.txt", problem)
        self.assertIn("cites none", minimal.unneeded(entries, {**kept, "mutants.so#A": minimal.REPORT})[0])
        both = {f"mutants.so#{name}": "full" for name in "AC"}
        self.assertIn("in no list", minimal.unneeded(entries, {**kept, **both})[0])

    def test_each_wrong_kernel_of_the_lists_has_a_reason(self):
        entries = {name: SETS[name].entries() for name in minimal.SETS}
        self.assertEqual(minimal.unneeded(entries, minimal.read(minimal.COMMITTED.read_text())), [])


class Names(unittest.TestCase):
    def test_a_block_is_named_after_its_function_and_its_number(self):
        path = blocks.STANDARD / "rotation.cpp"
        lines = path.read_text().splitlines()
        at = [i for i, line in enumerate(lines, 1) if "list.add" in line]
        self.assertEqual(blocks.name_of("ROT-01", f"rotation.cpp:{at[1]}"), "ROT-01 accuracy_cases 2")
        self.assertEqual(blocks.name_of("STA-03", "the whole run"), "STA-03 the whole run")
        names = blocks.names_in(path)
        self.assertEqual(len(set(names.values())), len(names))
