"""Hugging Face transformers: apply_rotary_pos_emb of gptj and codegen, for one tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import torch_rows


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """The tensor is [batch, seq, heads, rotary_dim]: the attention layer cuts it out and joins it again. This does the
    same. sin comes before cos; both have a column a pair and the tensor's dtype. There is no attention factor."""

    import torch

    @kernel(
        array="torch",
        sources="tables",
        table_widths="half",
        tables="f32",
        pairings="interleaved",
        features=("partial", "positions", "batch_positions", "offset", "key", "grouped_heads", "strided"),
    )
    def huggingface_gptj(call: Call) -> Any:
        cos, sin = torch_rows(call)
        turned = [
            torch.cat([function(x[..., : call.rotary_dim], sin, cos), x[..., call.rotary_dim :]], -1)
            for x in (call.q, call.k)
            if x is not None
        ]
        return turned[0] if call.k is None else tuple(turned)

    return huggingface_gptj


CONVENTION = Convention(
    name="huggingface_gptj",
    signature="apply_rotary_pos_emb(tensor, sin, cos) -> tensor",
    example="transformers.models.gptj.modeling_gptj:apply_rotary_pos_emb",
    kernel=adapted,
)
