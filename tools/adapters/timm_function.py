"""timm: apply_rot_embed, which is given sine and cosine for every feature.

The tables stay f32 for every x, as timm's modules give them since it keeps frequencies in f32. The result has x's
dtype."""

import bare_package
import ropecheck
import torch
from ropecheck.conventions.given_tables import positions_of

apply_rot_embed = bare_package.module_of("timm.layers.pos_embed_sincos").apply_rot_embed


def for_each_feature(table, half):
    """[batch, 1, seq, features] of [batch, seq, pairs]."""
    wide = torch.cat([table, table], -1) if half else table.repeat_interleave(2, -1)
    return wide[:, None]


@ropecheck.kernel(array="torch", sources="tables", tables="f32", table_widths="half",
                  features=("positions", "batch_positions", "offset", "key", "grouped_heads", "strided"))
def rope(call):
    half = call.pairing == "half_split"
    positions = positions_of(call).long()
    cos, sin = (for_each_feature(table[positions], half) for table in (call.cos, call.sin))
    turned = [apply_rot_embed(x.transpose(1, 2), sin, cos, half=half).transpose(1, 2)
              for x in (call.q, call.k) if x is not None]
    return turned[0] if call.k is None else tuple(turned)
