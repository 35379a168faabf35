"""README.md, "How far a source may be off", in numpy: what each array should hold, and how far it may be from that.

Each function yields rows: the name of an array, its values, what they should be, and their bound. x has the arrays of
the case as verify.arrays_of gives them, dtype their dtypes.
"""

import numpy as np
from definition import axes_of, lambda_of, pairs_of, rotated, theta_of, xpos_of

U = 2.0**-24
V = {"f64": 0, "f32": 0, "f16": 2.0**-11, "bf16": 2.0**-8}


def rows_of(case, x, dtype):
    if "theta" in x and not case.get("theta_is_given"):
        theta = theta_of(case["spec"], case["sequence_length"]) * case["position_divisor"]
        yield "theta", x["theta"], theta, case.get("c", 0) * U * theta
    for name in ("q", "k"):
        if name in x:
            other = "k_" if name == "k" and "k_positions" in x else ""
            m = np.moveaxis(x[f"{other}positions"][axes_of(case["spec"])], 0, -1)[:, None]
            yield from outputs(case, x, dtype, name, m)
            if "cos" in x:
                if name == "q" or other:  # once where q and k share their tables
                    yield from tables(case, x, dtype, f"{other}cos", f"{other}sin", m)
                yield from outputs_from_tables(case, x, dtype, name, x[f"{other}cos"], x[f"{other}sin"])
    if "scores" in x:
        yield from attention(case, x, dtype)


def tables(case, x, dtype, cos, sin, m):
    lam, angle = lambda_of(case["spec"]), np.float32(m / case["position_divisor"]) * np.float32(x["theta"])
    for name, function in (cos, np.cos), (sin, np.sin):
        bound = lam * (U * (1 if lam == 1 else 3) + V[dtype[name]])
        yield name, x[name], lam * function(angle.astype(np.float64)), bound


def outputs(case, x, dtype, name, m):
    spec, lam, out, c = case["spec"], lambda_of(case["spec"]), f"{name}_out", case.get("c", 0)
    u, v, theta = 2.0**-53 if dtype[out] == "f64" else U, V[dtype[out]], theta_of(spec, case["sequence_length"])
    if case.get("theta_is_given"):
        theta, c = x["theta"] / case["position_divisor"], 0
    (x1, x2), (e, z), phi, r = pairs_of(spec, x[name]), xpos_of(spec, m, name), m * theta, spec["rotary_dim"]
    a = 2.87 * u + (0 if lam == 1 else 2 * u)
    if "xpos" in spec:
        factor = (4 * np.abs(e) + 4) * u + V[dtype[f"{name}_scale"]] * (1 if name == "q" else 2)
        yield f"{name}_scale", x[f"{name}_scale"], z, z * factor
        a = a + factor
    if case["rounding"] == "final-cast":
        a = a + (2 * v * (1 + 2 * v) if V[dtype["cos"]] else v)
    if case["rounding"] == "per-op":
        a = a + (3 if lam == 1 else 5) * v * (1 + 3 * v)
    bound = lam * z * np.hypot(x1, x2) * ((c + 1) * u * np.abs(phi) + a)
    tiny = 2.0**-23 if dtype[out] == "f16" else 2.0**-130
    yield out, pairs_of(spec, x[out]), lam * z * rotated(x1, x2, phi), bound + tiny
    yield f"{out} from feature {r} on", x[out][..., r:], x[name][..., r:], 0


def outputs_from_tables(case, x, dtype, name, cos, sin):
    (x1, x2), out = pairs_of(case["spec"], x[name]), f"{name}_out"
    kept = dtype[name] if case["rounding"] == "per-op" else "f32"
    first, second = rounded(np.array([x1, x2]) * cos, kept), rounded(np.array([-x2, x1]) * sin, kept)
    if "xpos" in case["spec"]:
        first, second = (rounded(term * x[f"{name}_scale"], kept) for term in (first, second))
    y = rounded(rounded(first + second, kept), "f32" if case["rounding"] == "f32" else dtype[out])
    yield f"{out} from its tables", pairs_of(case["spec"], x[out]), y, 0


def rounded(x, dtype):
    if dtype != "bf16":
        return x.astype({"f64": np.float64, "f32": np.float32, "f16": np.float16}[dtype]).astype(np.float64)
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).view(np.float32).astype(np.float64)


def attention(case, x, dtype):
    scaled, masked, v = "score_scale" in case, case.get("masked_score"), V[dtype["scores"]]
    is_f16, q, k = dtype["scores"] == "f16", x["q_out"], for_heads(x["k_out"], x["q_out"])
    exact, size = (np.einsum("bhqd,bhkd->bhqk", f(q), f(k)) * case.get("score_scale", 1) for f in (np.array, np.abs))
    bound = ((q.shape[-1] + 2 * scaled) * U + (1 + scaled) * v) * size
    hidden = x["mask"] == 0 if "mask" in x else np.zeros(exact.shape, bool)
    if masked is None:
        exact, bound = np.where(hidden, -1e9, exact), np.where(hidden, 0, bound)
    else:
        exact, bound = exact + hidden * masked, bound - hidden * max(U, v) * masked
    lowest = -65504 if is_f16 else -np.inf
    yield "scores", np.maximum(x["scores"], lowest), np.maximum(exact, lowest), bound
    if "weights" in x:
        d = x["scores"].max(-1, keepdims=True) - x["scores"]
        w, off, tiny = np.exp(-d), np.where(np.isinf(d), 0, (d + 2) * U), 2.0**-25 if is_f16 else 2.0**-133
        w = w / w.sum(-1, keepdims=True)
        relative = off + (w * off).sum(-1, keepdims=True) + (d.shape[-1] + 1) * U + v
        yield "weights", x["weights"], w, w * relative + tiny
        w, values = x["weights"], for_heads(x["v"], q)
        yield "attended", x["attended"], w @ values, (d.shape[-1] * U + v) * (w @ np.abs(values)) + tiny


def for_heads(k, q):
    """A head of k or v for each head of q."""
    return np.repeat(k, q.shape[1] // k.shape[1], axis=1)
