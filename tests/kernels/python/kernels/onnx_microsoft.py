"""With the inputs and attributes of com.microsoft's RotaryEmbedding, in numpy."""

import numpy as np

from .onnx import turned


def heads_last(input, cos_cache, num_heads):
    """[batch, seq, heads, head_size]"""
    if input.ndim == 4:
        return input.transpose(0, 2, 1, 3)
    batch, seq, hidden = input.shape
    head_size = hidden // num_heads if num_heads else 2 * cos_cache.shape[1]
    return input.reshape(batch, seq, hidden // head_size, head_size)


def rope(input, position_ids, cos_cache, sin_cache, interleaved=0, rotary_embedding_dim=0, num_heads=0):
    x = heads_last(input, cos_cache, num_heads)
    if position_ids.ndim == 1:
        position_ids = np.broadcast_to(position_ids[:, None] + np.arange(x.shape[1]), x.shape[:2])
    y = turned(x, cos_cache[position_ids], sin_cache[position_ids], rotary_embedding_dim or x.shape[-1], interleaved)
    return y.transpose(0, 2, 1, 3) if input.ndim == 4 else y.reshape(input.shape)


def offset_ignored(input, position_ids, cos_cache, sin_cache, interleaved=0, rotary_embedding_dim=0, num_heads=0):
    x = heads_last(input, cos_cache, num_heads)
    if position_ids.ndim == 1:
        position_ids = np.broadcast_to(np.arange(x.shape[1]), x.shape[:2])
    y = turned(x, cos_cache[position_ids], sin_cache[position_ids], rotary_embedding_dim or x.shape[-1], interleaved)
    return y.transpose(0, 2, 1, 3) if input.ndim == 4 else y.reshape(input.shape)


def positions_counted_on(input, position_ids, cos_cache, sin_cache, interleaved=0, rotary_embedding_dim=0, num_heads=0):
    x = heads_last(input, cos_cache, num_heads)
    first = position_ids[:, None] if position_ids.ndim == 1 else position_ids[:, :1]
    index = np.minimum(first + np.arange(x.shape[1]), cos_cache.shape[0] - 1)
    y = turned(x, cos_cache[index], sin_cache[index], rotary_embedding_dim or x.shape[-1], interleaved)
    return y.transpose(0, 2, 1, 3) if input.ndim == 4 else y.reshape(input.shape)
