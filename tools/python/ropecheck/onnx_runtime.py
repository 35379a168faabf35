"""The RotaryEmbedding operators of ONNX Runtime as functions: ai.onnx of opset 23, and com.microsoft. Each call runs a
model with only this node on the CPU, with the session's default options except for its threads."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

OPSET = 23
MICROSOFT = "com.microsoft"
IR_VERSION = 10  # for opset 23; a newer onnx would choose one that an older runtime refuses
TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.float64): TensorProto.DOUBLE,
    np.dtype(np.int64): TensorProto.INT64,
}


@functools.cache
def _session(domain: str, inputs: tuple[tuple[str, int, int], ...], attributes: tuple[tuple[str, float | int], ...]
             ) -> onnxruntime.InferenceSession:
    """A model with inputs of these names, types and ranks; every dimension is open."""
    node = helper.make_node("RotaryEmbedding", [name for name, _, _ in inputs], ["output"], domain=domain,
                            **dict(attributes))

    def value(name: str, kind: int, rank: int) -> Any:
        return helper.make_tensor_value_info(name, kind, [None] * rank)

    _, kind, rank = inputs[0] if inputs[0][0] == "input" else inputs[1]
    graph = helper.make_graph([node], "rope", [value(*one) for one in inputs], [value("output", kind, rank)])
    domains = [helper.make_opsetid("", OPSET)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised anyway
    options.intra_op_num_threads = min(os.cpu_count() or 1, 4)
    # Each model shape has a session, and its threads must not keep the cores busy between calls.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _run(domain: str, given: dict[str, Any], attributes: dict[str, float | int]) -> Any:
    arrays = {name: np.ascontiguousarray(array) for name, array in given.items()}
    inputs = tuple((name, TYPES[array.dtype], array.ndim) for name, array in arrays.items())
    return _session(domain, inputs, tuple(sorted(attributes.items()))).run(None, arrays)[0]


def rotary_embedding(input: Any, cos_cache: Any, sin_cache: Any, position_ids: Any = None, interleaved: int = 0,
                     rotary_embedding_dim: int = 0, num_heads: int = 0) -> Any:
    """ai.onnx: named after the operator's inputs and attributes."""
    given = {"input": input, "cos_cache": cos_cache, "sin_cache": sin_cache}
    if position_ids is not None:
        given["position_ids"] = position_ids
    return _run("", given, {"interleaved": interleaved, "rotary_embedding_dim": rotary_embedding_dim,
                            "num_heads": num_heads})


def microsoft_rotary_embedding(input: Any, position_ids: Any, cos_cache: Any, sin_cache: Any, interleaved: int = 0,
                               rotary_embedding_dim: int = 0, num_heads: int = 0) -> Any:
    """com.microsoft: named after the operator's inputs and attributes."""
    given = {"input": input, "position_ids": position_ids, "cos_cache": cos_cache, "sin_cache": sin_cache}
    return _run(MICROSOFT, given, {"interleaved": interleaved, "rotary_embedding_dim": rotary_embedding_dim,
                                   "num_heads": num_heads})
