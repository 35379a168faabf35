"""Kernels of torch whose tensors are on a CUDA device, which the CPU stands for: python3 device_test.py BUILD. What only
a device can show, its errors and its streams, is not tried."""

import sys
import unittest

import environment
import running

if __name__ == "__main__":
    environment.with_golden_packages()
    running.use(sys.argv.pop(1))

from running import failures, judge  # noqa: E402

CPU_STANDS_FOR_CUDA = {"ROPECHECK_CUDA_STAND_IN": "cpu"}


def judged(kernel, *words):
    return judge(kernel, *words, variables=CPU_STANDS_FOR_CUDA)


class OnDevice(unittest.TestCase):
    def test_a_right_kernel_conforms_in_every_type_strided_and_in_place(self):
        found, done = judged("device_kernels:right", "--only", "ROT,MEM,POS-02,STA-01")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        passed = {one["id"] for one in found["requirements"] if one["verdict"] == "pass"}
        self.assertLessEqual({"ROT-01", "MEM-02", "MEM-03", "MEM-04", "STA-01"}, passed)
        self.assertEqual({grade["dtype"] for grade in found["grades"]}, {"f64", "f32", "f16", "bf16"})

    def test_what_it_writes_where_it_must_not_is_found_on_the_device(self):
        for kernel, words in [("writes_before", "wrote beside a tensor: q_out at element -5000 of its memory"),
                              ("writes_beyond", "beyond its last page"),
                              ("writes_input", "wrote to the input q at [0, 0, 0, 3]; inputs must stay as they are")]:
            with self.subTest(kernel):
                found, done = judged(f"device_kernels:{kernel}", "--only", "ROT-01")
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                kind, message = failures(found)["ROT-01"]
                self.assertEqual(kind, "misbehaviour")
                self.assertIn(words, message)

    def test_what_it_returns_is_looked_at_there(self):
        for kernel, words in [("returns_input", "returned q as a view of its input q; a new array is due"),
                              ("returns_to_numpy", "returned q as numpy.ndarray; an array of torch is due")]:
            with self.subTest(kernel):
                found, _ = judged(f"device_kernels:{kernel}", "--only", "ROT-01")
                self.assertIn(words, failures(found)["ROT-01"][1])

    def test_conventions_take_a_device(self):
        llama = "transformers.models.llama.modeling_llama:apply_rotary_pos_emb"
        found, done = judged(llama, "--convention", "huggingface", "--device", "cuda", "--only", "ROT-01,POS-02")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(found["subject"], f"python:{llama} --convention huggingface --device cuda")
        for kernel, convention in [("labml_nn.transformers.rope:RotaryPositionalEmbeddings", "labml"),
                                   ("rotary_embedding_torch:RotaryEmbedding", "lucidrains")]:
            with self.subTest(convention):
                _, done = judged(kernel, "--convention", convention, "--device", "cuda", "--dtype", "f32", "--only",
                                 "ROT-01", "--pairing", "half_split" if convention == "labml" else "interleaved")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_device_that_is_asked_for_counts_and_not_the_one_declared(self):
        _, done = judge("torch_kernels:right", "--device", "cuda", "--only", "ROT-01", variables=CPU_STANDS_FOR_CUDA)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_numpy_has_no_device(self):
        _, done = judged("device_kernels:undeclared", "--device", "cuda")
        self.assertEqual(done.returncode, 3)
        self.assertIn('declare it with @ropecheck.kernel(array="torch", device="cuda")', done.stderr)

    def test_without_a_device_it_says_so(self):
        import torch

        if torch.cuda.is_available():
            self.skipTest("there is a CUDA device here")
        _, done = judge("device_kernels:right")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("no CUDA device: torch", done.stderr)
        _, done = judge("device_kernels:right", "--device", "tpu")
        self.assertEqual(done.returncode, 2)


class InThisProcess(unittest.TestCase):
    def test_a_function_of_this_process_is_judged_on_the_device(self):
        import os

        import device_kernels

        import ropecheck

        os.environ.update(CPU_STANDS_FOR_CUDA)
        try:
            report = ropecheck.verify(device_kernels.right, only="ROT-01,MEM-02", isolate=False)
            self.assertTrue(report.conforms, str(report))
            report = ropecheck.verify(device_kernels.writes_input, only="ROT-01", isolate=False, diagnosis=False)
            self.assertIn("wrote to the input q at [0, 0, 0, 3]", report["ROT-01"].failure.message)
        finally:
            del os.environ["ROPECHECK_CUDA_STAND_IN"]


if __name__ == "__main__":
    unittest.main()
