"""With the signature of transformers' glm: f(q, k, cos, sin, unsqueeze_dim=1), interleaved pairs, tables of two equal
halves, rotary_dim wide."""

import torch

from .huggingface import over_heads
from .huggingface_gptj import neighbours


def partly(x, cos, sin, rotary_dim):
    part, rest = x[..., :rotary_dim], x[..., rotary_dim:]
    return torch.cat([part * cos + neighbours(part) * sin, rest], dim=-1)


def rope(q, k, cos, sin, unsqueeze_dim=1):
    rotary_dim = cos.shape[-1]
    cos, sin = (t[..., : rotary_dim // 2].repeat_interleave(2, dim=-1) for t in over_heads(unsqueeze_dim, cos, sin))
    return tuple(partly(x, cos, sin, rotary_dim) for x in (q, k))


def tables_as_they_are(q, k, cos, sin, unsqueeze_dim=1):
    rotary_dim = cos.shape[-1]
    return tuple(partly(x, *over_heads(unsqueeze_dim, cos, sin), rotary_dim) for x in (q, k))


def rotary_dim_is_half(q, k, cos, sin, unsqueeze_dim=1):
    rotary_dim = q.shape[-1] // 4 * 2 or q.shape[-1]
    cos, sin = (t[..., : rotary_dim // 2].repeat_interleave(2, dim=-1) for t in over_heads(unsqueeze_dim, cos, sin))
    return tuple(partly(x, cos, sin, rotary_dim) for x in (q, k))
