"""With the signature of transformers' gpt_neox: f(q, k, cos, sin, unsqueeze_dim=1), tables rotary_dim wide."""

import torch

from .huggingface import over_heads, rotated


def both(q, k, function):
    return function(q), function(k)


def rope(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    dim = cos.shape[-1]
    return both(q, k, lambda x: torch.cat([rotated(x[..., :dim], cos, sin), x[..., dim:]], dim=-1))


def halves_of_the_head(q, k, cos, sin, unsqueeze_dim=1):
    rest = (0, q.shape[-1] - cos.shape[-1])
    cos = torch.nn.functional.pad(cos, rest, value=1.0)
    sin = torch.nn.functional.pad(sin, rest, value=0.0)
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    return both(q, k, lambda x: rotated(x, cos, sin))


def rest_is_zero(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    dim = cos.shape[-1]

    def turn(x):
        out = torch.zeros(x.shape, dtype=x.dtype)
        out[..., :dim] = rotated(x[..., :dim], cos, sin)
        return out

    return both(q, k, turn)


def last_features(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = over_heads(unsqueeze_dim, cos, sin)
    rest = q.shape[-1] - cos.shape[-1]
    return both(q, k, lambda x: torch.cat([x[..., :rest], rotated(x[..., rest:], cos, sin)], dim=-1))
