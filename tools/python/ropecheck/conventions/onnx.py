"""ONNX: RotaryEmbedding of ai.onnx, opset 23, as a function. ropecheck.onnx_runtime has ONNX Runtime's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.given_tables import positions_of


def adapted(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """q goes in as [batch, heads, seq, head_dim] and k as [batch, seq, heads * head_dim], so both forms are tested.
    Given positions are passed as position_ids. Counted ones are not passed: the tables then have a row for each token.
    The tables have the input's dtype (the operator's type T) and include the attention factor. T allows bf16 too, but
    ONNX Runtime has no bf16 kernel on the CPU, and numpy has no bf16."""

    @kernel(
        array="numpy",
        dtypes=("f32", "f16"),
        sources="tables",
        table_widths="half",
        tables="f32",
        features=("partial", "positions", "batch_positions", "offset", "key", "grouped_heads", "strided",
                  "attention_factor"),
    )
    def onnx(call: Call) -> Any:
        cos, sin = ((table * np.float32(call.attention_factor)).astype(call.dtype) for table in (call.cos, call.sin))
        positions = None
        if call.positions is None:
            cos, sin = (table[positions_of(call)] for table in (cos, sin))
        else:
            positions = call.positions.astype(np.int64)
        partial = call.rotary_dim if call.rotary_dim != call.head_dim else 0
        how = {"interleaved": int(call.pairing == "interleaved"), "rotary_embedding_dim": partial}
        q = function(call.q.transpose(0, 2, 1, 3), cos, sin, positions, **how).transpose(0, 2, 1, 3)
        if call.k is None:
            return q
        batch, seq, heads, head_dim = call.k.shape
        k = function(call.k.reshape(batch, seq, heads * head_dim), cos, sin, positions, num_heads=heads, **how)
        return q, k.reshape(call.k.shape)

    return onnx


CONVENTION = Convention(
    name="onnx",
    signature="rotary_embedding(input, cos_cache, sin_cache, position_ids=None, interleaved=0, rotary_embedding_dim=0, "
    "num_heads=0) -> output",
    example="ropecheck.onnx_runtime:rotary_embedding",
    kernel=adapted,
)
