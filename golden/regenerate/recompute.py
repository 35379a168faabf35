"""Each layer of a case from the layer before it, by the rules of golden/README.md. Nothing here is ever stored."""

import torch

from store import Record


def _axis_of_pairs(spec: dict) -> torch.Tensor:
    sections = spec.get("axes", {}).get("sections", [spec["rotary_dim"] // 2])
    return torch.repeat_interleave(torch.arange(len(sections)), torch.tensor(sections))


def _spread(table: torch.Tensor, pairing: str) -> torch.Tensor:
    """One column a pair to one column a feature."""
    return torch.cat((table, table), dim=-1) if pairing == "half_split" else table.repeat_interleave(2, dim=-1)


def tables(record: Record) -> dict[str, torch.Tensor]:
    """cos and sin, [batch or 1, seq, width], from the stored frequencies: angle = fl(fl(m / divisor) theta) in f32."""
    entry = record.entry
    positions = record.arrays["positions"].to(torch.float32) / entry["position_divisor"]
    theta = record.arrays["theta"].to(torch.float32)
    angle = positions[_axis_of_pairs(entry["spec"])].permute(1, 2, 0) * theta
    stored = record.arrays["cos"]
    if stored.shape[-1] != theta.shape[0]:
        angle = _spread(angle, entry["layout"])
    factor = entry["attention_factor"]
    result = {}
    for name, values in (("cos", angle.cos()), ("sin", angle.sin())):
        values = values * factor if factor != 1 else values
        result[name] = values.to(stored.dtype).expand_as(stored)
    return result


def output(record: Record, name: str) -> torch.Tensor:
    """q_out or k_out from the stored tables, every rounding where the case's rule puts it."""
    entry = record.entry
    words = entry["axes"].split(", ")
    x = record.arrays[name]
    cos, sin = record.arrays["cos"], record.arrays["sin"]
    r = entry["spec"]["rotary_dim"]
    if cos.shape[-1] != r:
        cos, sin = _spread(cos, entry["layout"]), _spread(sin, entry["layout"])
    # [batch, seq, r] to the axes of x, with length 1 for the heads.
    order = [("batch", "seq", "heads", "head_dim").index(w) for w in words]
    cos, sin = (t[:, :, None, :].permute(order) for t in (cos, sin))

    turning = x[..., :r]
    if entry["rounding"] == "final-cast" or entry["output_dtype"] == "f32":
        turning = turning.to(torch.float32)
    if entry["rounding"] == "final-cast":
        cos, sin = cos.to(torch.float32), sin.to(torch.float32)
    if entry["layout"] == "half_split":
        first, second = turning[..., : r // 2], turning[..., r // 2 :]
        partner = torch.cat((-second, first), dim=-1)
    else:
        partner = torch.stack((-turning[..., 1::2], turning[..., 0::2]), dim=-1).flatten(-2)
    rotated = turning * cos + partner * sin
    stored = record.arrays[f"{name}_out"]
    return torch.cat((rotated.to(stored.dtype), x[..., r:].to(stored.dtype)), dim=-1)


def score_error(record: Record) -> float:
    """Largest error of the stored scores against f64, as a fraction of the bound n u sum |q||k|."""
    q, k = (record.arrays[name].to(torch.float64) for name in ("q_out", "k_out"))
    exact = torch.einsum("ibhd,jbhd->ijbh", q, k)
    bound = q.shape[-1] * 2.0**-24 * torch.einsum("ibhd,jbhd->ijbh", q.abs(), k.abs())
    return float(((record.arrays["scores"].to(torch.float64) - exact).abs() / bound).max())
