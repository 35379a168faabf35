"""Conventions with the packages that they are made for, and with wrong functions in their place: python3
conventions_test.py BUILD. huggingface, labml and lucidrains are in torch_test.py."""

import os
import subprocess
import sys
import unittest

import environment
import running

if __name__ == "__main__":
    environment.with_real_kernels()
    running.use(sys.argv.pop(1))

from running import HERE, PACKAGE, ROOT, failures, judge, ropecheck  # noqa: E402

REAL = {"PYTHONPATH": str(HERE)}  # beside tools/adapters, which is the working directory
ADAPTERS = ROOT / "tools" / "adapters"


QUICK = ["--level", "quick", "--no-diagnosis"]
INTERLEAVED = ["--pairing", "interleaved"]


def judged(kernel, convention, *words):
    return judge(kernel, "--convention", convention, *words, level=QUICK, cwd=ADAPTERS, variables=REAL)


class RealKernels(unittest.TestCase):
    def check_conforms(self, kernel, convention, *words):
        found, done = judged(kernel, convention, *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return {grade["dtype"]: grade["grade"] for grade in found["grades"]}

    def check_rejected(self, kernel, convention, requirement, *words):
        found, done = judged(f"wrong_replacements:{kernel}", convention, "--only", requirement, *words)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(requirement, failures(found))


class HuggingFace(RealKernels):
    def check_model(self, model, convention, *words):
        kernel = f"transformers.models.{model}.modeling_{model}:apply_rotary_pos_emb"
        asked = ["--only", "ROT-01,ROT-09,POS-04,MEM-03", "--head-dim", "8"]
        return self.check_conforms(kernel, convention, *asked, *words)

    def test_cohere(self):
        grades = self.check_model("cohere", "huggingface_cohere", *INTERLEAVED)
        self.assertEqual(grades["bf16"], "A2")
        self.check_rejected("half_split", "huggingface_cohere", "ROT-01", "--head-dim", "8", *INTERLEAVED)

    def test_glm_partial(self):
        grades = self.check_model("glm", "huggingface_glm", "--rotary-dim", "4", *INTERLEAVED)
        self.assertIn(grades["bf16"], ("A2", "A3"))
        self.check_rejected("half_split", "huggingface_glm", "ROT-01", "--head-dim", "8", *INTERLEAVED)

    def test_gptj_partial(self):
        grades = self.check_model("gptj", "huggingface_gptj", "--rotary-dim", "4", *INTERLEAVED)
        self.assertIn(grades["bf16"], ("A2", "A3"))
        self.check_rejected("gptj_turns_backwards", "huggingface_gptj", "ROT-01", "--head-dim", "8", *INTERLEAVED)

    def test_gpt_neox_partial(self):
        grades = self.check_model("gpt_neox", "huggingface_neox", "--rotary-dim", "4")
        self.assertEqual(grades["f64"], "A1")
        self.check_rejected("neox_keeps_nothing", "huggingface_neox", "ROT-09", "--head-dim", "8", "--rotary-dim", "4")

    def test_the_attention_factor_of_an_f64_input_is_multiplied_in_f64(self):
        self.check_conforms("transformers.models.llama.modeling_llama:apply_rotary_pos_emb", "huggingface",
                            "--head-dim", "8", "--attention-factor", "0.75", "--dtype", "f64", "--only", "ROT-01")


class OnnxRuntime(RealKernels):
    def test_ai_onnx(self):
        grades = self.check_conforms("ropecheck.onnx_runtime:rotary_embedding", "onnx", "--only",
                                     "ROT-08,ROT-09,ANG,POS-01,POS-02,POS-03,POS-05,SHP-04,GLD-01")
        self.assertEqual(grades, {"f32": "A1", "f16": "A2"})
        self.check_rejected("onnx_first_batch", "onnx", "POS-04")

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
                                     "--only", "ROT,ANG,POS,MEM,SHP-04,GLD-01")
        self.assertEqual(grades, {"f32": "A1", "f16": "A2"})
        self.check_rejected("onnx_microsoft_forgets_the_offset", "onnx_microsoft", "POS-01")


class Vllm(RealKernels):
    def test_both_styles(self):
        for pairing in ("half_split", "interleaved"):
            with self.subTest(pairing):
                grades = self.check_conforms("vllm_operator:rotary_embedding", "vllm", "--only", "ROT-01,POS,MEM",
                                             "--head-dim", "64", "--pairing", pairing)
                self.assertEqual(grades, {"f32": "A1", "f16": "A2", "bf16": "A2"})
        self.check_rejected("vllm_query_alone", "vllm", "POS-03", "--dtype", "f32", "--head-dim", "64")


class FlashAttention(RealKernels):
    def test_triton_kernel_in_the_interpreter(self):
        small = ["--head-dim", "8", "--dtype", "f32"]
        self.check_conforms("flash_attn_triton:apply_rotary", "flash_attn", "--only",
                            "ROT-09,POS-01,BWD-01,MEM-04", *small)
        self.check_rejected("flash_attn_one_way", "flash_attn", "BWD-01", *small)


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
