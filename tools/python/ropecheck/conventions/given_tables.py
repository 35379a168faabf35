"""The tables of a call, as code bases hand them to their kernels."""

from __future__ import annotations

from typing import Any

from ropecheck.call import Call
from ropecheck.errors import InvalidArgument


def positions_of(call: Call) -> Any:
    """Every token's position, [batch, seq]. A negative one would be looked up from the other end. That would be this
    package's fault, not the kernel's."""
    positions = call.position_ids()
    rows = call.cos.shape[0]
    if 0 not in positions.shape and not (0 <= int(positions.min()) and int(positions.max()) < rows):
        asked = f"{int(positions.min())} to {int(positions.max())}"
        raise InvalidArgument(f"positions {asked} are asked for; the tables have {rows} rows")
    return positions


def torch_rows(call: Call) -> tuple[Any, Any]:
    """cos and sin for every token, [batch, seq, columns], in q's dtype. They include the attention factor. It is
    multiplied in the wider of the two dtypes: the tables' dtype, unless the input is f64."""
    import torch

    positions = positions_of(call).long()
    wide = torch.promote_types(call.cos.dtype, call.dtype)
    cos, sin = (
        (table[positions].to(wide) * call.attention_factor).to(call.dtype) for table in (call.cos, call.sin)
    )
    return cos, sin
