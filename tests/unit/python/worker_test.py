"""Kernels in Python as subjects of the command: python3 worker_test.py BUILD. Exit code 77: numpy is missing."""

import re
import sys
import tempfile
import types
import unittest
from pathlib import Path

import running

if __name__ == "__main__":
    running.use(sys.argv.pop(1))
try:
    import numpy as np
except ImportError:
    print("numpy is missing: pip install numpy")
    sys.exit(77)

from ropecheck.errors import SubjectError  # noqa: E402
from ropecheck.memory import GuardedMemory, Pages  # noqa: E402
from running import failures, judge, ropecheck  # noqa: E402

# The kernel, the kind of its failure, and words that its message must have.
WRONG = [
    ("wrong_values", "value", "elements are wrong"),
    ("raises", "exception", "raised ValueError: no more than one token, not 2"),
    ("unsupported", "status", "answered unsupported: not on Fridays"),
    ("segfault", "crash", "read from address 0x8 (a null pointer), in libc"),
    ("aborts", "crash", "aborted (SIGABRT); it printed last:\nabout to abort"),
    ("exits", "exception", "raised SystemExit: 5"),
    ("ends_process", "crash", "ended its process with exit status 0 in the middle of the call"),
    ("wrong_dtype", "status", "returned q with dtype float64; float32 is due"),
    ("wrong_shape", "status", "returned q with shape [1, 1, 1, 7]; [1, 1, 1, 8] is due"),
    ("wrong_type", "status", "returned q as list; an array of numpy is due"),
    ("returns_none", "status", "returned None; only q, because there is no k is due"),
    ("returns_input", "status", "returned q as a view of its input q; a new array is due"),
    ("writes_input_politely", "exception", "raised ValueError: assignment destination is read-only (inputs must stay "
     "as they are, unless overwrites_inputs is claimed; or copy them: some libraries ask for writable memory without"),
    ("writes_input", "misbehaviour", "wrote to the input q at [0, 0, 0, 0]; inputs must stay as they are"),
    ("one_too_far", "misbehaviour", "wrote 1 element past the end of q_out (element 8 of 8)"),
]


class WrongKernels(unittest.TestCase):
    def expect(self, kernel, kind, words, *options, requirement="ROT-01"):
        found, done = judge(f"kernels:{kernel}", "--only", requirement, *options)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(failures(found)[requirement][0], kind)
        self.assertIn(words, failures(found)[requirement][1])

    def test_each_is_a_finding_in_words(self):
        for kernel, kind, words in WRONG:
            with self.subTest(kernel):
                self.expect(kernel, kind, words)

    def test_a_result_in_the_memory_of_an_earlier_one(self):
        self.expect("keeps_its_buffer", "status", "returned q in the memory of an earlier call's result, q, which the "
                    "caller may still hold; a new array is due", requirement="DET-01")

    def test_both_results_in_the_same_memory(self):
        self.expect("one_buffer_for_both", "status", "returned q and k in the same memory")

    def test_inputs_may_be_overwritten_if_that_is_claimed(self):
        found, done = judge("kernels:overwrites_as_claimed", "--only", "ROT-01,MEM-01,MEM-02")
        self.assertEqual((done.returncode, failures(found)), (0, {}), done.stdout)

    def test_a_hang(self):
        self.expect("hangs", "timeout", "did not return within 0.3 s; its process was killed, twice in a row",
                    "--deadline", "0.3", "--first-deadline", "5", "--wall-deadline", "0.3")

    def test_what_needs_a_key(self):
        self.expect("wrong_count", "status", "returned 1 array; (q, k) is due", requirement="SHP-05")

    def test_one_element_before_the_start(self):
        self.expect("one_before", "misbehaviour", "wrote 1 element before the start of q_out (element -1 of",
                    requirement="MEM-01")

    def test_one_element_read_beyond_a_table(self):
        self.expect("reads_too_far", "misbehaviour", "read cos at row ")

    def test_a_view_of_a_table(self):
        self.expect("returns_table", "status", "returned q as a view of its input cos; a new array is due")

    def test_new_memory_where_the_call_is_in_place(self):
        self.expect("new_memory_in_place", "status", "returned q in new memory; in place, the result belongs into "
                    "call.q (return None)", requirement="MEM-04")

    def test_threads_of_openmp_sleep_while_they_wait_unless_the_user_says_otherwise(self):
        for given, failed in (({}, {}), ({"OMP_WAIT_POLICY": "active"}, {"ROT-02"})):
            found, _ = judge("kernels:waits_asleep", "--only", "ROT-02", variables=given)
            self.assertEqual(set(failures(found)), set(failed))

    def test_the_trace_ends_in_the_kernels_line(self):
        found, _ = judge("kernels:raises", "--only", "ROT-01")
        message = failures(found)["ROT-01"][1]
        self.assertIn('kernels.py", line ', message)
        self.assertNotIn("serving.py", message)

    def test_the_python_lines_of_a_crash_are_shown(self):
        found, _ = judge("kernels:segfault", "--only", "ROT-01")
        self.assertIn("in segfault", failures(found)["ROT-01"][1])


