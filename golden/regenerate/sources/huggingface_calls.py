"""Hugging Face's Llama: several calls of one rotary module, whose rule follows the length. Each call is a case."""

from collections.abc import Iterator

import torch
from transformers.models.llama import modeling_llama as llama

from case import Case, Deferred, deferred, spec

from .huggingface_case import llama_module, new_case, run

PAIRS = 32


class Calls:
    """One module, and the id of the case that it answered last."""

    def __init__(self, name: str, rule: dict, parameters: dict, longest: int, c: float) -> None:
        self.name, self.rule, self.parameters, self.longest, self.c = name, rule, parameters, longest, c
        self.module: llama.LlamaRotaryEmbedding | None = None
        self.last: str | None = None

    @deferred
    def call(self, number: int, description: str, positions: list[int], dtype: str = "f32") -> Case:
        case = new_case(
            f"llama/{self.name}-{number}",
            "llama.modeling_llama.apply_rotary_pos_emb",
            f"Call {number} of one module: {description}",
            spec(2 * PAIRS, "half_split", scaling=self.rule),
            dtype,
            self.c,
        )
        if number == 1:
            self.module, self.last = llama_module(2 * PAIRS, self.parameters, self.longest), None
        case.after, self.last = self.last, case.id
        return run(case, self.module, llama.apply_rotary_pos_emb, torch.tensor([positions]))


def cases() -> Iterator[Deferred]:
    rule = {"factor": 2, "original_max_position_embeddings": 256}
    calls = Calls("dynamic-calls", {"kind": "dynamic"} | rule, {"rope_type": "dynamic", "factor": 2.0}, 256, 7.0)
    kept = "keeps the frequencies of the longest call so far, not the frequencies of its own length"
    yield calls.call(1, "200 tokens, below the original length", [0, 1, 100, 199])
    yield calls.call(2, "512 tokens, beyond it", [0, 1, 256, 511])
    yield calls.call(3, "300 tokens, beyond it but fewer than before", [0, 1, 256, 299]).deviates(
        kept, "other_sequence_length", sequence_length=512
    )
    yield calls.call(4, "100 tokens, below it again", [0, 1, 50, 99])
    yield calls.call(5, "1024 tokens in bf16", [0, 1, 512, 1023], "bf16")
    yield calls.call(6, "1024 tokens in f32: the frequencies do not depend on the dtype of the call before", [0, 1, 512, 1023])

    rule = {
        "factor": 4,
        "original_max_position_embeddings": 1024,
        "short_factor": [1.0 + i / 32 for i in range(PAIRS)],
        "long_factor": [1.0 + i / 2 for i in range(PAIRS)],
    }
    calls = Calls("longrope-calls", {"kind": "longrope"} | rule, {"rope_type": "longrope"} | rule, 4096, 8.0)
    yield calls.call(1, "500 tokens: short factors", [0, 1, 7, 499])
    yield calls.call(2, "2048 tokens: long factors", [0, 1, 7, 2047])
    yield calls.call(3, "1024 tokens, the original length: short factors again", [0, 1, 7, 1023])
    yield calls.call(4, "1025 tokens in f16: long factors", [0, 1, 7, 1024], "f16")
    yield calls.call(5, "500 tokens in bf16: short factors", [0, 1, 7, 499], "bf16")
