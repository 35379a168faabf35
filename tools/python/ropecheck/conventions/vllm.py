"""vLLM: the operator rotary_embedding, which torch.ops._C has and vllm._custom_ops wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import positions_of


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """query and key are [tokens, heads * head_size] and are written to, as in vLLM's models: tensors of their own, or
    two slices of one buffer of query, key and value. The cache has cos and sin in one row, in query's dtype, as
    RotaryEmbedding._match_cos_sin_cache_dtype makes it. It includes the attention factor, as it includes YaRN's mscale.
    There is no f64. Tensors are aligned as by torch's allocator."""
    import torch

    def rows_of(x: Any) -> Any:
        return None if x is None else x.flatten(0, 1).flatten(1)

    @kernel(
        array="torch",
        dtypes=("f32", "f16", "bf16"),
        sources="tables",
        table_widths="half",
        tables="f32",
        alignment=64,
        features=("partial", "positions", "batch_positions", "in_place", "key", "grouped_heads", "attention_factor"),
        required_features=("positions", "in_place"),
        layouts=("contiguous", "packed"),
    )
    def vllm(call: Call) -> None:
        cache = torch.cat([(table * call.attention_factor).to(call.dtype) for table in (call.cos, call.sin)], -1)
        positions = positions_of(call).long().flatten().contiguous()  # one row for all batches is a view
        function(positions, rows_of(call.q), rows_of(call.k), call.head_dim, cache, call.pairing == "half_split")

    return vllm


CONVENTION = Convention(
    name="vllm",
    signature="rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox) -> None",
    example="vllm._custom_ops:rotary_embedding",
    kernel=adapted,
)
