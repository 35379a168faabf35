"""With the inputs and attributes of RotaryEmbedding, ONNX opset 23, in numpy."""

import numpy as np


def turned(x, cos, sin, rotary_dim, interleaved, joined_interleaved=None):
    """x: [batch, seq, heads, head_size], cos and sin: [batch or 1, seq, rotary_dim / 2]"""
    rot, rest = x[..., :rotary_dim].astype(np.float32), x[..., rotary_dim:]
    cos, sin = cos[:, :, None, :].astype(np.float32), sin[:, :, None, :].astype(np.float32)
    x1, x2 = (rot[..., 0::2], rot[..., 1::2]) if interleaved else np.split(rot, 2, axis=-1)
    real, imag = cos * x1 - sin * x2, sin * x1 + cos * x2
    if interleaved if joined_interleaved is None else joined_interleaved:
        rot = np.stack([real, imag], axis=-1).reshape(rot.shape)
    else:
        rot = np.concatenate([real, imag], axis=-1)
    return np.concatenate([rot.astype(x.dtype), rest], axis=-1)


def heads_last(input, num_heads):
    """[batch, seq, heads, head_size]"""
    if input.ndim == 4:
        return input.transpose(0, 2, 1, 3)
    batch, seq, hidden = input.shape
    return input.reshape(batch, seq, num_heads, hidden // num_heads)


def as_given(y, input):
    return y.transpose(0, 2, 1, 3) if input.ndim == 4 else y.reshape(input.shape)


def of_positions(position_ids, *tables):
    return tables if position_ids is None else tuple(table[position_ids] for table in tables)


def rope(input, cos_cache, sin_cache, position_ids=None, interleaved=0, rotary_embedding_dim=0, num_heads=0):
    x = heads_last(input, num_heads)
    cos, sin = of_positions(position_ids, cos_cache, sin_cache)
    return as_given(turned(x, cos, sin, rotary_embedding_dim or x.shape[-1], interleaved), input)


def not_transposed(input, cos_cache, sin_cache, position_ids=None, interleaved=0, rotary_embedding_dim=0, num_heads=0):
    x = input
    if x.ndim == 3:
        x = x.reshape(x.shape[0], num_heads, x.shape[1], x.shape[2] // num_heads)
    x = x.transpose(0, 2, 1, 3)
    cos, sin = of_positions(position_ids, cos_cache, sin_cache)
    y = turned(x, cos, sin, rotary_embedding_dim or x.shape[-1], interleaved)
    return y.transpose(0, 2, 1, 3).reshape(input.shape)


def written_half_after_half(
    input, cos_cache, sin_cache, position_ids=None, interleaved=0, rotary_embedding_dim=0, num_heads=0
):
    x = heads_last(input, num_heads)
    cos, sin = of_positions(position_ids, cos_cache, sin_cache)
    return as_given(turned(x, cos, sin, rotary_embedding_dim or x.shape[-1], interleaved, False), input)


def first_batch_for_all(
    input, cos_cache, sin_cache, position_ids=None, interleaved=0, rotary_embedding_dim=0, num_heads=0
):
    first = None if position_ids is None else position_ids[:1]
    return rope(input, cos_cache, sin_cache, first, interleaved, rotary_embedding_dim, num_heads)
