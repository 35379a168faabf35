"""README.md, "The definition", in numpy: frequencies, lambda, axes and pairs of a spec. verify.py uses it."""

import numpy as np


def theta_of(spec, n):
    """theta of each pair at sequence length n; with `restart` each section is a rope of its own."""
    if not spec.get("axes", {}).get("restart"):
        return frequencies(spec, spec["rotary_dim"], spec["head_dim"], n)
    return np.concatenate([frequencies(spec, 2 * s, 2 * s, n) for s in spec["axes"]["sections"] if s])


def frequencies(spec, r, head_dim, n):
    rule, b, p = {"kind": "none"} | spec.get("scaling", {}), float(spec["base"]), np.arange(r // 2)
    kind, length, factor = rule["kind"], rule.get("original_max_position_embeddings"), rule.get("factor", 1)
    stretch = {"ntk": factor, "dynamic": factor * max(n, length or 1) / (length or 1) - factor + 1}.get(kind, 1)
    t = (b * (stretch ** (r / (r - 2)) if stretch != 1 else 1)) ** (-2 * p / r)
    if kind == "linear":
        return t / factor
    if kind == "yarn":
        low, high = (r * np.log(length / (2 * np.pi * rule.get(k, d))) / (2 * np.log(b)) for k, d in
                     (("beta_fast", 32), ("beta_slow", 1)))  # fmt: skip
        if rule.get("truncate", True):
            low, high = np.floor(low), np.ceil(high)
        low, high = max(low, 0), min(high, r - 1 if rule.get("clamp", "rotary_dim") == "rotary_dim" else r // 2 - 1)
        x = np.clip((p - low) / ((high if high != low else high + 0.001) - low), 0, 1)
        return t * x / factor + t * (1 - x)
    if kind == "longrope":
        return t / np.array(rule["long_factor" if n > length else "short_factor"])
    if kind == "llama3":
        factor, low, high = rule.get("factor", 8), rule.get("low_freq_factor", 1), rule.get("high_freq_factor", 4)
        turns = length * t / (2 * np.pi)
        x = np.clip((turns - low) / (high - low), 0, 1) if high != low else turns >= high
        return t * (1 - x) / factor + t * x
    if kind == "proportional":
        return np.where(p < np.floor(rule["proportion"] * head_dim / 2), t / factor, 0)
    if kind == "pixel":
        return np.pi * (1 + (rule.get("max_frequency", 10) / 2 - 1) * p / max(r // 2 - 1, 1))
    return np.ones(r // 2) if kind == "constant" else t


def lambda_of(spec):
    rule = spec.get("scaling", {})
    factor = rule.get("factor", 1)
    if "attention_factor" in spec or rule.get("kind") not in ("yarn", "longrope") or factor <= 1:
        return spec.get("attention_factor", 1)
    if rule["kind"] == "longrope":
        return np.sqrt(1 + np.log(factor) / np.log(rule["original_max_position_embeddings"]))
    g, both = (lambda w: 0.1 * w * np.log(factor) + 1), (rule.get("mscale", 0), rule.get("mscale_all_dim", 0))
    return g(both[0]) / g(both[1]) if all(both) else g(1)


def axes_of(spec):
    """The position axis of each pair."""
    r, axes = spec["rotary_dim"], spec.get("axes", {})
    sections = axes.get("sections", [r // 2])
    if axes.get("order", "chunked") == "chunked":
        return np.repeat(np.arange(len(sections)), sections)
    own = np.arange(r // 2) % len(sections)
    return np.where(np.arange(r // 2) < len(sections) * np.array(sections)[own], own, 0)


def pairs_of(spec):
    """The first features of all pairs, their second features, and the pair of each feature."""
    half = spec["rotary_dim"] // 2
    p = np.arange(half)
    one, two = (p, p + half) if spec["pairing"] == "half_split" else (2 * p, 2 * p + 1)
    pair = np.empty(2 * half, int)
    pair[one] = pair[two] = p
    return one, two, pair
