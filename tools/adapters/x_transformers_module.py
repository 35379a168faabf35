"""x-transformers: RotaryEmbedding and apply_rotary_pos_emb, as AttentionLayers and Attention call them.

Positions have any integer dtype; tables are f32, and the result has x's dtype. Each plan has one module, as in a
model."""

import functools

import bare_package
import ropecheck

library = bare_package.module_of("x_transformers.x_transformers")


@functools.cache
def module(dim: int, base: float, factor: float) -> library.RotaryEmbedding:
    return library.RotaryEmbedding(dim, base=base, interpolation_factor=factor)


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), sources="computed", scalings=("none", "linear"),
                  pairings="interleaved",
                  features=("partial", "positions", "batch_positions", "offset", "key", "grouped_heads", "strided"))
def rope(call):
    made = module(call.rotary_dim, call.base, call.scaling.get("factor", 1.0))
    angles, scale = made(call.position_ids())
    turned = [library.apply_rotary_pos_emb(x.transpose(1, 2), angles, scale).transpose(1, 2)
              for x in (call.q, call.k) if x is not None]
    return turned[0] if call.k is None else tuple(turned)
