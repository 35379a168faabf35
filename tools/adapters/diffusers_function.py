"""diffusers: get_1d_rotary_pos_embed and apply_rotary_emb.

Both take the positions of one sequence for all batches. `rope` makes angles in f32, the default; `rope_in_f64` makes
them in f64, as FLUX does. The tables are f32, and the result has x's dtype."""

import importlib.metadata

import bare_package
import ropecheck
import torch

library = bare_package.module_of("diffusers.models.embeddings", __version__=importlib.metadata.version("diffusers"))
CLAIMS = {"array": "torch", "dtypes": ("f32", "f16", "bf16"), "sources": "computed", "scalings": ("none", "linear"),
          "features": ("positions", "offset", "key", "grouped_heads", "strided")}  # fmt: skip


def turned(call, dtype):
    half = call.pairing == "half_split"
    tables = library.get_1d_rotary_pos_embed(
        call.rotary_dim, call.position_ids()[0], theta=call.base, use_real=True,
        linear_factor=call.scaling.get("factor", 1.0), repeat_interleave_real=not half, freqs_dtype=dtype)
    results = [library.apply_rotary_emb(x, tables, use_real_unbind_dim=-2 if half else -1, sequence_dim=1)
               for x in (call.q, call.k) if x is not None]
    return results[0] if call.k is None else tuple(results)


@ropecheck.kernel(**CLAIMS)
def rope(call):
    return turned(call, torch.float32)


@ropecheck.kernel(**CLAIMS)
def rope_in_f64(call):
    return turned(call, torch.float64)
