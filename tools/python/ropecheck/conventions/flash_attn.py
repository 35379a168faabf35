"""flash-attention: apply_rotary of flash_attn.ops.triton.rotary."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import positions_of

FEATURES = ("partial", "in_place", "offset", "key", "grouped_heads", "strided", "backward", "seqlen_offsets")


def _takes_packed_sequences(function: Callable[..., Any]) -> bool:
    try:
        return {"cu_seqlens", "max_seqlen"} <= inspect.signature(function).parameters.keys()
    except (TypeError, ValueError):
        return False


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """x is [batch, seq, heads, head_dim] at positions seqlen_offsets .. seqlen_offsets + seq - 1. If all batches start at
    one offset, q gets a number, k a tensor with one offset for each batch, so both forms are tested. A function that
    takes cu_seqlens and max_seqlen gets packed sequences, too; x is [seq, heads, head_dim] then. The tables have a
    column for each pair and x's dtype, as RotaryEmbedding of flash_attn.layers.rotary caches them. `conjugate` is the
    backward pass. The function refuses head dimensions above 256; it has neither f64 nor an attention factor."""
    import torch

    @kernel(
        array="torch",
        dtypes=("f32", "f16", "bf16"),
        sources="tables",
        table_widths="half",
        tables="f32",
        head_dims=range(2, 257, 2),
        features=(*FEATURES, "cu_seqlens") if _takes_packed_sequences(function) else FEATURES,
        first_call_seconds=60,
    )
    def flash_attn(call: Call) -> Any:
        positions_of(call)
        cos, sin = (table.to(call.dtype) for table in (call.cos, call.sin))
        how = {"interleaved": call.pairing == "interleaved", "inplace": call.in_place,
               "conjugate": call.direction == "backward"}
        sequences = call.q.shape[0]
        if call.cu_seqlens is not None:
            sequences = len(call.cu_seqlens) - 1
            longest = int((call.cu_seqlens[1:] - call.cu_seqlens[:-1]).max())
            how |= {"cu_seqlens": call.cu_seqlens, "max_seqlen": longest}
        each = call.seqlen_offsets
        one_for_all: Any = each
        if each is None:
            one_for_all = call.position_offset
            each = torch.full((sequences,), call.position_offset, dtype=torch.int32, device=call.q.device)

        def turned(x: Any, starts: Any) -> Any:
            if call.cu_seqlens is None:
                return function(x, cos, sin, seqlen_offsets=starts, **how)
            return function(x[0], cos, sin, seqlen_offsets=starts, **how)[None]

        q = turned(call.q, one_for_all)
        k = None if call.k is None else turned(call.k, each)
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
