"""Computes each layer of a case from the layer before it, by the rules of golden/README.md. Stores nothing."""

import torch

from store import Record


def _axis_of_pairs(spec: dict) -> torch.Tensor:
    pairs, axes = spec["rotary_dim"] // 2, spec.get("axes", {})
    sections = axes.get("sections", [pairs])
    if axes.get("order") == "interleaved":
        count = len(sections)
        return torch.tensor([p % count if p < count * sections[p % count] else 0 for p in range(pairs)])
    return torch.repeat_interleave(torch.arange(len(sections)), torch.tensor(sections))


def _spread(table: torch.Tensor, pairing: str) -> torch.Tensor:
    """From one column per pair to one column per feature."""
    return torch.cat((table, table), dim=-1) if pairing == "half_split" else table.repeat_interleave(2, dim=-1)


def tables(record: Record) -> dict[str, torch.Tensor]:
    """lambda cos and lambda sin in f64, [batch or 1, seq, width], of the stored frequencies' angles. Those are made in
    f32, as the source does: fl(fl(m / divisor) theta)."""
    entry = record.entry
    result = {}
    for name in tables_of(record):
        function = torch.cos if name.endswith("cos") else torch.sin
        result[name] = entry["attention_factor"] * function(_angles(record, name.startswith("k_")))
    return {name: values.expand_as(record.arrays[name]) for name, values in result.items()}


def tables_of(record: Record) -> list[str]:
    """k has its own where its tokens are others than q's."""
    return ["cos", "sin"] + (["k_cos", "k_sin"] if "k_cos" in record.arrays else [])


def _angles(record: Record, keys: bool) -> torch.Tensor:
    """[batch or 1, seq, width] in f64, of numbers that f32 holds."""
    entry = record.entry
    name = "k_positions" if keys else "positions"
    positions = record.arrays[name].to(torch.float32) / entry["position_divisor"]
    theta = record.arrays["theta"].to(torch.float32)
    angle = positions[_axis_of_pairs(entry["spec"])].permute(1, 2, 0) * theta
    if record.arrays["cos"].shape[-1] != theta.shape[0]:
        angle = _spread(angle, entry["layout"])
    return angle.to(torch.float64)


def _partner(x: torch.Tensor, layout: str) -> torch.Tensor:
    """(-second, first) in the place of (first, second)."""
    if layout == "half_split":
        half = x.shape[-1] // 2
        return torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def output(record: Record, name: str) -> torch.Tensor:
    """q_out or k_out from the stored tables, rounded wherever the case's rule rounds, mistakes included."""
    entry = record.entry
    instead = entry.get("instead", {}).get("rule")
    x = record.arrays[name]
    cos, sin = (record.arrays.get(f"{name}_{table}", record.arrays[table]) for table in ("cos", "sin"))
    r = entry["spec"]["rotary_dim"]
    if cos.shape[-1] != r:
        cos, sin = _spread(cos, entry["layout"]), _spread(sin, entry["layout"])
    # From [batch, seq, r] to the axes of x, with length 1 for the heads.
    order = [("batch", "seq", "heads", "head_dim").index(w) for w in entry["axes"].split(", ")]
    from_token = instead != "position_of_head"

    def beside(table: torch.Tensor) -> torch.Tensor:
        return (table[:, :, None, :] if from_token else table[:, None, :, :]).permute(order)

    def as_multiplied(values: torch.Tensor) -> torch.Tensor:
        widened = entry["rounding"] == "final-cast" or entry["output_dtype"] == "f32"
        return values[..., :r].to(torch.float32) if widened else values[..., :r]

    cos, sin = beside(cos), beside(sin)
    if entry["rounding"] == "final-cast":
        cos, sin = cos.to(torch.float32), sin.to(torch.float32)
    own = as_multiplied(x)
    partner = _partner(as_multiplied(record.arrays["q"] if instead == "k_turned_with_q" else x), entry["layout"])
    if instead == "second_block_one_column_left":
        own, partner = own.clone(), partner.clone()
        own[..., 2:4], partner[..., 2], partner[..., 3] = x[..., 1:3], -x[..., 2], x[..., 1]
    kept, turned = own * cos, partner * sin
    if f"{name}_scale" in record.arrays:
        scale = beside(record.arrays[f"{name}_scale"])
        kept, turned = kept * scale, turned * scale
    stored = record.arrays[f"{name}_out"]
    return torch.cat(((kept + turned).to(stored.dtype), x[..., r:].to(stored.dtype)), dim=-1)


