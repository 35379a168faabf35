"""transformers: LlamaRotaryEmbedding, which makes the tables, and apply_rotary_pos_emb of llama.

Not claimed: `dynamic` and `longrope`, which depend on the calls before, and `yarn`, for which the suite also asks the
clamping of other packages. The module keeps its frequencies in f32, as from_pretrained does; the tables have x's dtype,
and so has the result."""

import functools
import json

import ropecheck
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

KINDS = {"none": "default", "linear": "linear", "llama3": "llama3"}


@functools.cache
def module(dim: int, base: float, scaling: str) -> LlamaRotaryEmbedding:
    rule = {key: value for key, value in json.loads(scaling).items() if key != "kind"}
    rule |= {"rope_type": KINDS[json.loads(scaling)["kind"]], "rope_theta": base}
    longest = rule.get("original_max_position_embeddings", 8192)
    return LlamaRotaryEmbedding(LlamaConfig(head_dim=dim, max_position_embeddings=longest, rope_parameters=rule))


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), sources="computed", scalings=tuple(KINDS),
                  pairings="half_split",
                  features=("positions", "batch_positions", "offset", "key", "grouped_heads", "strided"))
def rope(call):
    made = module(call.rotary_dim, call.base, json.dumps(call.scaling))
    q = call.q.transpose(1, 2)
    k = q if call.k is None else call.k.transpose(1, 2)
    cos, sin = made(q, call.position_ids())
    q, k = (x.transpose(1, 2) for x in apply_rotary_pos_emb(q, k, cos, sin))
    return q if call.k is None else (q, k)
