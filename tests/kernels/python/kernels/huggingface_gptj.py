"""With the signature of transformers' gptj: f(x, sin, cos), half-width tables, interleaved pairs."""

import torch


def neighbours(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def each_twice(table):
    return table.repeat_interleave(2, dim=-1)[:, :, None, :]


def rope(x, sin, cos):
    return x * each_twice(cos) + neighbours(x) * each_twice(sin)


def tables_half_after_half(x, sin, cos):
    cos, sin = (torch.cat((table, table), dim=-1)[:, :, None, :] for table in (cos, sin))
    return x * cos + neighbours(x) * sin


def zeros_are_skipped(x, sin, cos):
    return torch.where(x != 0, rope(x, sin, cos), x)
