"""MLX: mx.fast.rope on the CPU.

It takes one offset, or one for each batch, and x as [batch, heads, seq, features]. `traditional` means interleaved.
Angles come from base and scale, and are f32."""

import ml_dtypes
import mlx.core as mx
import numpy as np
import ropecheck

mx.set_default_device(mx.cpu)


def to_mlx(x):
    """bf16 travels as its bits."""
    x = np.ascontiguousarray(x.transpose(0, 2, 1, 3))
    return mx.array(x.view(np.uint16)).view(mx.bfloat16) if x.dtype == ml_dtypes.bfloat16 else mx.array(x)


def to_numpy(y):
    array = np.array(y.view(mx.uint16)).view(ml_dtypes.bfloat16) if y.dtype == mx.bfloat16 else np.array(y)
    return array.transpose(0, 2, 1, 3)


@ropecheck.kernel(array="numpy", dtypes=("f32", "f16", "bf16"), sources="computed", scalings=("none", "linear"),
                  features=("partial", "offset", "seqlen_offsets", "key", "grouped_heads"))
def rope(call):
    offset = call.position_offset if call.seqlen_offsets is None else mx.array(call.seqlen_offsets.astype(np.int32))
    turned = [to_numpy(mx.fast.rope(to_mlx(x), call.rotary_dim, traditional=call.pairing == "interleaved",
                                    base=call.base, scale=1 / call.scaling.get("factor", 1.0), offset=offset))
              for x in (call.q, call.k) if x is not None]
    return turned[0] if call.k is None else tuple(turned)
