"""torch tensors, and the conventions of real packages with these packages: python3 torch_test.py BUILD."""

import sys
import unittest

import environment
import running

if __name__ == "__main__":
    environment.with_golden_packages()
    running.use(sys.argv.pop(1))

from running import ROOT, judge, judge_here, ropecheck  # noqa: E402

LLAMA = "transformers.models.llama.modeling_llama:apply_rotary_pos_emb"

LUCIDRAINS = ["--convention", "lucidrains", "--pairing", "interleaved"]


def some(found, verdict):
    return [one["id"] for one in found["requirements"] if one["verdict"] == verdict]


class Torch(unittest.TestCase):
    def test_the_example_conforms(self):
        found, done = judge("torch_kernel:rope", "--pairing", "interleaved", cwd=ROOT / "examples" / "python")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual({grade["dtype"] for grade in found["grades"]}, {"f32", "bf16"})

    def test_each_wrong_kernel_is_a_finding_in_words(self):
        import torch_kernels

        for kernel, words in [("writes_input", "wrote to the input q at [0, 0, 0, 0]; inputs must stay as they are"),
                              ("returns_input", "returned q as a view of its input q; a new array is due"),
                              ("wrong_dtype", "returned q with dtype torch.float64; torch.float32 is due"),
                              ("negated_view", "elements are wrong"),
                              ("wrong_type", "returned q as numpy.ndarray; an array of torch is due")]:
            with self.subTest(kernel):
                report = judge_here(getattr(torch_kernels, kernel), "ROT-01")
                self.assertIn(words, report["ROT-01"].failure.message)

    def test_an_input_that_torch_overwrites_ends_the_worker(self):
        done = ropecheck("replay", "ROT-01:head_dim=8,dtype=f32", "--subject", "python:torch_kernels:writes_input")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("wrote to the input q at [0, 0, 0, 0]; inputs must stay as they are", done.stdout)

    def test_every_type_strided_and_in_place(self):
        found, done = judge("torch_kernels:right")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertLessEqual({"MEM-03", "MEM-04"}, set(some(found, "pass")))


class Conventions(unittest.TestCase):
    def test_hugging_face_conforms(self):
        found, done = judge(LLAMA, "--convention", "huggingface", "--only", "ROT,POS,MEM")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(found["subject"], f"python:{LLAMA} --convention huggingface")
        self.assertIn({grade["dtype"]: grade["grade"] for grade in found["grades"]}["bf16"], ("A2", "A3"))

    def test_a_wrong_function_of_hugging_faces_kind_does_not(self):
        found, done = judge("torch_kernels:huggingface_interleaved", "--convention", "huggingface", "--only", "ROT-01")
        self.assertEqual(done.returncode, 1)
        replay = next(one for one in found["requirements"] if one["id"] == "ROT-01")["failure"]["replay"]
        self.assertIn("--subject 'python:torch_kernels:huggingface_interleaved --convention huggingface'", replay)

    def test_labml_conforms(self):
        found, done = judge("labml_nn.transformers.rope:RotaryPositionalEmbeddings", "--convention", "labml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("f32 output for bf16 input", found["permitted_variants"])

    def test_lucidrains_counts_positions_in_the_querys_type(self):
        subject = "rotary_embedding_torch:RotaryEmbedding"
        found, done = judge(subject, *LUCIDRAINS, "--dtype", "bf16", "--only", "ANG-02")
        self.assertEqual(done.returncode, 1)
        worst = next(one for one in found["requirements"] if one["id"] == "ANG-02")["failure"]["element"]
        self.assertGreater(worst["position"], 256)

    def test_lucidrains_in_f32_conforms(self):
        subject = "rotary_embedding_torch:RotaryEmbedding"
        _, done = judge(subject, *LUCIDRAINS, "--dtype", "f32", "--only", "ROT,POS")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
