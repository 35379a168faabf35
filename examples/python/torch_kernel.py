"""A rope kernel in torch: interleaved, base given, as complex numbers.

    ropecheck verify python:torch_kernel:rope
"""

import torch

import ropecheck


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="computed", scalings="none", pairings="interleaved",
                  features=("positions", "batch_positions", "offset", "key", "grouped_heads"))
def rope(call):
    theta = call.base ** (-torch.arange(0, call.rotary_dim, 2, device=call.q.device) / call.rotary_dim)
    phi = call.position_ids()[..., None] * theta
    turn = torch.polar(torch.ones_like(phi), phi)[:, :, None, :]

    def rotated(x):
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)

    return rotated(call.q) if call.k is None else (rotated(call.q), rotated(call.k))