def _by_heads(record: Record, name: str, heads: int | None = None) -> torch.Tensor:
    """An array of the case's axes as f64 [batch, heads, seq, head_dim]. Heads are repeated until there are `heads`."""
    words = record.entry["axes"].split(", ")
    order = [words.index(w) for w in ("batch", "heads", "seq", "head_dim")]
    values = record.arrays[name].to(torch.float64).permute(order)
    return values.repeat_interleave((heads or values.shape[1]) // values.shape[1], dim=1)


def attention_errors(record: Record) -> dict[str, float]:
    """Largest errors of scores, weights and attended values against f64, as fractions of the bounds of
    golden/README.md. Each is judged given the layer before it."""
    u = 2.0**-24
    dtype = record.arrays["scores"].dtype
    v = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}.get(dtype, 0.0)
    tiny = 2.0**-25 if dtype == torch.float16 else 2.0**-133
    scale = record.entry.get("score_scale", 1.0)
    axes = {a["name"]: a["axes"].split(", ") for a in record.entry["arrays"]}

    def stored(name: str, *words: str) -> torch.Tensor:
        return record.arrays[name].to(torch.float64).permute([axes[name].index(w) for w in words])

    q = _by_heads(record, "q_out")
    k = _by_heads(record, "k_out", q.shape[1])
    if record.entry.get("instead", {}).get("rule") == "k_not_conjugated":
        # The mistake does not use the outputs: its layer starts from the case's input.
        return {"scores": _unconjugated_error(record, q, stored("scores", "batch", "heads", "query", "key"))}
    scores = stored("scores", "batch", "heads", "query", "key")
    products = q @ k.transpose(-2, -1) * scale
    magnitude = q.abs() @ k.abs().transpose(-2, -1) * scale
    bound = magnitude * ((q.shape[-1] + (0 if scale == 1 else 2)) * u + (1 if scale == 1 else 2) * v)
    if "mask" in record.arrays:
        words = axes["mask"]
        hidden = stored("mask", *(w for w in ("batch", "query", "key") if w in words)) == 0
        hidden = hidden[:, None] if "batch" in words else hidden
        added = record.entry.get("masked_score")
        if added is None:
            products, bound = products.masked_fill(hidden, -1e9), bound.masked_fill(hidden, 2.0**-60)
        else:
            products, bound = products + hidden * added, bound + hidden * max(u, v) * -added
            products = products.clamp(min=-65504) if dtype == torch.float16 else products
    finite = scores.clamp(min=-65504) if dtype == torch.float16 else scores  # -inf: a masked score that overflowed
    errors = {"scores": float(((finite - products).abs() / bound).max())}
    if "weights" in record.arrays:
        weights = stored("weights", "batch", "heads", "query", "key")
        exact = scores.softmax(-1)
        # exp of a rounded difference, itself within one ulp; then the sum and the quotient.
        own = (u * ((scores - scores.amax(-1, keepdim=True)).abs() + 2)).nan_to_num(posinf=0)  # -inf weighs exactly 0
        bound = exact * (own + (exact * own).sum(-1, keepdim=True) + (scores.shape[-1] + 1) * u + v)
        errors["weights"] = float(((weights - exact).abs() / (bound + tiny)).max())
        values = _by_heads(record, "v", q.shape[1])
        bound = (values.shape[-2] * u + v) * (weights.abs() @ values.abs()) + tiny
        attended = stored("attended", "batch", "heads", "query", "head_dim")
        errors["attended"] = float(((attended - weights @ values).abs() / bound).max())
    return errors


def _unconjugated_error(record: Record, q_out: torch.Tensor, scores: torch.Tensor) -> float:
    """Re sum q_j k_j e^((m-n) i theta) = Re sum (q_j e^(m i theta)) conj(conj(k_j) e^(n i theta)), from the tables."""
    k = _by_heads(record, "k").clone()
    k[..., 1::2] *= -1
    cos, sin = (_spread(record.arrays[n], "interleaved").to(torch.float64) for n in ("cos", "sin"))
    turned = k * cos + _partner(k, "interleaved") * sin
    norms = [x.unflatten(-1, (-1, 2)).norm(dim=-1) for x in (q_out, k)]
    magnitude = norms[0] @ norms[1].transpose(-2, -1)
    # Each side makes its own angles, each rounded once, and its own tables: 12 roundings in all, and the sum.
    seq, theta = scores.shape[-1], float(record.arrays["theta"].max())
    bound = (3 * seq * theta + 12 + q_out.shape[-1]) * 2.0**-24 * magnitude
    return float(((scores - q_out @ turned.transpose(-2, -1)).abs() / bound).max())
