"""flash-attention: apply_rotary of flash_attn.ops.triton.rotary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import positions_of


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """x is [batch, seq, heads, head_dim] at positions seqlen_offsets .. seqlen_offsets + seq - 1. q gets a number, k a
    tensor with one offset for each batch, so both forms are tested. The tables have a column for each pair and x's
    dtype, as RotaryEmbedding of flash_attn.layers.rotary caches them. `conjugate` is the backward pass. The function
    refuses head dimensions above 256; it has neither f64 nor an attention factor."""
    import torch

    @kernel(
        array="torch",
        dtypes=("f32", "f16", "bf16"),
        sources="tables",
        table_widths="half",
        tables="f32",
        head_dims=range(2, 257, 2),
        features=("partial", "in_place", "offset", "key", "grouped_heads", "strided", "backward"),
        first_call_seconds=60,
    )
    def flash_attn(call: Call) -> Any:
        positions_of(call)
        cos, sin = (table.to(call.dtype) for table in (call.cos, call.sin))
        starts = torch.full((call.q.shape[0],), call.position_offset, dtype=torch.int32, device=call.q.device)
        how = {"interleaved": call.pairing == "interleaved", "inplace": call.in_place,
               "conjugate": call.direction == "backward"}
        q = function(call.q, cos, sin, seqlen_offsets=call.position_offset, **how)
        k = None if call.k is None else function(call.k, cos, sin, seqlen_offsets=starts, **how)
        if call.in_place:
            return None
        return q if k is None else (q, k)

    return flash_attn


CONVENTION = Convention(
    name="flash_attn",
    signature="apply_rotary(x, cos, sin, seqlen_offsets=0, interleaved=False, inplace=False, conjugate=False) -> x",
    example="flash_attn.ops.triton.rotary:apply_rotary",
    kernel=adapted,
)
