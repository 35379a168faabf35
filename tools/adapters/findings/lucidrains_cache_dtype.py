"""rotary-embedding-torch: one call in bf16 spoils the results of later calls in f32.

The module caches the angles of a call, which it made of positions in the dtype of the queries. 257 is 256 in bf16.
"""

import sys

import torch
from rotary_embedding_torch import RotaryEmbedding

x = torch.tensor([1.0, 0.0, 1.0, 0.0]).expand(1, 1, 258, 4)
expected = RotaryEmbedding(dim=4).rotate_queries_or_keys(x)[0, 0, 257]
used = RotaryEmbedding(dim=4)
used.rotate_queries_or_keys(x.bfloat16())
actual = used.rotate_queries_or_keys(x)[0, 0, 257]
print(f"position 257 in f32, expected: {expected.tolist()}\nafter a call in bf16: {actual.tolist()}")
sys.exit(0 if torch.allclose(actual, expected, atol=1e-6) else 1)
