"""ONNX Runtime's own RotaryEmbedding, domain com.microsoft, as a function: ropecheck.onnx_runtime has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """As `onnx`, but position_ids always exist: counted positions pass the first one, of shape (1). A partial rotation
    needs num_heads in both forms. The attribute `scale` is for tables that the operator makes itself, which the CPU
    does not; is_packed_batching is another layout. Both stay at their defaults. The tables have max_sequence_length
    rows, so never fewer than tokens. If positions repeat, rows that nobody asks for are added."""

    @kernel(
        array="numpy",
        dtypes=("f32", "f16"),
        sources="tables",
        table_widths="half",
        tables="f32",
        features=("partial", "positions", "batch_positions", "offset", "key", "grouped_heads", "strided",
                  "attention_factor"),
    )
    def onnx_microsoft(call: Call) -> Any:
        missing = max(call.q.shape[1] - call.cos.shape[0], 0)
        cos, sin = (
            np.pad((table * np.float32(call.attention_factor)).astype(call.dtype), ((0, missing), (0, 0)))
            for table in (call.cos, call.sin)
        )
        positions = np.array([call.position_offset]) if call.positions is None else call.positions.astype(np.int64)
        partial = call.rotary_dim if call.rotary_dim != call.head_dim else 0
        how = {"interleaved": int(call.pairing == "interleaved"), "rotary_embedding_dim": partial}
        heads = call.q.shape[2] if partial else 0
        q = function(call.q.transpose(0, 2, 1, 3), positions, cos, sin, num_heads=heads, **how).transpose(0, 2, 1, 3)
        if call.k is None:
            return q
        batch, seq, heads, head_dim = call.k.shape
        k = function(call.k.reshape(batch, seq, heads * head_dim), positions, cos, sin, num_heads=heads, **how)
        return q, k.reshape(call.k.shape)

    return onnx_microsoft


CONVENTION = Convention(
    name="onnx_microsoft",
    signature="rotary_embedding(input, position_ids, cos_cache, sin_cache, interleaved=0, rotary_embedding_dim=0, "
    "num_heads=0) -> output",
    example="ropecheck.onnx_runtime:microsoft_rotary_embedding",
    kernel=adapted,
)
