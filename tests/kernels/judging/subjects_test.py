"""Names select the right kernels, and a kernel in Python is called by its module's convention."""

import ast
import types
import unittest
import unittest.mock
from pathlib import Path

from judging import manifest
from judging.subjects import Library, MODULES, PYTHON, SETS, Subject, choose, in_turn, subjects_of

ENTRIES = manifest.read("*  right  notes=ERR-04\nexact  right  f32=A1 notes=DET-02\nftz  right  f32=A1\n")


def subjects(set_name, library, *kernels):
    return list(subjects_of(SETS[set_name], library, dict.fromkeys(kernels, "what it does"), ENTRIES))


SUBJECTS = [
    *subjects("legal", "legal_o3.so", "exact", "ftz"),
    *subjects("legal", "legal_o0.so", "exact"),
    *subjects("drawn", "drawn_o3.so", "exact-001", "exact-100"),
]


class Names(unittest.TestCase):
    def chosen(self, *patterns):
        return [subject.name for subject in choose(SUBJECTS, patterns)]

    def test_names_select_sets_libraries_and_kernels(self):
        self.assertEqual(self.chosen("legal_o0.so"), ["legal_o0.so#exact"])
        self.assertEqual(len(self.chosen("exact", "legal_o3.so#exact")), 2)
        self.assertEqual(self.chosen("drawn_*#*-0??"), ["drawn_o3.so#exact-001"])
        self.assertEqual(len(self.chosen("drawn", "ftz")), 3)
        with self.assertRaisesRegex(LookupError, "tfz: no set, library or kernel"):
            self.chosen("ftz", "tfz")

    def test_without_names_every_set_is_judged_but_drawn_claims_and_python(self):
        others = [s for name in ("mutants", "builtin", "designs")
                  for s in subjects(name, f"{name}.so", "ftz")]
        chosen = choose([*SUBJECTS, *others], [])
        self.assertEqual(len(chosen), 6)
        self.assertNotIn("drawn", {s.set.name for s in chosen})
        with self.assertRaisesRegex(LookupError, r"mutants\.so: no such library"):
            choose([*SUBJECTS, *others[1:]], [])

    def test_a_kernel_with_drawn_claims_has_the_entry_of_its_algorithm(self):
        drawn = SUBJECTS[3]
        self.assertEqual((drawn.kernel, drawn.entry.name), ("exact-001", "exact"))
        self.assertEqual(drawn.allowed_notes, {"ERR-04", "DET-02"})
        self.assertEqual(SUBJECTS[1].allowed_notes, {"ERR-04"})

    def test_a_kernel_of_one_library_is_judged_in_no_other(self):
        entries = manifest.read("fast  wrong  in=device_cuda.so")
        found = [list(subjects_of(SETS["device"], name, {"fast": ""}, entries))
                 for name in ("device_cpu.so", "device_cuda.so")]
        self.assertEqual([len(subjects) for subjects in found], [0, 1])

    def test_only_the_grid_on_the_cpu_gets_a_fake_driver(self):
        entries = manifest.read("fast  right")
        for library, names in (("device_cpu.so", ["ROPECHECK_CUDA_DRIVER"]), ("device_cuda.so", [])):
            (subject,) = subjects_of(SETS["device"], library, {"fast": ""}, entries)
            self.assertEqual(list(subject.environment(Path("build"))), names)

    def test_in_turn_each_seed_has_another_build_and_three_have_all(self):
        builds = [s for b in ("native", "o0", "o3") for s in subjects("legal", f"legal_{b}.so", "exact", "ftz")]
        builds += [s for b in ("native", "o0", "o3") for s in subjects("builtin", f"builtin_{b}.so", "exact")]
        turns = [in_turn(builds, seed) for seed in (4, 5, 6)]
        for turn in turns:
            self.assertEqual(len({(s.family, s.kernel) for s in turn}), 3)
        self.assertEqual(sorted(s.name for turn in turns for s in turn), sorted(s.name for s in builds))


class Libraries(unittest.TestCase):
    def test_two_kernels_of_one_name_are_refused(self):
        library = unittest.mock.MagicMock()
        library.rope_kernel_count.return_value = 3
        for names, refused in [((b"A", b"B", b"C"), False), ((b"A", b"B", b"A"), True)]:
            kernels = [types.SimpleNamespace(contents=types.SimpleNamespace(name=n, description=b"")) for n in names]
            library.rope_kernel_get.side_effect = kernels
            with unittest.mock.patch("ctypes.CDLL", return_value=library):
                if refused:
                    with self.assertRaisesRegex(ValueError, "some.so: several kernels are called A"):
                        Library("some.so")
                else:
                    self.assertEqual(list(Library("some.so").kernels), ["A", "B", "C"])


class InPython(unittest.TestCase):
    entries = PYTHON.entries()

    def subject(self, name):
        return Subject(PYTHON, "python", name, self.entries[name])

    def test_every_kernel_of_the_list_is_in_its_module(self):
        for name in self.entries:
            module, function = name.split(":")
            text = (MODULES / "kernels" / f"{module}.py").read_text()
            defined = [node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
            self.assertIn(function, defined, module)

    def test_a_module_is_called_by_the_convention_of_its_name(self):
        vllm = self.subject("vllm:rope")
        self.assertEqual(vllm.arguments("build", "/bin/python"),
                         ["python:kernels.vllm:rope", "--python", "/bin/python", "--convention", "vllm"])
        self.assertEqual(self.subject("own_torch:autocast").arguments("build", "/bin/python")[-1], "/bin/python")
        self.assertTrue(vllm.is_called("vllm") and vllm.is_called("vllm:rope") and vllm.is_called("python"))
        self.assertFalse(vllm.is_called("rope"))


if __name__ == "__main__":
    unittest.main()
