"""What Hugging Face's functions for q and k together, [batch, heads, seq, head_dim], have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call


def turned_heads_first(function: Callable[..., Any], call: Call, cos: Any, sin: Any) -> Any:
    """q, or (q, k), from function(q, k, cos, sin). A call without k passes q as k too and drops that result."""
    q = call.q.transpose(1, 2)
    k = q if call.k is None else call.k.transpose(1, 2)
    q_turned, k_turned = function(q, k, cos, sin)
    q_turned = q_turned.transpose(1, 2)
    return q_turned if call.k is None else (q_turned, k_turned.transpose(1, 2))
