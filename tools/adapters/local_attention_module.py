"""local-attention: SinusoidalEmbeddings and apply_rotary_pos_emb, without xPos.

Positions are 0 .. seq - 1. The tables are f32, and so is the result, for every x."""

import functools

import bare_package
import ropecheck

library = bare_package.module_of("local_attention.rotary")


@functools.cache
def module(dim: int, base: float) -> library.SinusoidalEmbeddings:
    return library.SinusoidalEmbeddings(dim, theta=base)


@ropecheck.kernel(array="torch", dtypes={"f32": "f32", "f16": "f32", "bf16": "f32"}, sources="computed",
                  scalings="none", pairings="half_split", features=("key", "grouped_heads", "strided"))
def rope(call):
    q = call.q.transpose(1, 2)
    k = q if call.k is None else call.k.transpose(1, 2)
    angles, scale = module(call.rotary_dim, call.base)(k)
    q, k = (x.transpose(1, 2) for x in library.apply_rotary_pos_emb(q, k, angles, scale))
    return q if call.k is None else (q, k)
