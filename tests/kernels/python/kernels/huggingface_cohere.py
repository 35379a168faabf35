"""With the signature of transformers' cohere: f(q, k, cos, sin, unsqueeze_dim=1), interleaved pairs, each column of the
tables twice."""

import torch

from .huggingface import over_heads, partners
from .huggingface_gptj import neighbours


def rope(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    return tuple((x.float() * cos + neighbours(x.float()) * sin).to(x.dtype) for x in (q, k))


def partners_half_apart(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    return tuple((x.float() * cos + partners(x.float()) * sin).to(x.dtype) for x in (q, k))


def f16_in_bf16(q, k, cos, sin, unsqueeze_dim=1):
    work = torch.float32 if q.dtype == torch.float32 else torch.bfloat16
    cos, sin = over_heads(unsqueeze_dim, cos.to(work), sin.to(work))
    return tuple((x.to(work) * cos + neighbours(x.to(work)) * sin).to(x.dtype) for x in (q, k))
