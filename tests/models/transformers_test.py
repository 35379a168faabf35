#!/usr/bin/env python3
"""Does `ropecheck plan --model-config` describe a model as the classes of the transformers package do?

    transformers_test.py BUILD    in build/golden-venv; exit code 77 where that is not there: ctest counts it as skipped

Each configuration is made by the package's own class, saved as config.json and read by ropecheck. The package's rotary
class then makes cos and sin for a few tokens and its apply function turns a random q. The plan has to give the same
frequencies and the same q.

Frequencies: torch computes base^-e in f32. Its exponent is off by 2^-24 of itself, which costs ln(base) * 2^-24. A
power, a division and the few operations of a rule cost a few 2^-24 each: (ln(base) + 16) * 2^-24 in all. A rule may
blend two frequencies by a ramp over i - low. Then low is computed in double, and the ramp is off by 2^-24 of itself.
"""

import importlib
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path("build/release").resolve()
PYTHON = Path(__file__).resolve().parents[2] / "build" / "golden-venv" / "bin" / "python"

try:
    import numpy as np
    import torch
    import transformers
except ImportError as missing:
    if not PYTHON.exists() or Path(sys.executable) == PYTHON:
        print(f"{missing}; `ropecheck golden regenerate --check` makes the environment that has it: {PYTHON}")
        sys.exit(77)
    os.execv(PYTHON, [str(PYTHON), *sys.argv])

UNIT = 2.0**-24
POSITIONS = [0, 1, 2, 5, 11, 40]

LLAMA3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 40.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0,
        "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096}
LONGROPE = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0 + p / 64 for p in range(48)],
            "long_factor": [1.0 + p for p in range(48)]}

