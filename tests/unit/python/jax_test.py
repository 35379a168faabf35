"""JAX arrays: python3 jax_test.py BUILD."""

import sys
import unittest

import environment
import running

if __name__ == "__main__":
    environment.with_requirements()
    running.use(sys.argv.pop(1))

from running import ROOT, failures, judge, judge_here  # noqa: E402

EXAMPLES = ROOT / "examples" / "python"


class Jax(unittest.TestCase):
    def test_the_example_conforms(self):
        found, done = judge("jax_kernel:rope", "--only", "ROT,ANG,MEM", cwd=EXAMPLES)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual({grade["dtype"] for grade in found["grades"]}, {"f32", "bf16"})

    def test_arrays_lie_where_the_tensors_are(self):
        import jax_kernels

        for dtype, name in [("f32", "float32"), ("f16", "float16"), ("bf16", "bfloat16")]:
            report = judge_here(getattr(jax_kernels, f"addresses_{dtype}"), "ROT-01")
            self.assertIn(f"RuntimeError: q without a copy: True, of {name}", report["ROT-01"].failure.message)

    def test_wrong_kernels_are_findings_in_words(self):
        import jax_kernels

        for kernel, words in [("returns_input", "returned q as a view of its input q; a new array is due"),
                              ("wrong_type", "returned q as numpy.ndarray; an array of jax is due"),
                              ("wrong_dtype", "returned q with dtype float16; float32 is due")]:
            with self.subTest(kernel):
                report = judge_here(getattr(jax_kernels, kernel), "ROT-01")
                self.assertIn(words, report["ROT-01"].failure.message)

    def test_on_a_device_which_the_cpu_stands_for(self):
        here = {"ROPECHECK_CUDA_STAND_IN": "cpu"}
        _, done = judge("jax_kernel:rope", "--device", "cuda", "--only", "ROT-01,MEM-02", cwd=EXAMPLES,
                        variables=here)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found, _ = judge("jax_kernels:wrong_type", "--device", "cuda", "--only", "ROT-01", variables=here)
        self.assertIn("returned q as numpy.ndarray; an array of jax is due", failures(found)["ROT-01"][1])
        _, done = judge("jax_kernel:rope", "--device", "cuda", cwd=EXAMPLES, variables={"CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("no CUDA device: JAX", done.stderr)

    def test_64_bits_are_not_claimed_by_mistake(self):
        _, done = judge("jax_kernels:wide")
        self.assertEqual(done.returncode, 3)
        self.assertIn("it claims f64, which jax has no arrays of", done.stderr)
        self.assertIn("set JAX_ENABLE_X64=1", done.stderr)


if __name__ == "__main__":
    unittest.main()
