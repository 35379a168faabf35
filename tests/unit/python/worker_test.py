"""Kernels in Python as subjects of the command: python3 worker_test.py BUILD. Exit code 77: numpy is missing."""

import sys
import unittest

import running

if __name__ == "__main__":
    running.use(sys.argv.pop(1))
try:
    import numpy as np
except ImportError:
    print("numpy is missing: pip install numpy")
    sys.exit(77)

from ropecheck.memory import GuardedMemory, Pages  # noqa: E402
from running import failures, judge  # noqa: E402

# The kernel, the kind of its failure, and words that its message must have.
WRONG = [
    ("wrong_values", "value", "elements are wrong"),
    ("raises", "status", "raised ValueError: no more than one token, not 2"),
    ("unsupported", "status", "answered unsupported: not on Fridays"),
    ("segfault", "crash", "read from address 0x8 (a null pointer), in libc"),
    ("aborts", "crash", "aborted (SIGABRT); it printed last:\nabout to abort"),
    ("exits", "status", "raised SystemExit: 5"),
    ("ends_process", "crash", "ended its process with exit status 0 in the middle of the call"),
    ("wrong_dtype", "status", "returned q with dtype float64; float32 is due"),
    ("wrong_shape", "status", "returned q with shape [1, 1, 1, 7]; [1, 1, 1, 8] is due"),
    ("wrong_type", "status", "returned q as list; an array of numpy is due"),
    ("returns_none", "status", "returned None; only q, because there is no k is due"),
    ("returns_input", "status", "returned q as a view of its input q; a new array is due"),
    ("writes_input_politely", "status", "raised ValueError: assignment destination is read-only"),
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

    def test_a_hang(self):
        self.expect("hangs", "timeout", "did not return within 0.3 s; its process was killed, twice in a row",
                    "--deadline", "0.3", "--first-deadline", "5")

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

    def test_the_trace_ends_in_the_kernels_line(self):
        found, _ = judge("kernels:raises", "--only", "ROT-01")
        message = failures(found)["ROT-01"][1]
        self.assertIn('kernels.py", line ', message)
        self.assertNotIn("serving.py", message)

    def test_the_python_lines_of_a_crash_are_shown(self):
        found, _ = judge("kernels:segfault", "--only", "ROT-01")
        self.assertIn("in segfault", failures(found)["ROT-01"][1])


class RightKernels(unittest.TestCase):
    def conforms(self, kernel, passed, *options):
        found, done = judge(f"kernels:{kernel}", *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreaterEqual(sum(one["verdict"] == "pass" for one in found["requirements"]), passed)

    def test_every_type_and_source(self):
        self.conforms("right", 48)

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
