"""README.md, "The definition", in numpy: what a spec says about its pairs, and how they turn. verify.py uses it."""

import numpy as np


def axes_of(spec):
    """The position axis of each pair."""
    p, axes = np.arange(spec["rotary_dim"] // 2), spec.get("axes", {})
    sections = np.array(axes.get("sections", [len(p)]))
    if axes.get("order", "chunked") == "chunked":
        return np.repeat(np.arange(len(sections)), sections)
    if axes["order"] == "spread":
        return np.array(spread(list(sections)))
    if axes["order"] == "others_first":
        return np.array([a for _, a in sorted((t if a else len(p), a) for a, n in enumerate(sections) for t in range(n))])
    own = p % len(sections)
    return np.where(p < len(sections) * sections[own], own, 0)


def spread(pairs):
    axis, last = [], [0] * int(len(pairs) == 3 and pairs[0] > 0)
    pairs[0] -= len(last)
    while len(axis) < sum(pairs):
        left = [a for a, n in enumerate(pairs) if axis.count(a) < n]
        axis.append(min(left, key=lambda a: (axis[-1:] == [a], axis.count(a) / pairs[a])))
    return axis + last


def theta_of(spec, n):
    """theta of each pair at sequence length n; with `restart` each section is a rope of its own."""
    if not spec.get("axes", {}).get("restart"):
        return frequencies(spec, spec["rotary_dim"], spec["head_dim"], n)
    return np.concatenate([frequencies(spec, 2 * s, 2 * s, n) for s in spec["axes"]["sections"] if s])


def frequencies(spec, r, head_dim, n):
    rule, b, p = {"kind": "none"} | spec.get("scaling", {}), float(spec["base"]), np.arange(r // 2)
    kind, length, factor = rule["kind"], rule.get("original_max_position_embeddings"), rule.get("factor", 1)
    if kind in ("ntk", "dynamic"):
        stretch = factor if kind == "ntk" else factor * max(n, length) / length - factor + 1
        b = b * stretch ** (r / (r - 2)) if stretch != 1 else b
    t = b ** (-2 * p / r)
    if kind == "linear":
        return t / factor
    if kind == "yarn":
        x = yarn_ramp(rule, b, p, r)
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


def yarn_ramp(rule, b, p, r):
    length, betas = rule["original_max_position_embeddings"], (rule.get("beta_fast", 32), rule.get("beta_slow", 1))
    low, high = (r * np.log(length / (2 * np.pi * beta)) / (2 * np.log(b)) for beta in betas)
    if rule.get("truncate", True):
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, 0), min(high, r / 2 - 1 if rule.get("clamp") == "pairs" else r - 1)
    return np.clip((p - low) / (high - low if high != low else 0.001), 0, 1)


def lambda_of(spec):
    rule = spec.get("scaling", {})
    factor = rule.get("factor", 1)
    if "attention_factor" in spec or rule.get("kind") not in ("yarn", "longrope") or factor <= 1:
        return spec.get("attention_factor", 1)
    if rule["kind"] == "longrope":
        return np.sqrt(1 + np.log(factor) / np.log(rule["original_max_position_embeddings"]))
    g, both = (lambda w: 0.1 * w * np.log(factor) + 1), (rule.get("mscale", 0), rule.get("mscale_all_dim", 0))
    return g(both[0]) / g(both[1]) if all(both) else g(1)


def pairs_of(spec, x):
    """x has features on its last axis. The result is [2, .., pair]: the first features of all pairs, and the second."""
    r, half = spec["rotary_dim"], spec["rotary_dim"] // 2
    split = [x[..., :half], x[..., half:r]] if spec["pairing"] == "half_split" else [x[..., :r:2], x[..., 1:r:2]]
    return np.array(split)


def xpos_of(spec, m, name):
    """e of each position m, and z of each pair there, of q or k; 0 and 1 without xPos."""
    if "xpos" not in spec:
        return np.zeros_like(m), np.ones_like(m)
    xpos, p = {"gamma": 0.4, "scale_base": 512, "center": 0} | spec["xpos"], np.arange(spec["rotary_dim"] // 2)
    zeta = (2 * p / spec["rotary_dim"] + xpos["gamma"]) / (1 + xpos["gamma"])
    e = (m - xpos["center"]) / xpos["scale_base"]
    return e, zeta ** (e if name == "q" else -e)


def rotated(x1, x2, phi):
    return np.array([x1 * np.cos(phi) - x2 * np.sin(phi), x2 * np.cos(phi) + x1 * np.sin(phi)])
