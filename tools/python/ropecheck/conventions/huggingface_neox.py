"""Hugging Face transformers: apply_rotary_pos_emb of gpt_neox, which turns the first rotary_dim features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import torch_rows
from ropecheck.conventions.heads_first import turned_heads_first


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """As `huggingface`, but the tables are rotary_dim wide, and the function copies the other features."""

    @kernel(
        array="torch",
        sources="tables",
        table_widths="full",
        tables="f32",
        pairings="half_split",
        features=("partial", "positions", "batch_positions", "offset", "key", "grouped_heads", "strided",
                  "attention_factor", "unequal_halves"),
    )
    def huggingface_neox(call: Call) -> Any:
        return turned_heads_first(function, call, *torch_rows(call))

    return huggingface_neox


CONVENTION = Convention(
    name="huggingface_neox",
    signature="apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1) -> (q, k), partial",
    example="transformers.models.gpt_neox.modeling_gpt_neox:apply_rotary_pos_emb",
    kernel=adapted,
)