WITH_DIAGNOSIS = ["--head-dim", "8", "--level", "quick"]


class NotKernels(unittest.TestCase):
    """What cannot be called, or cannot run here, ends the run at once, with exit code 3."""

    FITS = [
        ("huggingface", ["huggingface", "huggingface_cohere", "huggingface_glm", "huggingface_neox"]),
        ("module", ["huggingface", "huggingface_cohere", "huggingface_glm", "huggingface_neox"]),
        ("vllm", ["vllm"]),
        ("onnx", ["onnx"]),
        ("gptj", ["huggingface_gptj"]),
        ("Labml", ["labml"]),
        ("Lucidrains", ["lucidrains"]),
        ("Module", ["huggingface", "huggingface_cohere", "huggingface_glm", "huggingface_neox"]),
        ("Tables", []),
        ("three", []),
        ("older", []),
        ("Llama", []),
    ]

    def refused(self, *words):
        done = ropecheck(*words)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_the_conventions_that_the_parameters_fit_are_named(self):
        import not_kernels
        from ropecheck.signature import check_signature

        for name, conventions in self.FITS:
            with self.subTest(name), self.assertRaises(SubjectError) as raised:
                check_signature(getattr(not_kernels, name))
            named = re.findall(r"--convention (\w+)", str(raised.exception))
            self.assertEqual(named, conventions)
            self.assertEqual("def rope(call):" in str(raised.exception), not conventions)

    def test_a_class_that_no_convention_makes_is_to_be_made_once(self):
        import not_kernels
        from ropecheck.signature import check_signature

        for name, words in (("Module", ", and name it in place of the class; the parameters of its forward fit these"),
                            ("Llama", "; a kernel is a function of one argument, the call:")):
            with self.subTest(name), self.assertRaises(SubjectError) as raised:
                check_signature(getattr(not_kernels, name))
            self.assertIn(f"is a class, not a kernel; make an object of it once, outside of the kernel: module = "
                          f"{name}(..){words}", str(raised.exception))

    def test_kernels_may_be_functions_methods_and_objects(self):
        from ropecheck.signature import check_signature

        class Rope:
            def __call__(self, call):
                return call.q

            def method(self, call, cached=None):
                return call.q

        for kernel in (lambda call: call.q, Rope(), Rope().method, passes_all, np.sin, dict):
            check_signature(kernel)
        with self.assertRaises(SubjectError):
            check_signature(Rope.method)

    def test_verify_and_identify_end_before_the_first_call(self):
        for command in ("verify", "identify"):
            said = self.refused(command, "python:not_kernels:vllm")
            self.assertIn("vllm(positions, query, key, head_size, cos_sin_cache, is_neox) cannot be called with one "
                          'argument; its parameters fit this convention (in Python: convention="vllm"):\n'
                          "  --convention vllm ", said)

    def test_what_only_a_call_shows(self):
        for command in ("verify", "identify"):
            self.assertIn("huggingface() missing 3 required positional arguments",
                          self.refused(command, "python:not_kernels:passes_on"))
        said = self.refused("verify", "python:not_kernels:vllm", "--convention", "onnx")
        self.assertRegex(said, r"vllm\(\) got an unexpected keyword .*; its parameters fit .*\n  --convention vllm ")

    def test_what_is_missing_here_is_named(self):
        for kernel, words in [
            ("without_module", "ModuleNotFoundError: No module named 'no_such_module' ("),
            ("without_program", "FileNotFoundError: [Errno 2] No such file or directory: 'no-such-compiler' ("),
            ("without_library", "OSError: libnosuch.so: cannot open shared object file: No such file or directory ("),
            ("without_device", "RuntimeError: No CUDA GPUs are available ("),
            ("without_compiler", "RuntimeError: Failed to find C compiler. Please specify via CC ("),
        ]:
            with self.subTest(kernel):
                said = self.refused("verify", f"python:not_kernels:{kernel}")
                self.assertIn(f"python:not_kernels:{kernel}: it cannot run here: {words}", said)
                self.assertRegex(said, r"not_kernels.py, line \d+\); install it")

    def test_an_exception_of_its_own_code_is_judged(self):
        for kernel in ("without_file", "wrong_types", "wrong_types_within"):
            with self.subTest(kernel):
                found, done = judge(f"not_kernels:{kernel}", "--only", "ROT-02")
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertEqual(failures(found)["ROT-02"][0], "exception")

    def test_an_exception_counts_as_one_whatever_its_class_is_called(self):
        for name in ("no_room", "invalid_argument"):
            with self.subTest(name):
                found, done = judge(f"kernels:raises_{name}", "--only", "ROT-02")
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                kind, words = failures(found)["ROT-02"][:2]
                self.assertEqual(kind, "exception")
                self.assertTrue(words.startswith(f"raised {name}: says the kernel"), words)

    def test_a_class_of_the_suite_is_no_mark_either(self):
        found, done = judge("kernels:raises_class_of_suite", "--only", "ROT-02")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(failures(found)["ROT-02"][0], "exception")

    def raised_from(self, function):
        from ropecheck import conventions
        from ropecheck.raised import is_of_adapter, place_of

        call = types.SimpleNamespace(
            q=np.ones((1, 1, 1, 8), np.float32), k=None, cos=np.ones((1, 4), np.float32), head_dim=8, rotary_dim=8,
            sin=np.zeros((1, 4), np.float32), positions=None, attention_factor=1, pairing="half_split",
            dtype=np.float32, position_ids=lambda: np.zeros((1, 1), np.int64))
        try:
            conventions.adapt(function, "onnx")(call)
        except Exception as error:  # assertRaises would take its traceback away
            frames = error.with_traceback(error.__traceback__.tb_next)  # without this file
            return is_of_adapter(frames, function), place_of(frames, function)
        self.fail("it raised nothing")

    def test_an_exception_of_the_adapter_is_told_from_the_kernels(self):
        import not_kernels

        self.assertEqual(self.raised_from(not_kernels.raises_within)[0], False)
        self.assertRegex(self.raised_from(not_kernels.raises_within)[1], r"/not_kernels\.py:\d+$")
        self.assertEqual(self.raised_from(not_kernels.returns_nothing)[0], True)
        self.assertRegex(self.raised_from(not_kernels.returns_nothing)[1], r"/conventions/onnx\.py:\d+$")
        for kernel, words in [("raises_within", "raised ValueError: not on Fridays"),
                              ("returns_nothing", "raised in the adapter's code, not in the kernel's: AttributeError")]:
            found, _ = judge(f"not_kernels:{kernel}", "--convention", "onnx", "--only", "ROT-02")
            self.assertEqual(failures(found)["ROT-02"][0], "exception")
            self.assertTrue(failures(found)["ROT-02"][1].startswith(words), failures(found)["ROT-02"][1])

    def test_the_diagnosis_tells_what_was_raised_and_where(self):
        found, done = judge("kernels:raises", "--only", "ROT-01,MEM-01", level=WITH_DIAGNOSIS)
        first = found["diagnosis"]["candidates"][0]
        self.assertEqual(first["class"], "exception", done.stdout)
        self.assertRegex(first["sentence"], r"^the kernel raises ValueError: no more than one token, not \d+ "
                                            r"\(.*/kernels\.py:\d+\)$")
        self.assertIn("several tokens", first["condition"])

    def test_of_several_subjects_one_that_cannot_be_called_is_refused_and_the_others_are_judged(self):
        done = ropecheck("verify", "half_split", "python:not_kernels:without_module", "--level", "quick",
                         "--only", "ROT-02")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("half_split: conforms", done.stdout)
        self.assertRegex(done.stderr, r"(?m)^ropecheck: python:not_kernels:without_module.* is refused: .*no_such_module")


