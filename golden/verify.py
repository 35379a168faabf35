#!/usr/bin/env python3
"""Judges every golden case by the formulas of README.md beside it, with only numpy: verify.py [FOLDER] [--list].

Prints each case that is not as the manifest says, or with --list every case. Exit codes: 0 all are; 1 some are not.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from definition import axes_of, lambda_of, pairs_of, theta_of

U = 2.0**-24
V = {"f16": 2.0**-11, "bf16": 2.0**-8}


def load(folder, a):
    content = (folder / a["file"]).read_bytes()
    if hashlib.sha256(content).hexdigest() != a["sha256"]:
        raise ValueError(f"{a['file']}: sha256 is not the manifest's; restore the file from git")
    x = np.load(folder / a["file"], allow_pickle=False)
    return (x.astype(np.uint32) << 16).view(np.float32) if a["dtype"] == "bf16" else x


def rounded(x, dtype):
    if dtype != "bf16":
        return x.astype({"f64": np.float64, "f32": np.float32, "f16": np.float16}[dtype])
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).view(np.float32)


def within(what, error, bound, faults):
    if np.any(np.isnan(error)) or np.any(error > bound):
        faults.append(f"{what}: {int(np.sum(~(error <= bound)))} of {error.size} values are beyond their bound")


def half_unit(values, printed):
    # f64 holds neither the printed number nor the power of ten exactly: an exact value at half a unit may not fail.
    scale = np.floor(np.log10(np.abs(values))) if printed["form"] == "scientific" else 0
    return 0.5 * 10.0 ** (scale - printed["digits"]) * (1 + 1e-9)


def attention(case, x, of, faults):
    """x: the arrays; of(name): q_out, k_out or v as [batch, heads, seq, head_dim] in f64, a head of k for each of q."""
    def order(name):
        words = info[name]["axes"].split(", ")
        mine = ["batch", "heads", "query", "head_dim" if name == "attended" else "key"]
        return x[name].astype(np.float64).transpose([words.index(w) for w in mine if w in words])

    info = {a["name"]: a for a in case["arrays"]}
    dtype, scaled, masked_score = info["scores"]["dtype"], "score_scale" in case, case.get("masked_score")
    v, tiny, least = V.get(dtype, 0), 2.0**-25 if dtype == "f16" else 2.0**-133, -65504 if dtype == "f16" else -np.inf
    q, k, scores, mask = of("q_out"), of("k_out"), order("scores"), order("mask") if "mask" in x else np.ones((1, 1))
    hidden = (mask == 0) if mask.ndim == 2 else (mask == 0)[:, None]
    exact, size = (np.einsum("bhqd,bhkd->bhqk", f(q), f(k)) * case.get("score_scale", 1) for f in (np.array, np.abs))
    bound = ((q.shape[-1] + 2 * scaled) * U + (1 + scaled) * v) * size
    if masked_score is None:
        exact, bound = np.where(hidden, -1e9, exact), np.where(hidden, 0, bound)
    else:
        exact, bound = exact + hidden * masked_score, bound - hidden * max(U, v) * masked_score
    within("scores", np.abs(np.maximum(scores, least) - np.maximum(exact, least)), bound, faults)
    if "weights" not in x:
        return
    weights, d = order("weights"), scores.max(-1, keepdims=True) - scores
    exact = np.exp(-d) / np.exp(-d).sum(-1, keepdims=True)
    off = np.where(np.isinf(d), 0, (d + 2) * U)
    bound = exact * (off + (exact * off).sum(-1, keepdims=True) + (d.shape[-1] + 1) * U + v) + tiny
    within("weights", np.abs(weights - exact), bound, faults)
    values = of("v")
    bound = (values.shape[-2] * U + v) * (weights @ np.abs(values)) + tiny
    within("attended", np.abs(order("attended") - weights @ values), bound, faults)


def faults_of(case, folder):
    spec, c, faults = case["spec"], case.get("c", 0), []
    info = {a["name"]: a for a in case["arrays"]}
    x = {name: load(folder, a) for name, a in info.items()}
    r, half, axes, lam = spec["rotary_dim"], spec["rotary_dim"] // 2, axes_of(spec), lambda_of(spec)
    theta = theta_of(spec, case["sequence_length"])
    if case.get("theta_is_given"):
        theta, c = x["theta"].astype(np.float64), 0
    elif "theta" in x:
        known = x["theta"] / case["position_divisor"]
        bound = half_unit(known, info["theta"]["printed"]) if "printed" in info["theta"] else c * U * theta
        within("theta", np.abs(known - theta), bound, faults)
    if "q" not in x:
        return faults
    one, two, pair = pairs_of(spec)
    to_tokens = [case["axes"].split(", ").index(w) for w in ("batch", "seq", "heads", "head_dim")]
    for name in ("q", "k"):
        if name not in x:
            continue
        out, prefix = info[f"{name}_out"], "k_" if name == "k" and "k_positions" in x else ""
        positions = x[f"{prefix}positions"][axes].transpose(1, 2, 0)  # [batch or 1, seq, pair]
        m = positions.astype(np.float64)
        if "cos" in x:
            own = positions.astype(np.float32) / np.float32(case["position_divisor"]) * x["theta"].astype(np.float32)
            narrow = V.get(info["cos"]["dtype"], 0)
            for table, f in ((f"{prefix}cos", np.cos), (f"{prefix}sin", np.sin)):
                exact = lam * f(own.astype(np.float64)[..., np.arange(half) if x[table].shape[-1] == half else pair])
                within(table, np.abs(x[table] - exact), lam * (U * (1 if lam == 1 else 3) + narrow), faults)
        a, y = (x[s].transpose(to_tokens) for s in (name, f"{name}_out"))
        if not np.array_equal(y[..., r:], a[..., r:].astype(y.dtype)):
            faults.append(f"{name}_out: features from {r} on are not copied")
        u = 2.0**-53 if out["dtype"] == "f64" else U
        v, tables, rule = V.get(out["dtype"], 0), V.get(info.get("cos", out)["dtype"], 0), case["rounding"]
        z, more = 1.0, 0.0
        if "xpos" in spec:
            e = (m - spec["xpos"].get("center", 0)) / spec["xpos"]["scale_base"]
            z = ((2 * np.arange(half) / r + spec["xpos"]["gamma"]) / (1 + spec["xpos"]["gamma"])) ** (e if name == "q" else -e)
            z, more = z[:, :, None], (4 * np.abs(e[:, :, None]) + 4) * u + V.get(info["q_scale"]["dtype"], 0) * (1 if name == "q" else 2)
        storage = {"f32": 0, "printed": 0, "final-cast": 2 * v * (1 + 2 * v) if tables else v,
                   "per-op": (3 if lam == 1 else 5) * v * (1 + 3 * v)}[rule]  # fmt: skip
        x1, x2 = (a[..., s].astype(np.float64) for s in (one, two))
        angle = (m * theta)[:, :, None]
        cos, sin = lam * z * np.cos(angle), lam * z * np.sin(angle)
        arithmetic = (2.87 if lam == 1 else 4.87) * u + more + storage
        bound = lam * z * np.hypot(x1, x2) * ((c + 1) * u * np.abs(angle) + arithmetic)
        bound = bound + (2.0**-23 if out["dtype"] == "f16" else 2.0**-130)
        for s, exact in ((one, x1 * cos - x2 * sin), (two, x2 * cos + x1 * sin)):
            limit = half_unit(y[..., s], out["printed"]) if "printed" in out else bound
            within(f"{name}_out", np.abs(y[..., s] - exact), limit, faults)
        if rule != "printed" and case["status"] == "conforms":
            def columns(s):
                return x[s][..., pair if x[s].shape[-1] == half else slice(None)][:, :, None]

            kept = info["q"]["dtype"] if rule == "per-op" else "f32"
            partner = np.empty_like(a[..., :r])
            partner[..., one], partner[..., two] = -a[..., two], a[..., one]
            terms = [rounded(rounded(w, kept) * rounded(columns(s), kept), kept) for w, s in
                     ((a[..., :r], f"{prefix}cos"), (partner, f"{prefix}sin"))]  # fmt: skip
            if f"{name}_scale" in x:
                terms = [rounded(w * columns(f"{name}_scale"), kept) for w in terms]
            if not np.array_equal(rounded(rounded(terms[0] + terms[1], kept), out["dtype"]), y[..., :r]):
                faults.append(f"{name}_out: not bit for bit what {rule} makes of the tables")
    if "scores" in x:
        groups = info["q"]["shape"][to_tokens[2]] // info["k"]["shape"][to_tokens[2]]

        def by_head(name):
            values = x[name].transpose(to_tokens).transpose(0, 2, 1, 3).astype(np.float64)
            return values if name == "q_out" else np.repeat(values, groups, axis=1)

        attention(case, x, by_head, faults)
    return faults


def main(words):
    folder = Path(next((w for w in words if w != "--list"), Path(__file__).resolve().parent))
    cases = json.loads((folder / "manifest.json").read_text())["cases"]
    wrong = conform = 0
    for case in cases:
        try:
            faults = faults_of(case, folder)
            is_as_said = (case["status"] == "conforms") == (not faults)
        except ValueError as error:  # a damaged file: neither status is shown
            faults, is_as_said = [str(error)], False
        conform += not faults
        wrong += not is_as_said
        if not is_as_said or "--list" in words:
            print(f"{'' if is_as_said else 'WRONG '}{case['id']}: {case['status']}; {'; '.join(faults) or 'no fault found'}")
    verdict = f"{wrong} are not as the manifest says" if wrong else "all as the manifest says"
    arrays = sum(len(case["arrays"]) for case in cases)
    print(f"{len(cases)} cases, {arrays} arrays: {conform} conform, {len(cases) - conform} deviate; {verdict}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
