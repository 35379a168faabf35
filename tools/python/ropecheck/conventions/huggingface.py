"""Hugging Face transformers: apply_rotary_pos_emb of llama and of the many models that copy it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import torch_rows
from ropecheck.conventions.heads_first import turned_heads_first


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """q and k are [batch, heads, seq, head_dim]. cos and sin are full-width, in q's dtype, a row for each token. They
    include the attention factor, as in LlamaRotaryEmbedding."""

    @kernel(
        array="torch",
        sources="tables",
        table_widths="full",
        tables="f32",
        pairings="half_split",
        features=("positions", "batch_positions", "offset", "key", "grouped_heads", "strided", "attention_factor",
                  "unequal_halves"),
    )
    def huggingface(call: Call) -> Any:
        return turned_heads_first(function, call, *torch_rows(call))

    return huggingface


CONVENTION = Convention(
    name="huggingface",
    signature="apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1) -> (q, k)",
    example="transformers.models.llama.modeling_llama:apply_rotary_pos_emb",
    kernel=adapted,
)
