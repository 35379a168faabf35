"""vLLM: the operator rotary_embedding, which torch.ops._C has and vllm._custom_ops wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import positions_of


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """query and key are [tokens, heads * head_size] and are written to. Out of place they are two slices of one buffer
    of query, key and value, as in vLLM's models: rows are further apart than they are long. In place they are the
    call's own memory. The cache has cos and sin in one row, in query's dtype, as
    RotaryEmbedding._match_cos_sin_cache_dtype makes it. It includes the attention factor, as it includes YaRN's mscale.
    There is no f64. Tensors are aligned as by torch's allocator."""
    import torch

    def rows_of(x: Any) -> Any:
        return x.reshape(x.shape[0] * x.shape[1], x.shape[2] * x.shape[3])

    def in_one_buffer(q: Any, k: Any) -> tuple[Any, Any]:
        value = torch.zeros_like(rows_of(q if k is None else k))
        parts = [rows_of(x) for x in (q, k) if x is not None]
        rows = torch.cat([*parts, value], -1).split([x.shape[1] for x in (*parts, value)], -1)
        return rows[0], None if k is None else rows[1]

    @kernel(
        array="torch",
        dtypes=("f32", "f16", "bf16"),
        sources="tables",
        table_widths="half",
        tables="f32",
        alignment=64,
        features=("partial", "positions", "batch_positions", "in_place", "offset", "key", "grouped_heads", "strided",
                  "attention_factor"),
    )
    def vllm(call: Call) -> Any:
        cache = torch.cat([(table * call.attention_factor).to(call.dtype) for table in (call.cos, call.sin)], -1)
        positions = positions_of(call).long().flatten().contiguous()
        given = (call.q, call.k)
        of_the_call = call.in_place and all(x is None or x.is_contiguous() for x in given)
        if of_the_call:
            query, key = (None if x is None else rows_of(x) for x in given)
        else:
            query, key = in_one_buffer(*given)
        function(positions, query, key, call.head_dim, cache, call.pairing == "half_split")
        if of_the_call:
            return None
        q, k = (None if x is None else rows.reshape(x.shape) for rows, x in zip((query, key), given, strict=True))
        if call.in_place:
            for x, turned in zip(given, (q, k), strict=True):
                if x is not None:
                    x.copy_(turned)
            return None
        return q if k is None else (q, k)

    return vllm


CONVENTION = Convention(
    name="vllm",
    signature="rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox) -> None",
    example="vllm._custom_ops:rotary_embedding",
    kernel=adapted,
)
