"""labml-nn: the module RotaryPositionalEmbeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ropecheck.call import Call
from ropecheck.capabilities import kernel
from ropecheck.conventions.convention import Convention
from ropecheck.conventions.modules import beside


def adapted(cls: Callable[..., Any]) -> Callable[[Call], Any]:
    """x is [seq, batch, heads, head_dim] at positions 0 .. seq - 1. The result is f32 for every x; f64 is not an
    intended input. Each rotary_dim and base has one module, as in a model, because its cache is judged too."""
    modules: dict[tuple[int, float], Any] = {}

    @kernel(
        array="torch",
        dtypes={"f32": "f32", "f16": "f32", "bf16": "f32"},
        sources="computed",
        scalings="none",
        pairings="half_split",
        features=("partial", "key", "grouped_heads", "strided"),
    )
    def labml(call: Call) -> Any:
        plan = (call.rotary_dim, call.base)
        if plan not in modules:
            modules[plan] = beside(cls(call.rotary_dim, base=call.base), call.q)
        turned = [modules[plan](x.transpose(0, 1)).transpose(0, 1) for x in (call.q, call.k) if x is not None]
        return turned[0] if call.k is None else tuple(turned)

    return labml


CONVENTION = Convention(
    name="labml",
    signature="RotaryPositionalEmbeddings(d, base=10_000)(x) -> x",
    example="labml_nn.transformers.rope:RotaryPositionalEmbeddings",
    kernel=adapted,
)
