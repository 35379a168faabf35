"""With the signature of transformers' llama: f(q, k, cos, sin, unsqueeze_dim=1), q and k [batch, heads, seq, dim]."""

import torch


def partners(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def rotated(x, cos, sin):
    return x * cos + partners(x) * sin


def over_heads(unsqueeze_dim, *tables):
    return tuple(table.unsqueeze(unsqueeze_dim) for table in tables)


def rope(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    return rotated(q, cos, sin), rotated(k, cos, sin)


def in_f32(q, k, cos, sin, unsqueeze_dim=1):
    work = torch.promote_types(q.dtype, torch.float32)
    cos, sin = over_heads(unsqueeze_dim, cos.to(work), sin.to(work))
    return tuple(rotated(x.to(work), cos, sin).to(x.dtype) for x in (q, k))


def into_slices(q, k, cos, sin, unsqueeze_dim=1):
    half = cos.shape[-1] // 2
    cos, sin = over_heads(unsqueeze_dim, cos, sin)

    def turn(x):
        out = torch.empty_like(x)
        x1, x2 = x[..., :half], x[..., half:]
        out[..., :half] = x1 * cos[..., :half] - x2 * sin[..., :half]
        out[..., half:] = x2 * cos[..., half:] + x1 * sin[..., half:]
        return out

    return turn(q), turn(k)


def first_columns_for_both(q, k, cos, sin, unsqueeze_dim=1):
    half = cos.shape[-1] // 2
    c, s = over_heads(unsqueeze_dim, cos[..., :half], sin[..., :half])

    def turn(x):
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat((x1 * c - x2 * s, x2 * c + x1 * s), dim=-1)

    return turn(q), turn(k)


def f64_in_f32(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos.float(), sin.float())
    return tuple(rotated(x.float(), cos, sin).to(x.dtype) for x in (q, k))


def contiguous_is_no_copy(q, k, cos, sin, unsqueeze_dim=1):
    half = q.shape[-1] // 2
    cos, sin = over_heads(unsqueeze_dim, cos, sin)

    def turn(x):
        out = x.contiguous()
        out[..., :half] = x[..., :half] * cos[..., :half] - x[..., half:] * sin[..., :half]
        out[..., half:] = x[..., half:] * cos[..., half:] + x[..., :half] * sin[..., half:]
        return out

    return turn(q), turn(k)


def decode_takes_first_batch(q, k, cos, sin, unsqueeze_dim=1):
    if q.shape[2] == 1:
        cos, sin = cos[:1], sin[:1]
    return rope(q, k, cos, sin, unsqueeze_dim)


def layout_from_shape(q, k, cos, sin, unsqueeze_dim=1):
    def turn(x):
        axis = 2 if x.shape[1] == cos.shape[1] else 1
        return rotated(x, *over_heads(axis, cos, sin))

    return turn(q), turn(k)


def tables_in_bf16(q, k, cos, sin, unsqueeze_dim=1):
    return rope(q, k, cos.to(torch.bfloat16).to(q.dtype), sin.to(torch.bfloat16).to(q.dtype), unsqueeze_dim)


def f16_clamped(q, k, cos, sin, unsqueeze_dim=1):
    turned = rope(q, k, cos, sin, unsqueeze_dim)
    if q.dtype != torch.float16:
        return turned
    limit = torch.finfo(torch.float16).max - 1000
    return tuple(x.clamp(min=-limit, max=limit) for x in turned)


_KEPT = {}


def tables_kept_by_shape(q, k, cos, sin, unsqueeze_dim=1):
    key = (tuple(cos.shape), cos.dtype, unsqueeze_dim)
    if key not in _KEPT:
        _KEPT[key] = tuple(table.contiguous() for table in over_heads(unsqueeze_dim, cos, sin))
    return tuple(rotated(x, *_KEPT[key]) for x in (q, k))


TILE = 64


def tail_of_tiles(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    seq = q.shape[2]
    tile = min(TILE, max(seq, 1))

    def turn(x):
        out = x.clone()
        for i in range(seq // tile):
            rows = slice(i * tile, (i + 1) * tile)
            out[:, :, rows] = rotated(x[:, :, rows], cos[:, :, rows], sin[:, :, rows])
        return out

    return turn(q), turn(k)


def k_inverse(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    return rotated(q, cos, sin), rotated(k, cos, -sin)


def tables_tiled_by_head(q, k, cos, sin, unsqueeze_dim=1):
    def turn(x):
        batch, heads, seq, dim = x.shape
        flat = x.reshape(batch * heads, seq, dim)
        return rotated(flat, cos.repeat(heads, 1, 1), sin.repeat(heads, 1, 1)).view(batch, heads, seq, dim)

    return turn(q), turn(k)


def nan_to_num(q, k, cos, sin, unsqueeze_dim=1):
    return tuple(torch.nan_to_num(x) for x in rope(q, k, cos, sin, unsqueeze_dim))
