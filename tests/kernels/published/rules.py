"""The rope tests of other projects, in one table: where they are, what they try, and what they accept.

The facts were read in the named repositories; no code was copied. `reduced` says how a row here is smaller than in the
test. Random numbers are drawn anew, so a row is of the same kind as in the test, but not the same."""

from dataclasses import dataclass
from typing import Callable

from published import flash_attention, flashinfer, ggml, liger, onnx_nodes, transformer_engine, vllm
from published.draws import DRAWS, covering, generator


@dataclass
class Test:
    name: str
    build: Callable  # (row, dtype, generator, tolerance) -> Case
    parameters: dict
    rows: int  # in all draws together


@dataclass
class Rule:
    name: str
    source: str  # repository, path
    tests: list
    tolerance: dict  # dtype: the argument of `build`; the keys are the columns, in the order of the run
    comparison: str
    angles: str
    largest_position: int
    inputs: str
    reduced: str
    dtypes: dict = None  # test: its dtypes, if tests have different ones

    def columns(self):
        return [f"{self.name} {dtype}" for dtype in self.tolerance]

    def cases(self, dtype, draw):
        """The cases of one draw, made anew: calls write into their arrays."""
        for test in self.tests:
            if self.dtypes and dtype not in self.dtypes[test.name]:
                continue
            for number, row in enumerate(rows_of(self, test, dtype)[draw::DRAWS]):
                stream = generator(self.name, test.name, dtype, draw, number)
                yield test.build(row, dtype, stream, self.tolerance[dtype])


def rows_of(rule, test, dtype):
    """The rows of all draws, unordered; draw d takes every eighth from the d-th on."""
    key = (rule.name, test.name, dtype)
    if key not in ROWS:
        ROWS[key] = new_rows(*key, test)
    return ROWS[key]


def new_rows(rule, name, dtype, test):
    if test.parameters == "grid":
        rows = [row for of, row in ggml.grid() if of == dtype]
        return [rows[i] for i in generator("grid", dtype).permutation(len(rows))]
    return covering(test.parameters, test.rows, rule, name, dtype)


ROWS = {}
BOTH = [False, True]
FLASHINFER_CONFIGURATIONS = [
    # head_dim, rotary_dim, positions, base, half-split, batch, seq, query heads, key heads
    (64, 64, 32, 8000, True, 32, 32, 1, 1),
    (256, 128, 4096, 10000, True, 2, 512, 4, 2),
    (64, 32, 2048, 8432, True, 2, 199, 4, 1),
    (64, 64, 32, 8000, False, 32, 32, 1, 1),
    (256, 128, 4096, 9231, False, 3, 231, 4, 2),
    (192, 128, 4096, 9231, True, 3, 231, 3, 2),
    (80, 64, 1024, 10000, False, 4, 64, 2, 2),
    (112, 64, 2048, 12000, True, 5, 77, 2, 1),
    (160, 96, 8192, 10000, False, 2, 128, 6, 3),
]
FLASHINFER_COMMON = {
    "num_qo_heads": [8, 16],
    "offset": [0, 15, 99],
    "version": ["llama", "llama31"],
    "partial": [0.25, 0.5, 0.75, 1.0],
    "inplace": BOTH,
}
FLASH_ATTENTION_COMMON = {"interleaved": BOTH, "fraction": [1.0, 0.5], "offsets": ["none", "int", "tensor"]}
TRANSFORMER_ENGINE_COMMON = {
    "hidden_size": [128, 256],
    "percent": [0.5, 1.0],
    "loss": ["overlapping", "non_overlapping"],
    "interleaved": BOTH,
}