class Claims(unittest.TestCase):
    def test_without_a_decorator_everything_is_claimed_and_said_so(self):
        found, done = judge("kernels:undecorated", "--only", "ROT-02")
        note = ("undecorated has no decorator, so it claims everything; @ropecheck.kernel(dtypes=.., sources=.., "
                "features=..) claims less")
        self.assertEqual(found["claims_note"], note)
        self.assertIn(f"  claims: {note}\n", done.stdout)
        self.assertNotIn("claims_note", judge("kernels:right", "--only", "ROT-02")[0])

    def test_much_is_dropped_from_what_an_undecorated_function_claims(self):
        found, done = judge("kernels:only_tables", "--only", "ROT-01", level=WITH_DIAGNOSIS)
        self.assertIn("conforms_without", found, done.stdout)
        dropped = found["conforms_without"]["claims"]
        for claim in ("angle source computed", "angle source frequencies", "q and k in one call"):
            self.assertIn(claim, dropped)
        self.assertNotIn("half_split", dropped)

    def test_the_claims_without_which_a_kernel_would_conform_are_named(self):
        found, done = judge("strict_kernels:wrong_in_place", "--only", "ROT,MEM", level=WITH_DIAGNOSIS)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(found["conforms_without"]["claims"], ["in place"])
        failed = set(failures(found)) - {"MEM-04"}  # which is about calls in place
        self.assertLessEqual(failed, set(found["conforms_without"]["judged_again"]))
        self.assertIn("  claims: it would conform without this claim: in place (", done.stdout)

    def test_what_is_not_supported_names_the_claim_once(self):
        found, done = judge("kernels:not_in_place", "--only", "ROT,MEM", level=WITH_DIAGNOSIS)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(found["unsupported"]["claims"], ["in place"])
        not_held = [one["id"] for one in found["requirements"] if one["failed"]]
        self.assertEqual(found["unsupported"]["requirements"], not_held)
        self.assertIn("get the answer unsupported. They need this claim: in place. Support it, or do not claim it\n",
                      done.stdout)
        self.assertNotIn("diagnosis", found)
        self.assertNotIn("      found", done.stdout)


