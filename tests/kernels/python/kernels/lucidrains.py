"""Modules with the signature of lucidrains' RotaryEmbedding(dim, theta, interpolate_factor)."""

import torch
from torch import nn


def neighbours(x):
    x1, x2 = x.unflatten(-1, (-1, 2)).unbind(dim=-1)
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def embed(freqs, t):
    """freqs: [seq, dim], t: [batch, heads, seq, features]"""
    dim = freqs.shape[-1]
    part, rest = t[..., :dim], t[..., dim:]
    wide = part.float()
    cos, sin = freqs.cos().float(), freqs.sin().float()
    return torch.cat(((wide * cos + neighbours(wide) * sin).to(t.dtype), rest), dim=-1)


class Rope(nn.Module):
    def __init__(self, dim, theta=10000, interpolate_factor=1.0):
        super().__init__()
        self.interpolate_factor = interpolate_factor
        self.freqs = theta ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)

    def positions(self, seq_len, offset):
        return (torch.arange(seq_len, dtype=torch.float64) + offset) / self.interpolate_factor

    def rotate_queries_or_keys(self, t, offset=0):
        pos = self.positions(t.shape[-2], offset)
        return embed((pos[:, None] * self.freqs).repeat_interleave(2, dim=-1), t)


class FactorInverted(Rope):
    def positions(self, seq_len, offset):
        return (torch.arange(seq_len, dtype=torch.float64) + offset) * self.interpolate_factor


class KeptByLength(Rope):
    def __init__(self, dim, theta=10000, interpolate_factor=1.0):
        super().__init__(dim, theta, interpolate_factor)
        self.kept = None

    def rotate_queries_or_keys(self, t, offset=0):
        seq_len = t.shape[-2]
        if self.kept is None or self.kept.shape[0] < seq_len:
            pos = self.positions(seq_len, offset)
            self.kept = (pos[:, None] * self.freqs).repeat_interleave(2, dim=-1)
        return embed(self.kept[:seq_len], t)


class OffsetNotScaled(Rope):
    def positions(self, seq_len, offset):
        return torch.arange(seq_len, dtype=torch.float64) / self.interpolate_factor + offset


class ThetaInDtype(Rope):
    def rotate_queries_or_keys(self, t, offset=0):
        if t.dtype in (torch.float16, torch.bfloat16):
            self.freqs = self.freqs.to(t.dtype)
        pos = self.positions(t.shape[-2], offset)
        return embed((pos[:, None] * self.freqs.double()).repeat_interleave(2, dim=-1), t)
