"""apply_rotary(x, cos, sin, seqlen_offsets, interleaved, inplace, conjugate) with the meaning of flash-attention's."""

import torch


def rows(table, x, offsets):
    """[batch, seq, 1, columns]"""
    steps = torch.arange(x.shape[1])
    if isinstance(offsets, torch.Tensor):
        index = offsets.long()[:, None] + steps
    else:
        index = (steps + offsets).expand(x.shape[0], -1)
    return table[index].float()[:, :, None, :]


def halves(x, rotary_dim, interleaved):
    if interleaved:
        return x[..., 0:rotary_dim:2], x[..., 1:rotary_dim:2]
    return x[..., : rotary_dim // 2], x[..., rotary_dim // 2 : rotary_dim]


def rope(x, cos, sin, seqlen_offsets=0, interleaved=False, inplace=False, conjugate=False):
    rotary_dim = 2 * cos.shape[-1]
    c, s = rows(cos, x, seqlen_offsets), rows(sin, x, seqlen_offsets)
    if conjugate:
        s = -s
    x0, x1 = halves(x, rotary_dim, interleaved)
    x0, x1 = x0.float(), x1.float()
    y0, y1 = x0 * c - x1 * s, x0 * s + x1 * c
    out = x if inplace else torch.empty_like(x)
    o0, o1 = halves(out, rotary_dim, interleaved)
    o0.copy_(y0)
    o1.copy_(y1)
    if not inplace:
        out[..., rotary_dim:] = x[..., rotary_dim:]
    return out


def tensor_offsets_ignored(x, cos, sin, seqlen_offsets=0, interleaved=False, inplace=False, conjugate=False):
    rotary_dim = 2 * cos.shape[-1]
    start = seqlen_offsets if isinstance(seqlen_offsets, int) else 0
    c, s = rows(cos, x, start), rows(sin, x, start)
    if conjugate:
        s = -s
    x0, x1 = (part.float() for part in halves(x, rotary_dim, interleaved))
    y0, y1 = x0 * c - x1 * s, x0 * s + x1 * c
    out = x if inplace else x.clone()
    o0, o1 = halves(out, rotary_dim, interleaved)
    o0.copy_(y0)
    o1.copy_(y1)
    return out


def conjugate_of_halves_only(x, cos, sin, seqlen_offsets=0, interleaved=False, inplace=False, conjugate=False):
    rotary_dim = 2 * cos.shape[-1]
    c, s = rows(cos, x, seqlen_offsets), rows(sin, x, seqlen_offsets)
    out = x if inplace else x.clone()
    if not interleaved:
        if conjugate:
            s = -s
        x0, x1 = x[..., : rotary_dim // 2].float(), x[..., rotary_dim // 2 : rotary_dim].float()
        out[..., :rotary_dim] = torch.cat([x0 * c - x1 * s, x0 * s + x1 * c], dim=-1)
    else:
        x0, x1 = x[..., 0:rotary_dim:2].float(), x[..., 1:rotary_dim:2].float()
        out[..., :rotary_dim] = torch.stack([x0 * c - x1 * s, x0 * s + x1 * c], dim=-1).flatten(-2)
    return out


def in_place_overwritten(x, cos, sin, seqlen_offsets=0, interleaved=False, inplace=False, conjugate=False):
    rotary_dim = 2 * cos.shape[-1]
    c, s = rows(cos, x, seqlen_offsets), rows(sin, x, seqlen_offsets)
    if conjugate:
        s = -s
    x0, x1 = (part.float() for part in halves(x, rotary_dim, interleaved))
    out = x if inplace else x.clone()
    o0, o1 = halves(out, rotary_dim, interleaved)
    o0.copy_(x0 * c - x1 * s)
    o1.copy_(x0 * s + x1 * c)
    return out


def backward_rest_is_zero(x, cos, sin, seqlen_offsets=0, interleaved=False, inplace=False, conjugate=False):
    rotary_dim = 2 * cos.shape[-1]
    c, s = rows(cos, x, seqlen_offsets), rows(sin, x, seqlen_offsets)
    x0, x1 = (part.float() for part in halves(x, rotary_dim, interleaved))
    if conjugate:
        y0, y1 = x0 * c + x1 * s, x1 * c - x0 * s
        out = x if inplace else torch.zeros_like(x)
    else:
        y0, y1 = x0 * c - x1 * s, x1 * c + x0 * s
        out = x if inplace else x.clone()
    o0, o1 = halves(out, rotary_dim, interleaved)
    o0.copy_(y0)
    o1.copy_(y1)
    return out


def pairs_64(x, cos, sin, seqlen_offsets=0, interleaved=False, inplace=False, conjugate=False):
    rotary_dim = 2 * cos.shape[-1]
    block = 32 if rotary_dim <= 32 else 64 if rotary_dim <= 64 else 128
    c, s = rows(cos, x, seqlen_offsets), rows(sin, x, seqlen_offsets)
    if conjugate:
        s = -s
    columns = slice(0, block // 2)
    c, s = c[..., columns], s[..., columns]
    x0, x1 = (part[..., columns].float() for part in halves(x, rotary_dim, interleaved))
    y0, y1 = x0 * c - x1 * s, x0 * s + x1 * c
    out = x if inplace else x.clone()
    o0, o1 = halves(out, rotary_dim, interleaved)
    o0[..., columns] = y0
    o1[..., columns] = y1
    return out


def packed(x, cos, sin, seqlen_offsets=0, cu_seqlens=None, max_seqlen=None, interleaved=False, inplace=False,
           conjugate=False):
    """x is [tokens, heads, head_dim] where cu_seqlens is given."""
    return in_sequences(x, cos, sin, seqlen_offsets, cu_seqlens, interleaved, inplace, conjugate)


def packed_goes_on(x, cos, sin, seqlen_offsets=0, cu_seqlens=None, max_seqlen=None, interleaved=False, inplace=False,
                   conjugate=False):
    if cu_seqlens is not None:
        if isinstance(seqlen_offsets, torch.Tensor):
            seqlen_offsets = seqlen_offsets + cu_seqlens[:-1]
        else:
            seqlen_offsets = seqlen_offsets + cu_seqlens[:-1].long()
    return in_sequences(x, cos, sin, seqlen_offsets, cu_seqlens, interleaved, inplace, conjugate)


def in_sequences(x, cos, sin, starts, borders, interleaved, inplace, conjugate):
    if borders is None:
        return rope(x, cos, sin, starts, interleaved, inplace, conjugate)
    out = x if inplace else torch.empty_like(x)
    for i, (begin, end) in enumerate(zip(borders[:-1].tolist(), borders[1:].tolist())):
        start = int(starts[i]) if isinstance(starts, torch.Tensor) else starts
        out[begin:end] = rope(x[None, begin:end], cos, sin, start, interleaved, False, conjugate)[0]
    return out
