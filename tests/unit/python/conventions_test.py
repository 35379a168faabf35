"""Conventions with the packages that they are made for, and with wrong functions in their place.

Usage: python3 conventions_test.py BUILD. huggingface, labml and lucidrains are in torch_test.py."""

import importlib
import os
import subprocess
import sys
import unittest

import environment
import running

if __name__ == "__main__":
    environment.with_real_kernels()
    running.use(sys.argv.pop(1))
    sys.path.insert(0, str(running.ROOT / "tools" / "adapters"))

from running import HERE, PACKAGE, ROOT, failures, judge, judge_here, ropecheck  # noqa: E402

REAL = {"PYTHONPATH": str(HERE)}  # beside tools/adapters, which is the working directory
ADAPTERS = ROOT / "tools" / "adapters"


class RealKernels(unittest.TestCase):
    """In this process, which imports each package once."""

    def check_conforms(self, kernel, convention, only, **how):
        module, name = kernel.split(":")
        report = judge_here(getattr(importlib.import_module(module), name), only, convention, **how)
        self.assertTrue(report.conforms, str(report))
        return {grade.dtype: grade.grade for grade in report.grades}

    def check_rejected(self, kernel, convention, requirement, **how):
        import wrong_replacements

        report = judge_here(getattr(wrong_replacements, kernel), requirement, convention, **how)
        self.assertEqual([one.id for one in report.failures], [requirement])


class HuggingFace(RealKernels):
    def check_model(self, model, convention, **how):
        kernel = f"transformers.models.{model}.modeling_{model}:apply_rotary_pos_emb"
        return self.check_conforms(kernel, convention, "ROT-01,ROT-09,POS-04,MEM-03", **how)

    def test_cohere(self):
        grades = self.check_model("cohere", "huggingface_cohere", pairing="interleaved")
        self.assertEqual(grades["bf16"], "A2")
        self.check_rejected("half_split", "huggingface_cohere", "ROT-01", pairing="interleaved")

    def test_glm_partial(self):
        grades = self.check_model("glm", "huggingface_glm", rotary_dim=4, pairing="interleaved")
        self.assertIn(grades["bf16"], ("A2", "A3"))
        self.check_rejected("half_split", "huggingface_glm", "ROT-01", pairing="interleaved")

    def test_gptj_partial(self):
        grades = self.check_model("gptj", "huggingface_gptj", rotary_dim=4, pairing="interleaved")
        self.assertIn(grades["bf16"], ("A2", "A3"))
        self.check_rejected("gptj_turns_backwards", "huggingface_gptj", "ROT-01", pairing="interleaved")

    def test_gpt_neox_partial(self):
        grades = self.check_model("gpt_neox", "huggingface_neox", rotary_dim=4)
        self.assertEqual(grades["f64"], "A1")
        self.check_rejected("neox_keeps_nothing", "huggingface_neox", "ROT-09", rotary_dim=4)

    def test_the_attention_factor_of_an_f64_input_is_multiplied_in_f64(self):
        self.check_conforms("transformers.models.llama.modeling_llama:apply_rotary_pos_emb", "huggingface", "ROT-01",
                            dtypes="f64", attention_factor=0.75)


class OnnxRuntime(RealKernels):
    def test_ai_onnx(self):
        # Requirements with no call of more tokens than rows: the next test has that defect of the package.
        grades = self.check_conforms("ropecheck.onnx_runtime:rotary_embedding", "onnx",
                                     "ROT-08,ANG,POS-01,POS-02,POS-03,POS-05,SHP-04,GLD-01", head_dim=None)
        self.assertEqual(grades, {"f32": "A1", "f16": "A2"})
        self.check_rejected("onnx_first_batch", "onnx", "POS-04", head_dim=None)

    def test_ai_onnx_wants_a_row_of_the_tables_for_each_token(self):
        subject = "python:ropecheck.onnx_runtime:rotary_embedding --convention onnx"
        for spare_rows, exit_code in ((0, 1), (4, 0)):  # seven tokens at three positions
            case = f"POS-03:head_dim=8,source=tables,form=shared,pattern=repeated,seq=7,spare_rows={spare_rows}"
            done = ropecheck("replay", case, "--subject", subject, cwd=ADAPTERS, variables=REAL)
            self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
            refused = "Updating cos_cache and sin_cache in RotaryEmbedding" in done.stdout
            self.assertEqual(refused, spare_rows == 0)

    def test_com_microsoft(self):
        grades = self.check_conforms("ropecheck.onnx_runtime:microsoft_rotary_embedding", "onnx_microsoft",
                                     "ROT,ANG,POS,MEM,SHP-04,GLD-01", head_dim=None)
        self.assertEqual(grades, {"f32": "A1", "f16": "A2"})
        self.check_rejected("onnx_microsoft_forgets_the_offset", "onnx_microsoft", "POS-01", head_dim=None)


class Vllm(RealKernels):
    def test_both_styles(self):
        for pairing in ("half_split", "interleaved"):
            with self.subTest(pairing):
                grades = self.check_conforms("vllm_operator:rotary_embedding", "vllm", "ROT-01,POS,MEM", head_dim=64,
                                             pairing=pairing)
                # vLLM has a library for each instruction set; the AVX2 one gave A3 (AMD EPYC, 2026-11-23).
                self.assertIn(grades.pop("bf16"), ("A2", "A3"))
                self.assertEqual(grades, {"f32": "A1", "f16": "A2"})
        self.check_rejected("vllm_query_alone", "vllm", "POS-03", dtypes="f32", head_dim=64)


class FlashAttention(unittest.TestCase):
    """In a worker: flash_attn_triton replaces a package by its own module."""

    def judged(self, kernel, only):
        return judge(kernel, "--convention", "flash_attn", "--dtype", "f32", "--only", only, cwd=ADAPTERS,
                     variables=REAL)

    def test_triton_kernel_in_the_interpreter(self):
        _, done = self.judged("flash_attn_triton:apply_rotary", "ROT-09,POS-01,BWD-01,MEM-04")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found, _ = self.judged("wrong_replacements:flash_attn_one_way", "BWD-01")
        self.assertIn("BWD-01", failures(found))


class Listing(unittest.TestCase):
    def test_every_convention_stands_under_its_name(self):
        listed = ropecheck("list", "conventions").stdout.splitlines()
        names = [line.split()[0] for line in listed[::2]]
        self.assertEqual(names, ["flash_attn", "huggingface", "huggingface_cohere", "huggingface_glm",
                                 "huggingface_gptj", "huggingface_neox", "labml", "lucidrains", "onnx",
                                 "onnx_microsoft", "vllm"])

    def test_no_convention_needs_torch_to_be_listed(self):
        code = "import sys; from ropecheck import conventions as c; [c.convention_called(name) for name in c.NAMES]; " \
               "sys.exit('torch' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
