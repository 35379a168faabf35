"""keras-hub: the layer RotaryEmbedding, with Keras on torch.

Each plan has one layer, as in a model, whose dtype is x's. Positions are given, or counted from start_index."""

import functools
import os

os.environ["KERAS_BACKEND"] = "torch"

import ropecheck  # noqa: E402
from keras_hub.layers import RotaryEmbedding  # noqa: E402


@functools.cache
def layer(base: float, factor: float, dtype: str) -> RotaryEmbedding:
    return RotaryEmbedding(max_wavelength=base, scaling_factor=factor, dtype=dtype)


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), sources="computed", scalings=("none", "linear"),
                  pairings="half_split",
                  features=("positions", "batch_positions", "offset", "key", "grouped_heads", "strided"))
def rope(call):
    made = layer(call.base, call.scaling.get("factor", 1.0), str(call.dtype).removeprefix("torch."))
    turned = [made(x, start_index=call.position_offset, positions=call.positions)
              for x in (call.q, call.k) if x is not None]
    return turned[0] if call.k is None else tuple(turned)
