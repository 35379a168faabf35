"""The operator rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox) of vLLM; writes in place."""

import torch


def turn_(heads, cos, sin, is_neox):
    """heads: [tokens, heads, head_size], a view of the caller's memory"""
    half = cos.shape[-1]
    rot = heads[..., : 2 * half]
    x1, x2 = (rot[..., :half], rot[..., half:]) if is_neox else (rot[..., 0::2], rot[..., 1::2])
    a, b = x1.float(), x2.float()
    o1, o2 = a * cos - b * sin, b * cos + a * sin
    x1.copy_(o1)
    x2.copy_(o2)


def split_heads(x, head_size):
    return x.view(x.shape[0], x.shape[1] // head_size, head_size)


def rows_of(cache, positions):
    cos, sin = cache[positions].float().chunk(2, dim=-1)
    return cos[:, None, :], sin[:, None, :]


def rope(positions, query, key, head_size, cos_sin_cache, is_neox):
    cos, sin = rows_of(cos_sin_cache, positions)
    for x in (query, key):
        if x is not None:
            turn_(split_heads(x, head_size), cos, sin, is_neox)


def rows_without_gaps(positions, query, key, head_size, cos_sin_cache, is_neox):
    cos, sin = rows_of(cos_sin_cache, positions)
    for x in (query, key):
        if x is not None:
            tokens, width = x.shape
            heads = torch.as_strided(x, (tokens, width // head_size, head_size), (width, head_size, 1))
            turn_(heads, cos, sin, is_neox)


def is_neox_where_partial(positions, query, key, head_size, cos_sin_cache, is_neox):
    cos, sin = rows_of(cos_sin_cache, positions)
    rotary_dim = cos_sin_cache.shape[-1]
    for x in (query, key):
        if x is not None:
            heads = split_heads(x, head_size)
            if rotary_dim < head_size:
                turn_(heads[..., :rotary_dim], cos, sin, True)
            else:
                turn_(heads, cos, sin, is_neox)


def first_key_head(positions, query, key, head_size, cos_sin_cache, is_neox):
    cos, sin = rows_of(cos_sin_cache, positions)
    turn_(split_heads(query, head_size), cos, sin, is_neox)
    if key is not None:
        num_heads, kv_heads = query.shape[1] // head_size, key.shape[1] // head_size
        if kv_heads < num_heads:
            turn_(split_heads(key[:, :head_size], head_size), cos, sin, is_neox)
        else:
            turn_(split_heads(key, head_size), cos, sin, is_neox)


MAX_TOKENS = 512


def first_512_tokens(positions, query, key, head_size, cos_sin_cache, is_neox):
    tokens = min(positions.shape[0], MAX_TOKENS)
    cos, sin = rows_of(cos_sin_cache, positions[:tokens])
    for x in (query, key):
        if x is not None:
            turn_(split_heads(x, head_size)[:tokens], cos, sin, is_neox)


def positions_in_dtype(positions, query, key, head_size, cos_sin_cache, is_neox):
    index = positions.to(query.dtype).long().clamp(max=cos_sin_cache.shape[0] - 1)
    cos, sin = rows_of(cos_sin_cache, index)
    for x in (query, key):
        if x is not None:
            turn_(split_heads(x, head_size), cos, sin, is_neox)


def positions_counted_on(positions, query, key, head_size, cos_sin_cache, is_neox):
    tokens = positions.shape[0]
    if tokens == 0:
        return
    first = int(positions[0])
    index = torch.arange(first, first + tokens).clamp(max=cos_sin_cache.shape[0] - 1)
    cos, sin = rows_of(cos_sin_cache, index)
    for x in (query, key):
        if x is not None:
            turn_(split_heads(x, head_size), cos, sin, is_neox)