RULES = [
    Rule(
        name="vLLM",
        source="vllm-project/vllm tests/kernels/core/test_pos_encoding.py, tests/kernels/allclose_default.py",
        tests=[
            Test(
                "test_rotary_embedding",
                vllm.rotary_embedding,
                {
                    "neox": BOTH,
                    "shape": ["batch", "flat", "padded"],
                    "seq_len": [11, 8192],
                    "head_size": [64, 80, 120, 256],
                    "rotary_dim": [None, 32],
                    "use_key": BOTH,
                },
                16,
            )
        ],
        tolerance={"bf16": (1.6e-2, 1e-3), "f32": (1.3e-6, 1e-5)},
        comparison="torch.testing.assert_close(rtol, atol) of query and key, in place",
        angles="tables: one cache for both sides, in the dtype of the tensors, cos and sin side by side; base 10000",
        largest_position=8191,
        inputs="normal; positions uniform in 0 .. 8191, int64, other ones in each batch",
        reduced="heads 17 to 3, 8192 tokens to 256 of the same positions. The test's bf16 reference rounds every "
        "operation to bf16, which rejects every kernel that rounds once (0.5 % of the results are too far off); here "
        "it rounds once, as vLLM's newer CUDA kernel does",
    ),
    Rule(
        name="flash-attention",
        source="Dao-AILab/flash-attention tests/test_rotary.py",
        tests=[
            Test(
                "test_rotary_emb_func", flash_attention.emb_func, {**FLASH_ATTENTION_COMMON, "inplace": BOTH}, 16
            ),
            Test("test_rotary_emb_qkv", flash_attention.emb_qkv, {**FLASH_ATTENTION_COMMON, "gqa": BOTH}, 8),
            Test("test_rotary_emb_kv", flash_attention.emb_kv, FLASH_ATTENTION_COMMON, 8),
            Test(
                "test_rotary_emb_varlen_func",
                flash_attention.varlen_func,
                {**FLASH_ATTENTION_COMMON, "inplace": BOTH},
                8,
            ),
        ],
        tolerance={"f16": 1e-3, "bf16": 1e-3},
        comparison="torch.allclose(rtol; atol twice the error of + 0.3 - 0.3 in the dtype) of output and gradient, "
        "out of place the input bit for bit; reference in f32, rounded once",
        angles="tables: random angles in a full turn, for both sides, in the dtype of the tensors",
        largest_position=1561,
        inputs="normal; offsets 0, one, or one for each batch, up to the length",
        reduced="batch 32 to 1 .. 4, heads 4 to 2 (of keys with fewer heads 2 to 1)",
    ),
    Rule(
        name="Liger-Kernel",
        source="linkedin/Liger-Kernel test/transformers/test_rope.py",
        tests=[
            Test(
                "test_correctness",
                liger.correctness,
                {"shape": list(liger.REDUCED), "expand_position_ids": BOTH},
                16,
            )
        ],
        tolerance={"f32": (1e-5, 1e-5), "bf16": (1e-5, 1e-1)},
        comparison="torch.allclose(rtol, atol) of q, k and their gradients; reference rounds every operation to the "
        "dtype",
        angles="tables: full width, for both sides, in the dtype of the tensors; base 10000",
        largest_position=422,
        inputs="normal; positions 0, 1, 2, ..",
        reduced="heads 32 to 4 and 8 to 1, 73 with 213 to 1 with 3, 73 with 155 to 1 with 2; "
        "test_functional_correctness compares the kernel with itself and is left out",
    ),
    Rule(
        name="llama.cpp",
        source="ggml-org/llama.cpp tests/test-backend-ops.cpp (test_rope)",
        tests=[Test("test_rope", ggml.rope, "grid", 0)],
        tolerance={"f32": 1e-7, "f16": 1e-7},
        comparison="NMSE of the output of ROPE or ROPE_BACK against ggml's CPU, finite, sentinels bit for bit",
        angles="computed: base 10000, linear or with a factor for each pair; frequencies for yarn with ext_factor and "
        "for images",
        largest_position=511,
        inputs="uniform in -1 .. 1; two or four tokens, positions uniform in 0 .. 511, int32, up to three axes",
        reduced="nothing: every case once, an eighth of them in each draw",
    ),
    Rule(
        name="TransformerEngine",
        source="NVIDIA/TransformerEngine tests/pytorch/test_fused_rope.py",
        tests=[
            Test(
                "test_fused_rope",
                transformer_engine.fused_rope,
                {
                    "starts, cp_size, margin": [
                        (False, 1, 0),
                        (False, 1, 10),
                        (False, 2, 0),
                        (False, 2, 10),
                        (True, 1, 10),
                    ],
                    "seq_length": [2048, 4096],
                    "transpose": [None, (0, 1), (2, 3)],
                    "format": ["sbhd", "bshd"],
                    **TRANSFORMER_ENGINE_COMMON,
                },
                16,
            ),
            Test(
                "test_fused_rope_thd",
                transformer_engine.fused_rope_thd,
                {
                    "starts, cp_size": [(False, 1), (False, 2), (True, 1)],
                    "transpose": [None, (1, 2)],
                    **TRANSFORMER_ENGINE_COMMON,
                },
                8,
            ),
        ],
        tolerance={"f32": (1.3e-6, 1e-5), "bf16": (1.6e-2, 1e-5), "f16": (1e-3, 1e-5)},
        comparison="torch.testing.assert_close (its defaults) of output and gradient; reference in f32, rounded once",
        angles="tables in f32: the op is given the angles and takes cos and sin itself; base 10000",
        largest_position=8191,
        inputs="uniform in 0 .. 1, one tensor; gradients all 1 or all 2; positions 0, 1, 2, .., from a start of each "
        "batch, or those of one of two ranks",
        reduced="heads 64 to 2 where they are transposed with head_dim, else to 1; one rank of two",
    ),
    Rule(
        name="ONNX",
        source="onnx/onnx onnx/backend/test/case/node/rotaryembedding.py, onnx/backend/test/loader/__init__.py",
        tests=[
            Test(
                "RotaryEmbedding",
                onnx_nodes.node,
                {
                    "layout": ["heads first", "tokens first"],
                    "interleaved": BOTH,
                    "rotary_dim": [None, 4],
                    "position_ids": BOTH,
                },
                64,
            )
        ],
        tolerance={"f32": (1e-3, 1e-7)},
        comparison="numpy assert_allclose(rtol, atol) of the output; reference in f32",
        angles="tables: random numbers in 0 .. 1 in the place of cos and sin, for both sides",
        largest_position=49,
        inputs="uniform in 0 .. 1, [2, 4, 3, 8] or [2, 3, 32]; positions uniform in 0 .. 49, int64, or a table row for "
        "each token",
        reduced="nothing; the test keeps one draw for ever",
    ),
    Rule(
        name="flashinfer",
        source="flashinfer-ai/flashinfer tests/attention/test_rope.py, tests/test_helpers/rope_reference.py",
        tests=[
            Test(
                "test_rope",
                flashinfer.rope,
                {
                    "batch_size, qkv_len, head_dim": [
                        (1, 1, 64),
                        (1, 204, 256),
                        (19, 19, 128),
                        (19, 204, 128),
                        (99, 4, 256),
                        (99, 19, 64),
                        (989, 1, 128),
                        (989, 4, 64),
                    ],
                    **FLASHINFER_COMMON,
                },
                32,
            ),
            Test(
                "test_rope_pos_ids",
                flashinfer.rope_pos_ids,
                {
                    "batch_size, qkv_len, head_dim": [
                        (1, 1, 256),
                        (1, 204, 128),
                        (19, 19, 256),
                        (99, 4, 64),
                        (99, 19, 128),
                        (989, 1, 256),
                        (989, 4, 128),
                    ],
                    "interleave": BOTH,
                    "idtype": ["int32", "int64"],
                    **FLASHINFER_COMMON,
                },
                32,
            ),
            Test(
                "test_rope_pos_ids, many tokens",
                flashinfer.rope_pos_ids,
                {
                    "batch_size, qkv_len, head_dim": [(330, 204, 64)],
                    "interleave": [True],
                    "idtype": ["int32"],
                    **{name: values[:1] for name, values in FLASHINFER_COMMON.items()},
                },
                1,
            ),
            Test("test_rope_cos_sin_cache", flashinfer.cos_sin_cache, {"configuration": FLASHINFER_CONFIGURATIONS}, 16),
        ],
        tolerance={"f16": (1e-3, 1e-3), "bf16": (1e-2, 1e-2)},
        comparison="torch.testing.assert_close(rtol, atol) of q and k; reference in f32, rounded once",
        angles="f16 computed: base 10000, or 500000 with llama3; bf16 tables in f32 for both sides",
        largest_position=511,
        inputs="normal, packed q, k and v; positions from one offset, or listed",
        reduced="heads 8 to 1 and 16 to 2; batch 989 to 330 with 204 tokens (still above 65,535 together), and only in "
        "test_rope_pos_ids; tests with results in 8 bits are left out: the contract has no such dtype",
        dtypes={
            "test_rope": ["f16"],
            "test_rope_pos_ids": ["f16"],
            "test_rope_pos_ids, many tokens": ["f16"],
            "test_rope_cos_sin_cache": ["bf16"],
        },
    ),
]
