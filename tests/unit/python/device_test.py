"""Kernels of torch with tensors on a CUDA device, which the CPU stands for: python3 device_test.py BUILD. Errors and
streams of a device are not tested: only a device can show them."""

import os
import sys
import unittest
import unittest.mock

import environment
import running

if __name__ == "__main__":
    environment.with_golden_packages()
    running.use(sys.argv.pop(1))

from running import failures, judge, judge_here  # noqa: E402

CPU_STANDS_FOR_CUDA = {"ROPECHECK_CUDA_STAND_IN": "cpu"}


def judged(kernel, *words):
    return judge(kernel, *words, variables=CPU_STANDS_FOR_CUDA)


class OnDevice(unittest.TestCase):
    def test_a_right_kernel_conforms_in_every_type_strided_and_in_place(self):
        found, done = judged("device_kernels:right", "--only", "ROT-01,MEM-02,MEM-03,MEM-04,POS-02,STA-01")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        passed = {one["id"] for one in found["requirements"] if one["verdict"] == "pass"}
        self.assertLessEqual({"ROT-01", "MEM-02", "MEM-03", "MEM-04", "STA-01"}, passed)
        self.assertEqual({grade["dtype"] for grade in found["grades"]}, {"f64", "f32", "f16", "bf16"})

    def test_what_it_writes_where_it_must_not_is_found_on_the_device(self):
        found, done = judged("device_kernels:writes_beyond", "--only", "ROT-01")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        kind, message = failures(found)["ROT-01"]
        self.assertEqual(kind, "misbehaviour")
        self.assertIn("beyond its last page", message)

    def test_a_convention_takes_a_device(self):
        labml = "labml_nn.transformers.rope:RotaryPositionalEmbeddings"
        found, done = judged(labml, "--convention", "labml", "--device", "cuda", "--dtype", "f32", "--only", "ROT-01")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(found["subject"], f"python:{labml} --convention labml --device cuda")

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
    def setUp(self):
        stand_in = unittest.mock.patch.dict(os.environ, CPU_STANDS_FOR_CUDA)
        stand_in.start()
        self.addCleanup(stand_in.stop)

    def test_a_right_kernel_conforms(self):
        import device_kernels

        report = judge_here(device_kernels.right, "ROT-01,MEM-02", dtypes="f32")
        self.assertTrue(report.conforms, str(report))

    def test_what_is_wrong_on_the_device_is_found_there(self):
        import device_kernels

        for kernel, words in [("writes_before", "wrote beside a tensor: q_out at element -5000 of its memory"),
                              ("writes_beyond", "beyond its last page"),
                              ("writes_input", "wrote to the input q at [0, 0, 0, 3]; inputs must stay as they are"),
                              ("returns_input", "returned q as a view of its input q; a new array is due"),
                              ("returns_to_numpy", "returned q as numpy.ndarray; an array of torch is due")]:
            with self.subTest(kernel):
                failure = judge_here(getattr(device_kernels, kernel), "ROT-01")["ROT-01"].failure
                self.assertEqual(failure.kind, "status" if kernel.startswith("returns") else "misbehaviour")
                self.assertIn(words, failure.message)

    def test_conventions_take_a_device(self):
        from rotary_embedding_torch import RotaryEmbedding
        from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

        for function, convention, pairing in [(apply_rotary_pos_emb, "huggingface", "half_split"),
                                              (RotaryEmbedding, "lucidrains", "interleaved")]:
            with self.subTest(convention):
                report = judge_here(function, "ROT-01,POS-02", convention, "cuda", dtypes="f32", pairing=pairing)
                self.assertTrue(report.conforms, str(report))

    def test_the_device_that_is_asked_for_counts_and_not_the_one_declared(self):
        import torch_kernels

        self.assertTrue(judge_here(torch_kernels.right, "ROT-01", device="cuda").conforms)

    def test_numpy_has_no_device(self):
        import device_kernels

        import ropecheck

        words = r'declare it with @ropecheck.kernel\(array="torch", device="cuda"\)'
        with self.assertRaisesRegex(ropecheck.SubjectError, words):
            judge_here(device_kernels.undeclared, "ROT-01", device="cuda")


if __name__ == "__main__":
    unittest.main()
