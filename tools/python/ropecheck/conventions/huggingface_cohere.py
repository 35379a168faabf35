"""Hugging Face transformers: apply_rotary_pos_emb of cohere, whose pairs are interleaved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import torch_rows
from ropecheck.conventions.heads_first import turned_heads_first


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """As `huggingface`, but each column of the tables appears twice in succession, as in CohereRotaryEmbedding. The
    function computes in f32, so f64 is not claimed."""

    @kernel(
        array="torch",
        dtypes=("f32", "f16", "bf16"),
        sources="tables",
        table_widths="half",
        tables="f32",
        pairings="interleaved",
        features=("positions", "batch_positions", "offset", "key", "grouped_heads", "strided", "attention_factor"),
    )
    def huggingface_cohere(call: Call) -> Any:
        cos, sin = (table.repeat_interleave(2, -1) for table in torch_rows(call))
        return turned_heads_first(function, call, cos, sin)

    return huggingface_cohere


CONVENTION = Convention(
    name="huggingface_cohere",
    signature="apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1) -> (q, k), interleaved",
    example="transformers.models.cohere.modeling_cohere:apply_rotary_pos_emb",
    kernel=adapted,
)
