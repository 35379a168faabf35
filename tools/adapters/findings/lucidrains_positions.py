"""rotary-embedding-torch counts positions in the queries' dtype: bf16 cannot hold 257, f16 cannot hold 2049.

rotate_queries_or_keys calls get_seq_pos(.., dtype=t.dtype), which is torch.arange in that dtype.
"""

import sys

import torch
from rotary_embedding_torch import RotaryEmbedding

found = 0
for dtype, last in ((torch.bfloat16, 256), (torch.float16, 2048)):
    x = torch.tensor([1.0, 0.0, 1.0, 0.0], dtype=dtype).expand(1, 1, last + 2, 4)
    turned = RotaryEmbedding(dim=4).rotate_queries_or_keys(x)[0, 0].double()
    for position in (last, last + 1):
        angle = torch.tensor([position, position / 100], dtype=torch.float64)
        expected = torch.stack([angle.cos(), angle.sin()], -1).flatten()
        error = (turned[position] - expected).abs().max().item()
        print(f"{dtype}, position {position}: expected {[round(v, 3) for v in expected.tolist()]}, "
              f"actual {[round(v, 3) for v in turned[position].tolist()]}")
        found |= error > 0.02  # 16-bit storage costs 0.004, f32 angles below 0.001
sys.exit(1 if found else 0)
