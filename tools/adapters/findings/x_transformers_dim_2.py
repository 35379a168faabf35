"""x-transformers: RotaryEmbedding(dim=2) raises ZeroDivisionError. One pair is a valid rotation.

The constructor computes base * base_rescale_factor ** (dim / (dim - 2)), even if the factor is 1.
"""

import sys

import torch
from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

x = torch.tensor([1.0, 0.0]).expand(1, 1, 3, 2)
angles = torch.arange(3.0)
expected = torch.stack([angles.cos(), angles.sin()], -1)
try:
    actual = apply_rotary_pos_emb(x, RotaryEmbedding(dim=2).forward_from_seq_len(3)[0])[0, 0]
except ZeroDivisionError as error:
    print(f"expected: {expected.tolist()}\nactual: ZeroDivisionError: {error}")
    sys.exit(1)
print(f"expected: {expected.tolist()}\nactual: {actual.tolist()}")
sys.exit(0 if torch.allclose(actual, expected, atol=1e-6) else 1)