# model, class, changes to the class's defaults, whether the config has one dictionary for each kind of layer
MODELS = [
    ("llama", "LlamaConfig", {}),
    ("llama", "LlamaConfig", {"max_position_embeddings": 131072, "rope_parameters": LLAMA3}),
    ("llama", "LlamaConfig", {"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}}),
    ("llama", "LlamaConfig", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}}),
    ("llama", "LlamaConfig", {"max_position_embeddings": 163840, "rope_parameters": dict(YARN, mscale=0.7)}),
    ("qwen2", "Qwen2Config", {"rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0}}),
    ("phi3", "Phi3Config", {"max_position_embeddings": 131072, "original_max_position_embeddings": 4096,
                            "rope_parameters": LONGROPE}),
    ("gpt_neox", "GPTNeoXConfig", {}),
    ("glm", "GlmConfig", {}),
    ("cohere", "CohereConfig", {}),
    ("gemma", "GemmaConfig", {}),
    ("gemma3", "Gemma3TextConfig", {}),
    ("stablelm", "StableLmConfig", {}),
    ("gpt_oss", "GptOssConfig", {}),
    ("deepseek_v3", "DeepseekV3Config", {"max_position_embeddings": 163840, "rope_parameters": YARN}),
    ("qwen2_vl", "Qwen2VLConfig", {}),
    ("qwen2_vl", "Qwen2VLTextConfig", {"rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0,
                                                           "mrope_section": [8, 28, 28]}}),
    ("qwen3_vl", "Qwen3VLTextConfig", {}),
]


def rotary_class(module):
    names = [n for n in vars(module) if n.endswith("RotaryEmbedding") and "Vision" not in n]
    assert len(names) == 1, names
    return getattr(module, names[0])


def plans_of(config):
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        command = [str(BUILD / "ropecheck"), "plan", "--model-config", f"{folder}/config.json", "--json", "-"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["plans"]


def turned(q, positions, plan):
    """Rotates q by the plan, in double; positions are [axis][token]."""
    y = q.astype(np.float64).copy()
    for first, second, axis, theta in zip(plan["first"], plan["second"], plan["axis"], plan["theta"]):
        phi = np.asarray(positions[axis], dtype=np.float64) * theta
        c, s = plan["lambda"] * np.cos(phi)[:, None], plan["lambda"] * np.sin(phi)[:, None]
        a, b = q[:, :, first].astype(np.float64), q[:, :, second].astype(np.float64)
        y[:, :, first], y[:, :, second] = a * c - b * s, b * c + a * s
    return y


class ModelTest(unittest.TestCase):
    def check(self, name, config, plan):
        module = importlib.import_module(f"transformers.models.{name}.modeling_{name}")
        text = getattr(config, "text_config", config)
        rotary = rotary_class(module)(text)
        layers = plan.get("layers")
        inv_freq = getattr(rotary, f"{layers}_inv_freq" if layers else "inv_freq").numpy()
        theta = np.array(plan["theta"])
        bound = (math.log(plan["spec"]["base"]) + 16) * UNIT
        self.assertEqual(inv_freq.shape, theta.shape)
        error = np.abs(inv_freq / theta - 1).max()
        self.assertLess(error, bound)

        axes = max(plan["axis"]) + 1
        positions = [[p + 3 * a * (p > 0) for p in POSITIONS] for a in range(axes)]
        ids = torch.tensor(positions)[:, None, :] if axes > 1 else torch.tensor(positions)
        if axes == 1 and name in ("qwen2_vl", "qwen3_vl"):
            ids = ids[None].expand(3, -1, -1)
        generator = torch.Generator().manual_seed(7)
        q = torch.randn(1, 2, len(POSITIONS), plan["spec"]["head_dim"], generator=generator)
        cos, sin = rotary(q, ids, layers) if layers else rotary(q, ids)
        y = self.applied(module, name, q, cos, sin)
        expected = turned(q[0].transpose(0, 1).numpy(), positions, plan)
        self.assertLess(np.abs(y - expected).max(), 1e-4 * plan["lambda"] * 8)

    def applied(self, module, name, q, cos, sin):
        if name == "gpt_oss":
            y, _ = module.apply_rotary_pos_emb(q, q, cos, sin)
        elif name == "deepseek_v3":
            y, _ = module.apply_rotary_pos_emb_interleave(q, q, cos, sin)
            half = y.shape[-1] // 2
            # The package leaves the first features of all pairs before the second ones, wherever they came from.
            y = torch.stack((y[..., :half], y[..., half:]), dim=-1).flatten(-2)
        elif name == "stablelm":
            part = cos.shape[-1]
            y, _ = module.apply_rotary_pos_emb(q[..., :part], q[..., :part], cos, sin)
            y = torch.cat((y, q[..., part:]), dim=-1)
        else:
            y, _ = module.apply_rotary_pos_emb(q, q, cos, sin)
        return y[0].transpose(0, 1).numpy()

    def test_models(self):
        for name, config_class, changes in MODELS:
            config = getattr(transformers, config_class)(**changes)
            for plan in plans_of(config):
                with self.subTest(model=config_class, layers=plan.get("layers"), changes=str(changes)[:60]):
                    self.check(name, config, plan)

    def test_a_wrong_plan_is_seen(self):
        config = transformers.LlamaConfig()
        plan = plans_of(config)[0]
        for change in ({"theta": [t * (1 + 1e-5) for t in plan["theta"]]}, {"lambda": 1.01},
                       {"first": plan["second"], "second": plan["first"]},
                       {"first": list(range(0, 128, 2)), "second": list(range(1, 128, 2))}):
            with self.assertRaises(AssertionError):
                self.check("llama", config, {**plan, **change})

    def test_an_unknown_type_names_the_known_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "config.json"
            file.write_text(json.dumps({"model_type": "llama", "head_dim": 64, "rope_scaling": {"rope_type": "spiral"}}))
            done = subprocess.run([str(BUILD / "ropecheck"), "plan", "--model-config", str(file)], capture_output=True,
                                  text=True, check=False)
        self.assertEqual(done.returncode, 2)
        for word in ("spiral", "llama3", "yarn", "longrope", "dynamic", str(file)):
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
