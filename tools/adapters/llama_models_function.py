"""llama-models, Meta's own code of Llama 3: precompute_freqs_cis and apply_rotary_emb.

The table is complex64 and has a row for each position; a call takes the rows of its tokens, as Transformer.forward
does. use_scaled has constants of one model and is not claimed. The largest claimed position is of Llama 3.1."""

import functools

import bare_package
import ropecheck

library = bare_package.module_of("llama_models.llama3.model")
LONGEST = 131_072


@functools.lru_cache(maxsize=16)
def table(dim: int, base: float, rows: int):
    return library.precompute_freqs_cis(dim, rows, base)


def rows_for(call):
    """The next power of two: few calls then make a new table."""
    return max(4096, 1 << call.max_position.bit_length())


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), sources="computed", scalings="none",
                  pairings="interleaved", max_position=LONGEST - 1,
                  features=("offset", "key", "grouped_heads"))
def rope(call):
    rows = table(call.rotary_dim, call.base, rows_for(call))
    first = call.position_offset
    k = call.q if call.k is None else call.k
    q, k = library.apply_rotary_emb(call.q, k, rows[first : first + call.q.shape[1]])
    return q if call.k is None else (q, k)
