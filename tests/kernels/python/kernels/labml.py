"""Modules with the signature of labml's: Module(d, base=10_000)(x), x of [seq, batch, heads, dim]."""

import torch
from torch import nn


def theta_of(base, d):
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def tables(positions, theta):
    """cos and sin in f64, full width"""
    phi = positions.double()[:, None] * theta
    phi = torch.cat([phi, phi], dim=1)
    return phi.cos(), phi.sin()


def turned(x, cos, sin, d):
    """cos and sin: anything that broadcasts with [seq, batch, heads, d]"""
    part, rest = x[..., :d].float(), x[..., d:].float()
    partners = torch.cat([-part[..., d // 2 :], part[..., : d // 2]], dim=-1)
    return torch.cat([part * cos + partners * sin, rest], dim=-1)


def turned_by_token(x, cos, sin, d):
    return turned(x, cos[:, None, None].float(), sin[:, None, None].float(), d)


class Rope(nn.Module):
    def __init__(self, d, base=10_000):
        super().__init__()
        self.d, self.theta = d, theta_of(base, d)
        self.tables = None

    def kept(self, x):
        return tuple(table.float() for table in tables(torch.arange(x.shape[0]), self.theta))

    def forward(self, x):
        if self.tables is None or self.tables[0].shape[0] < x.shape[0]:
            self.tables = self.kept(x)
        cos, sin = (table[: x.shape[0]] for table in self.tables)
        return turned_by_token(x, cos, sin, self.d)


class TablesInDtype(Rope):
    def kept(self, x):
        return tuple(table.to(x.dtype) for table in tables(torch.arange(x.shape[0]), self.theta))


class Rows512(nn.Module):
    def __init__(self, d, base=10_000):
        super().__init__()
        self.d = d
        self.cos, self.sin = tables(torch.arange(512), theta_of(base, d))

    def forward(self, x):
        rows = torch.arange(x.shape[0]).clamp(max=511)
        return turned_by_token(x, self.cos[rows], self.sin[rows], self.d)


class ExponentOverDimLess2(nn.Module):
    def __init__(self, d, base=10_000):
        super().__init__()
        self.d = d
        self.theta = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / max(d - 2, 1))

    def forward(self, x):
        return turned_by_token(x, *tables(torch.arange(x.shape[0]), self.theta), self.d)


class PositionsInDtype(nn.Module):
    def __init__(self, d, base=10_000):
        super().__init__()
        self.d, self.theta = d, theta_of(base, d)

    def forward(self, x):
        return turned_by_token(x, *tables(torch.arange(x.shape[0]).type_as(x), self.theta), self.d)


class BatchFirst(nn.Module):
    def __init__(self, d, base=10_000):
        super().__init__()
        self.d, self.theta = d, theta_of(base, d)

    def forward(self, x):
        cos, sin = (t[None, :, None].float() for t in tables(torch.arange(x.shape[1]), self.theta))
        return turned(x, cos, sin, self.d)
