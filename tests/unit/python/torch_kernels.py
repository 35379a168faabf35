"""Kernels in torch for the tests: a right one, and wrong ones."""

import torch

import ropecheck

F32 = ropecheck.kernel(array="torch", dtypes="f32", tables="f32", table_widths="half", sources="tables",
                       pairings="half_split", features=("positions", "offset"))


def rotate(x, call):
    """In f64, rounded once."""
    positions = call.position_ids().long()
    cos, sin = (table.double()[positions][:, :, None, :] for table in (call.cos, call.sin))
    half = call.rotary_dim // 2
    a, b = x[..., :half].double(), x[..., half:call.rotary_dim].double()
    factor = call.attention_factor
    turned = torch.cat([factor * (a * cos - b * sin), factor * (b * cos + a * sin)], -1).to(x.dtype)
    return torch.cat([turned, x[..., call.rotary_dim:]], -1)


@ropecheck.kernel(array="torch", table_widths="half", sources="tables", pairings="half_split",
                  features=("partial", "positions", "batch_positions", "in_place", "strided", "key", "grouped_heads",
                            "offset", "attention_factor"))
def right(call):
    turned = [None if x is None else rotate(x, call) for x in (call.q, call.k)]
    if call.in_place:
        for x, y in zip((call.q, call.k), turned):
            if x is not None:
                x.copy_(y)
        return None
    return turned[0] if call.k is None else tuple(turned)


@F32
def writes_input(call):
    result = rotate(call.q, call)
    call.q.zero_()
    return result


@F32
def returns_input(call):
    return call.q


@F32
def wrong_dtype(call):
    return rotate(call.q, call).double()


@F32
def wrong_type(call):
    return rotate(call.q, call).numpy()


@F32
def negated_view(call):
    """torch negates such a tensor only when it is read; its memory holds the right numbers."""
    return torch._neg_view(rotate(call.q, call))


def huggingface_interleaved(q, k, cos, sin, unsqueeze_dim=1):
    """Pairs (2p, 2p + 1) with the tables of (p, p + half)."""
    def turned(x):
        other = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
        return x * cos.unsqueeze(unsqueeze_dim) + other * sin.unsqueeze(unsqueeze_dim)

    return turned(q), turned(k)