class Time(unittest.TestCase):
    def test_the_kernels_own_time_is_told_apart(self):
        found, _ = judge("kernels:takes_its_time", "--only", "ROT-02,ROT-03")
        calls = found["calls"]
        self.assertGreater(calls, 3)
        self.assertTrue(0.02 * calls <= found["kernel_seconds"] <= found["seconds"])
        parts = [one["kernel_seconds"] for one in found["requirements"]]
        self.assertAlmostEqual(sum(parts), found["kernel_seconds"])

    def started(self, kernel, only):
        """The verdicts, and how many processes loaded the kernel. Loading a framework costs seconds."""
        with tempfile.TemporaryDirectory() as folder:
            starts = Path(folder) / "starts"
            found, _ = judge(kernel, "--only", only, "--allow", folder, "--env", "COUNT_STARTS",
                             variables={"COUNT_STARTS": str(starts)})
            return [one["verdict"] for one in found["requirements"]], starts.read_text().count("started\n")

    def test_a_kernel_that_takes_wrong_calls_is_not_started_again(self):
        verdicts, starts = self.started("kernels:right", "ERR")
        self.assertIn("note", verdicts)
        self.assertEqual(starts, 1)

    def test_of_exceptions_only_the_first_is_tried_in_a_new_process(self):
        verdicts, starts = self.started("kernels:raises", "ROT-01,ROT-03,ROT-04,ROT-05")
        self.assertEqual(verdicts, ["fail"] * 4)
        self.assertEqual(starts, 2)


