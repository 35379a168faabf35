"""Hugging Face transformers: apply_rotary_pos_emb of glm, whose pairs are interleaved and whose tables are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import torch_rows
from ropecheck.conventions.heads_first import turned_heads_first


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """As `huggingface`, with pairs (2p, 2p + 1). GlmRotaryEmbedding gives the columns twice, one half after the other.
    The function reads the first half, and copies the features from rotary_dim on."""

    import torch

    @kernel(
        array="torch",
        sources="tables",
        table_widths="half",
        tables="f32",
        pairings="interleaved",
        features=("partial", "positions", "batch_positions", "offset", "key", "grouped_heads", "strided",
                  "attention_factor"),
    )
    def huggingface_glm(call: Call) -> Any:
        cos, sin = (torch.cat([table, table], -1) for table in torch_rows(call))
        return turned_heads_first(function, call, cos, sin)

    return huggingface_glm


CONVENTION = Convention(
    name="huggingface_glm",
    signature="apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1) -> (q, k), interleaved, partial",
    example="transformers.models.glm.modeling_glm:apply_rotary_pos_emb",
    kernel=adapted,
)
