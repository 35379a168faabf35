"""fair-esm: the module RotaryEmbedding of the ESM-2 protein models.

q and k are [batch * heads, seq, features], as its attention makes them. Positions are 0 .. seq - 1 and the base is
10,000. The tables are f32, and so is the result, for every x. Each dimension has one module, whose cache is judged."""

import functools

import bare_package
import ropecheck

RotaryEmbedding = bare_package.module_of("esm.rotary_embedding").RotaryEmbedding


@functools.cache
def module(dim: int) -> RotaryEmbedding:
    return RotaryEmbedding(dim)


def flat(x):
    batch, seq, heads, features = x.shape
    return x.transpose(1, 2).reshape(batch * heads, seq, features)


def unflat(y, x):
    batch, seq, heads, features = x.shape
    return y.reshape(batch, heads, seq, features).transpose(1, 2)


@ropecheck.kernel(array="torch", dtypes={"f32": "f32", "f16": "f32", "bf16": "f32"}, sources="computed",
                  scalings="none", pairings="half_split", base=10_000.0, features=("key", "grouped_heads", "strided"))
def rope(call):
    k = call.q if call.k is None else call.k
    turned_q, turned_k = module(call.rotary_dim)(flat(call.q), flat(k))
    q = unflat(turned_q, call.q)
    return q if call.k is None else (q, unflat(turned_k, k))
