"""lucidrains' rotary-embedding-torch: the module RotaryEmbedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.modules import beside


def adapted(cls: Callable[..., Any]) -> Callable[[Call], Any]:
    """x is [batch, heads, seq, head_dim] at positions offset .. offset + seq - 1. Each plan has one module, as in a
    model, because its cache is judged too. f64 is not claimed: angles are f32."""
    modules: dict[tuple[int, float, float], Any] = {}

    @kernel(
        array="torch",
        dtypes=("f32", "f16", "bf16"),
        sources="computed",
        scalings=("none", "linear"),
        pairings="interleaved",
        features=("partial", "offset", "key", "grouped_heads", "strided"),
    )
    def lucidrains(call: Call) -> Any:
        factor = call.scaling.get("factor", 1.0)
        plan = (call.rotary_dim, call.base, factor)
        if plan not in modules:
            made = cls(dim=call.rotary_dim, theta=call.base, interpolate_factor=factor)
            modules[plan] = beside(made, call.q)
        turned = [
            modules[plan].rotate_queries_or_keys(x.transpose(1, 2), offset=call.position_offset).transpose(1, 2)
            for x in (call.q, call.k)
            if x is not None
        ]
        return turned[0] if call.k is None else tuple(turned)

    return lucidrains


CONVENTION = Convention(
    name="lucidrains",
    signature="RotaryEmbedding(dim, theta=10000, interpolate_factor=1.0).rotate_queries_or_keys(t, offset=0) -> t",
    example="rotary_embedding_torch:RotaryEmbedding",
    kernel=adapted,
)
