"""torchtune: RotaryPositionalEmbeddings, with its own tables for max_seq_len positions.

Positions are given as input_pos, or counted from 0 if there are none. The result has x's dtype. The largest claimed
position is of Llama 3.1 in torchtune; a table with more rows would only cost memory."""

import functools

import bare_package
import ropecheck

RotaryPositionalEmbeddings = bare_package.module_of("torchtune.modules.position_embeddings").RotaryPositionalEmbeddings
LONGEST = 131_072


@functools.lru_cache(maxsize=16)
def module(dim: int, base: float, rows: int) -> RotaryPositionalEmbeddings:
    return RotaryPositionalEmbeddings(dim, max_seq_len=rows, base=base)


def rows_for(call):
    """The next power of two: few calls then make a new table."""
    return max(4096, 1 << call.max_position.bit_length())


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), sources="computed", scalings="none",
                  pairings="interleaved", max_position=LONGEST - 1,
                  features=("positions", "batch_positions", "offset", "key", "grouped_heads", "strided"))
def rope(call):
    turn = module(call.rotary_dim, call.base, rows_for(call))
    counted = call.positions is None and call.position_offset == 0
    where = None if counted else call.position_ids().long()
    q = turn(call.q, input_pos=where)
    return q if call.k is None else (q, turn(call.k, input_pos=where))