def passes_all(*args, **kwargs):
    return args[0].q


class RightKernels(unittest.TestCase):
    def conforms(self, kernel, passed, *options):
        found, done = judge(f"kernels:{kernel}", *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreaterEqual(sum(one["verdict"] == "pass" for one in found["requirements"]), passed)

    def test_every_type_and_source(self):
        self.conforms("right", 48)

    def test_sequences_with_their_own_starts(self):
        self.conforms("in_sequences", 6, "--only", "POS")  # all but POS-04: batches have no positions of their own
        found, _ = judge("kernels:counts_through_the_row", "--only", "POS-06,POS-07")
        self.assertEqual([one["verdict"] for one in found["requirements"]], ["pass", "fail"])

    def test_axes(self):
        self.conforms("right", 5, "--axes", "2:2", "--only", "ROT,POS")

    def test_bf16_as_this_interpreter_has_it(self):
        self.conforms("bf16_bits", 5, "--only", "ROT")

    def test_scaling_has_hugging_faces_names(self):
        self.conforms("yarn", 1, "--only", "ROT-01,ANG", "--scaling",
                      "yarn,factor=4,original_max_position_embeddings=4096")

    def test_results_written_into_the_outputs(self):
        self.conforms("writes_outputs", 40)

    def test_a_kernel_within_a_class(self):
        self.conforms("Shelf.right", 10, "--only", "ROT")


class Memory(unittest.TestCase):
    """The package's guard pages, on a file."""

    def setUp(self):
        import os
        self.file = os.memfd_create("test")
        os.write(self.file, bytes(range(256)) * 32)  # two pages

    def bytes_at(self, memory, at, count):
        return bytes(np.ndarray((count,), np.uint8, memory.buffer(0), at))

    def test_maps_what_the_file_has(self):
        memory = GuardedMemory()
        memory.map(0, self.file, (Pages(0, 4096, 4096),), False)
        self.assertEqual(self.bytes_at(memory, 5, 3), bytes([5, 6, 7]))

    def test_rows_far_apart(self):
        memory = GuardedMemory()
        memory.map(0, self.file, (Pages(0, 0, 4096), Pages(1 << 34, 4096, 4096)), True)
        far = np.ndarray((3,), np.uint8, memory.buffer(0), 1 << 34)
        far[:] = 9
        memory.map(0, self.file, (Pages(0, 4096, 4096),), True)
        self.assertEqual(self.bytes_at(memory, 0, 4), bytes([9, 9, 9, 3]))

    def test_too_far(self):
        memory = GuardedMemory()
        with self.assertRaisesRegex(MemoryError, "its rows span .* and this worker has address space for"):
            memory.map(0, self.file, (Pages(1 << 36, 0, 4096),), True)

    def test_damage_of_an_input_in_the_callers_process(self):
        memory = GuardedMemory(private_inputs=True)
        memory.map(0, self.file, (Pages(0, 0, 4096),), False)
        self.assertIsNone(memory.damage(0))
        np.ndarray((8,), np.uint8, memory.buffer(0), 0)[7] = 99
        self.assertEqual(memory.damage(0), 7)
        memory.map(0, self.file, (Pages(0, 0, 4096),), False)  # the next call has it as it was
        self.assertIsNone(memory.damage(0))
        memory.clear()
        self.assertEqual(self.bytes_at(memory, 0, 2), bytes(2))  # reading a kept array does no harm


if __name__ == "__main__":
    unittest.main()
