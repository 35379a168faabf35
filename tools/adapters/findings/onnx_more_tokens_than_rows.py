"""ONNX Runtime's RotaryEmbedding (ai.onnx 23) refuses position_ids for more tokens than the tables have rows, even if
each position has its row.

In the standard, cos_cache and sin_cache have max_position_id_plus_1 rows. It does not limit the number of tokens, which
may share positions: left padding with position 0, or the image tokens of one position.
"""

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
inputs = {"X": FLOAT, "cos_cache": FLOAT, "sin_cache": FLOAT, "position_ids": INT64}
node = helper.make_node("RotaryEmbedding", list(inputs), ["Y"])
ranks = {"X": 4, "cos_cache": 2, "sin_cache": 2, "position_ids": 2}
graph = helper.make_graph(
    [node], "rope",
    [helper.make_tensor_value_info(name, kind, [None] * ranks[name]) for name, kind in inputs.items()],
    [helper.make_tensor_value_info("Y", FLOAT, [None] * 4)])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

positions = np.array([[0, 0, 0, 1]])  # padded on the left
angles = np.arange(2, dtype=np.float32)[:, None] * np.array([1.0, 0.01], np.float32)
cos, sin = np.cos(angles), np.sin(angles)
x = np.ones((1, 1, 4, 4), np.float32)
a, b = x[..., :2], x[..., 2:]
c, s = cos[positions][:, None], sin[positions][:, None]
expected = np.concatenate([a * c - b * s, b * c + a * s], -1)
try:
    actual = session.run(None, {"X": x, "cos_cache": cos, "sin_cache": sin, "position_ids": positions})[0]
except Exception as error:
    print(f"expected: {expected[0, 0].tolist()}\nactual: {str(error).splitlines()[0]}")
    sys.exit(1)
same = np.allclose(actual, expected, atol=1e-6)
print(f"expected: {expected[0, 0].tolist()}\nactual: {actual[0, 0].tolist()}")
sys.exit(0 if same else 1)
