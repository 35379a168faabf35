"""Compares theta, lambda, axes and xPos's zeta of reference/ with a second derivation, for random specs.

    second_derivation.py BUILD [COUNT] [SEED]       exit code 77 where mpmath is missing: ctest counts it as skipped

All built-in kernels and the oracle take theta from reference/scaling, so a mistake there would agree with itself. This
file was written from the papers and from the models' own descriptions, not from reference/. It uses other forms of the
formulas, wavelengths where there are turns, and another library: mpmath at 50 digits. Each theta has to agree to 1e-25.
"""

import json
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
try:
    import mpmath
    from mpmath import mpf
except ImportError:
    ours = Path(__file__).resolve().parents[2] / "build" / "golden-venv" / "bin" / "python"
    if not ours.exists() or Path(sys.prefix) == ours.parents[1]:
        print("mpmath is missing; install python3-mpmath, or make build/golden-venv: ropecheck golden regenerate --check")
        sys.exit(77)
    os.execv(ours, [str(ours), *sys.argv])

mpmath.mp.dps = 50
AGREE = mpf(10) ** -25


class Rope:
    """One rope with d features: theta of its d/2 pairs."""

    def __init__(self, base: float, d: int, whole_head: int, n: int) -> None:
        self.log_base, self.d, self.whole_head, self.n = mpmath.log(mpf(base)), d, whole_head, n
        self.pairs = range(d // 2)

    def plain(self) -> list:
        """RoFormer, section 3.2.2: Theta = {base^(-2(i-1)/d), i = 1 .. d/2}."""
        return [mpmath.exp(-(2 * i) * self.log_base / self.d) for i in self.pairs]

    def slower_by(self, s: mpf) -> list:
        """NTK-aware: a base for which the slowest pair, d/2 - 1, turns s times slower, and pair 0 as before. theta is a
        geometric series, so pair i turns s^(i/(d/2 - 1)) times slower."""
        ln = mpmath.log(s)
        return [t * mpmath.exp(-ln * i / (self.d // 2 - 1)) for i, t in zip(self.pairs, self.plain(), strict=True)]

    def none(self) -> list:
        return self.plain()

    def linear(self, factor: float) -> list:
        """Position interpolation, Chen et al., equation 4: f(x, m L / L')."""
        return [t * (1 / mpf(factor)) for t in self.plain()]

    def ntk(self, factor: float) -> list:
        return self.slower_by(mpf(factor))

    def dynamic(self, factor: float, original_max_position_embeddings: float) -> list:
        """Beyond the original length, as transformers documents it: alpha = factor l / L - (factor - 1)."""
        ratio = mpf(self.n) / mpf(original_max_position_embeddings)
        return self.plain() if ratio <= 1 else self.slower_by(1 + mpf(factor) * (ratio - 1))

    def yarn(self, factor: float, original_max_position_embeddings: float, **more: object) -> list:
        """YaRN, section 3.2, with the ramp over dimensions of the published code. The wavelength of dimension x,
        2 pi base^(2x/d), goes `turns` times into the original length."""
        longest, slow = mpf(original_max_position_embeddings), 1 / mpf(factor)

        def dimension(turns: float) -> mpf:
            wavelength = longest / mpf(turns)
            return mpmath.log(wavelength / (2 * mpmath.pi)) / self.log_base * self.d / 2

        start, end = dimension(more.get("beta_fast", 32)), dimension(more.get("beta_slow", 1))
        if more.get("truncate", True):
            start, end = mpmath.floor(start), mpmath.ceil(end)
        start, end = max(mpf(0), start), min(end, mpf(self.d // 2 - 1 if more.get("clamp") == "pairs" else self.d - 1))
        end = end + mpf("0.001") if start == end else end
        result = []
        for i, t in zip(self.pairs, self.plain(), strict=True):
            extrapolated = 1 - min(mpf(1), max(mpf(0), (i - start) / (end - start)))
            result.append(t * (slow + extrapolated * (1 - slow)))
        return result

    def longrope(self, original_max_position_embeddings: float, short_factor: list, long_factor: list, **_: object) -> list:
        """LongRoPE, equation 3: each pair is divided by its own lambda_i; Phi-3 changes the list beyond L."""
        chosen = short_factor if self.n <= original_max_position_embeddings else long_factor
        return [mpmath.exp(-(2 * i) * self.log_base / self.d - mpmath.log(mpf(chosen[i]))) for i in self.pairs]

    def llama3(self, factor: float, low_freq_factor: float, high_freq_factor: float, original_max_position_embeddings: float) -> list:  # fmt: skip
        """Llama 3.1's apply_scaling: by wavelength, as Meta's code decides."""
        longest, low, high = (mpf(x) for x in (original_max_position_embeddings, low_freq_factor, high_freq_factor))
        result = []
        for t in self.plain():
            wavelength = 2 * mpmath.pi / t
            if wavelength <= longest / high:
                result.append(t)
            elif wavelength > longest / low:
                result.append(t / mpf(factor))
            else:
                smooth = (longest / wavelength - low) / (high - low)
                result.append(t * ((1 - smooth) / mpf(factor) + smooth))
        return result

    def proportional(self, proportion: float, factor: float = 1) -> list:
        """Gemma's p-RoPE: the frequencies of the whole head, of which the first share turns. transformers counts them in
        f64: 0.3 of 40 features are 6 pairs, although the double 0.3 is a little less."""
        turning = int(proportion * self.whole_head // 2)
        return [t / mpf(factor) if i < turning else mpf(0) for i, t in zip(self.pairs, self.plain(), strict=True)]

    def pixel(self, max_frequency: float = 10) -> list:
        """lucidrains: linspace(1, max_freq / 2, d / 2) * pi."""
        count, last = self.d // 2, mpf(max_frequency) / 2
        return [mpmath.pi * (1 if count == 1 else ((count - 1 - i) + last * i) / (count - 1)) for i in self.pairs]

    def constant(self) -> list:
        return [mpf(1)] * (self.d // 2)

    def by(self, scaling: dict) -> list:
        rule = dict(scaling)
        return getattr(self, rule.pop("kind"))(**rule)


def factor_of_attention(kind: str = "none", factor: float = 1, **more: object) -> mpf:
    """YaRN, equation 22: sqrt(1/t) = 0.1 ln s + 1; DeepSeek scales its slope. LongRoPE: sqrt(1 + ln s / ln L)."""
    if factor <= 1 or kind not in ("yarn", "longrope"):
        return mpf(1)
    growth = mpmath.log(mpf(factor))
    if kind == "longrope":
        return mpmath.sqrt(1 + growth / mpmath.log(mpf(more["original_max_position_embeddings"])))
    numerator, denominator = more.get("mscale", 0), more.get("mscale_all_dim", 0)
    if not (numerator and denominator):
        return 1 + growth / 10
    return (1 + mpf(numerator) * growth / 10) / (1 + mpf(denominator) * growth / 10)


def factors_of_xpos(spec: dict) -> list:
    """xPos, Sun et al., equation 11: zeta of each pair; none without xPos."""
    if "xpos" not in spec:
        return []
    gamma = mpf(spec["xpos"]["gamma"])
    return [(mpf(2 * p) / spec["rotary_dim"] + gamma) / (1 + gamma) for p in range(spec["rotary_dim"] // 2)]


def evenly(sections: list[int]) -> list[int]:
    """openPangu: each pair to the axis that lags behind, by exact fractions; axis 0 keeps one of its pairs for the end."""
    kept = 1 if len(sections) == 3 and sections[0] else 0
    whole = [sections[0] - kept, *sections[1:]]
    axis: list[int] = []
    for _ in range(sum(whole)):
        lag = {a: Fraction(axis.count(a), s) for a, s in enumerate(whole) if axis.count(a) < s}
        others = {a: f for a, f in lag.items() if a != (axis or [None])[-1]} or lag
        axis.append(min(others, key=lambda a: (others[a], a)))
    return axis + [0] * kept


def expected(spec: dict, n: int) -> tuple[list, list[tuple[int, int]], list[int]]:
    """theta, the two features and the axis of each pair."""
    r, scaling, axes = spec["rotary_dim"], spec.get("scaling", {"kind": "none"}), spec.get("axes", {})
    sections = axes.get("sections", [r // 2])
    if axes.get("restart"):
        theta = [t for s in sections for t in Rope(spec["base"], 2 * s, 2 * s, n).by(scaling)]
    else:
        theta = Rope(spec["base"], r, spec["head_dim"], n).by(scaling)
    axis = [a for a, s in enumerate(sections) for _ in range(s)]
    if axes.get("order") == "interleaved":
        # Qwen3-VL: start from axis 0 everywhere; then every third pair from `a` on, sections[a] of them, is axis a's.
        axis = [0] * (r // 2)
        for a in range(1, len(sections)):
            for p in range(a, len(sections) * sections[a], len(sections)):
                axis[p] = a
    elif axes.get("order") == "spread":
        axis = evenly(sections)
    elif axes.get("order") == "others_first":
        # ERNIE 4.5 VL: the n-th pair of an axis comes with the n-th of the others; axis 0 has the last.
        axis = [a for _, a in sorted((n if a else r, a) for a, s in enumerate(sections) for n in range(s))]
    split = spec["pairing"] == "half_split"
    features = [(p, p + r // 2) if split else (2 * p, 2 * p + 1) for p in range(r // 2)]
    return theta, features, axis


def drawn_scaling(draw: random.Random, pairs: int, whole: bool, bigger_than_pair: bool) -> dict:
    kinds = ["linear", "yarn", "longrope", "llama3", "pixel", "constant"] + bigger_than_pair * ["ntk", "dynamic"]
    kind, longest = draw.choice(kinds + whole * ["proportional"]), draw.choice([512, 2048, 4096.0, 8192, 32768, 1000])
    factor = draw.choice([1, 2, 4.0, 2.5, 8, 40, draw.uniform(1, 64)])
    rule: dict = {"kind": kind}
    if kind in ("linear", "ntk"):
        rule |= {"factor": factor}
    elif kind == "dynamic":
        rule |= {"factor": factor, "original_max_position_embeddings": longest}
    elif kind == "yarn":
        rule |= {"factor": factor, "original_max_position_embeddings": longest}
        for key, values in (
            ("beta_fast", (32, 16, 20.5)), ("beta_slow", (1, 2.5, 0.5)), ("truncate", (True, False)),
            ("clamp", ("pairs", "rotary_dim")), ("mscale", (0.707, 1.0)), ("mscale_all_dim", (1.0, 0.5)),
        ):  # fmt: skip
            if draw.random() < 0.5:
                rule[key] = draw.choice(values)
    elif kind == "longrope":
        short, long = ([draw.uniform(1, top) for _ in range(pairs)] for top in (2, 64))
        rule |= {"factor": factor, "original_max_position_embeddings": longest, "short_factor": short, "long_factor": long}
    elif kind == "llama3":
        low = draw.choice([1, 1.5, draw.uniform(0.5, 4)])
        rule |= {"factor": factor, "low_freq_factor": low, "high_freq_factor": low + draw.uniform(0.25, 12)}
        rule |= {"original_max_position_embeddings": longest}
    elif kind == "proportional":
        rule |= {"proportion": draw.choice([0.25, 0.5, 0.3, draw.random()]), "factor": factor}
    elif kind == "pixel":
        rule |= {"max_frequency": draw.choice([10, 256, draw.uniform(1, 300)])}
    return rule


def drawn(draw: random.Random) -> tuple[dict, int]:
    pairs = draw.choice([1, 2, 3, 8, 16, 20, 32, 48, 64, draw.randint(1, 96)])
    r = 2 * pairs
    spec = {
        "head_dim": r + draw.choice([0, 0, 1, 16]),
        "rotary_dim": r,
        "pairing": draw.choice(["half_split", "interleaved"]),
        "base": draw.choice([10000, 500000, 1e6, 150, 2.5, round(10 ** draw.uniform(0.5, 7), 3)]),
    }
    sections = None
    if pairs >= 3 and draw.random() < 0.4:
        count = draw.choice([2, 3])
        cuts = sorted(draw.sample(range(1, pairs), count - 1))
        sections = [b - a for a, b in zip([0, *cuts], [*cuts, pairs], strict=True)]
        spec["axes"] = {"sections": sections, "order": "chunked", "restart": draw.random() < 0.5}
        if not spec["axes"]["restart"] and draw.random() < 0.5:
            shared = pairs // count
            spec["axes"] |= {"sections": [pairs - (count - 1) * shared] + [shared] * (count - 1), "order": "interleaved"}
        elif not spec["axes"]["restart"]:
            spec["axes"]["order"] = draw.choice(["chunked", "spread", "others_first"])
    if draw.random() < 0.85:
        restarts = spec.get("axes", {}).get("restart", False)
        smallest = min(sections) if restarts else pairs
        spec["scaling"] = drawn_scaling(draw, pairs, spec["head_dim"] == r, smallest > 1)
    if draw.random() < 0.1:
        spec["attention_factor"] = draw.uniform(0.5, 2)
    if draw.random() < 0.1:
        spec["xpos"] = {"gamma": draw.uniform(0.1, 1), "scale_base": 512, "center": draw.randint(0, 100)}
    return spec, draw.choice([1, 100, 512, 513, 2048, 4096, 4097, 20000, 100000])


def differences(spec: dict, n: int, answer: dict) -> list[str]:
    theta, features, axis = expected(spec, n)
    found = [f"{len(answer['pairs'])} pairs, expected {len(theta)}"] if len(theta) != len(answer["pairs"]) else []
    for p, ((text, *where), t) in enumerate(zip(answer["pairs"], theta, strict=False)):
        if abs(mpf(text) - t) > AGREE * abs(t):
            found.append(f"pair {p}: theta is {text}, expected {mpmath.nstr(t, 30)}")
        if where != [*features[p], axis[p]]:
            found.append(f"pair {p}: features and axis are {where}, expected {[*features[p], axis[p]]}")
    wanted = factor_of_attention(**spec.get("scaling", {}))
    if abs(mpf(answer["lambda"]) - wanted) > AGREE * wanted:
        found.append(f"lambda is {answer['lambda']}, expected {mpmath.nstr(wanted, 30)}")
    if answer["used_lambda"] != float(mpf(spec.get("attention_factor", wanted))):
        found.append(f"lambda in use is {answer['used_lambda']}, expected {spec.get('attention_factor', wanted)}")
    zetas = factors_of_xpos(spec)
    if len(answer.get("zeta", [])) != len(zetas):
        found.append(f"{len(answer.get('zeta', []))} values of zeta, expected {len(zetas)}")
    for p, (zeta, wanted) in enumerate(zip(answer.get("zeta", []), zetas, strict=False)):
        # reference/ computes zeta, which is below 1, in f64: four operations, each rounded by up to 2^-53.
        if abs(mpf(zeta) - wanted) > mpf(2) ** -51:
            found.append(f"pair {p}: zeta is {zeta}, expected {mpmath.nstr(wanted, 20)}")
    return found


def answers(asked: list[tuple[dict, int]]) -> list[dict]:
    lines = "".join(json.dumps({"spec": spec, "sequence_length": n}) + "\n" for spec, n in asked)
    done = subprocess.run([str(BUILD / "print_plans")], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    count, seed = int(sys.argv[2]) if len(sys.argv) > 2 else 300, int(sys.argv[3]) if len(sys.argv) > 3 else 20260101
    draw = random.Random(seed)
    asked = [drawn(draw) for _ in range(count)]
    replies = answers(asked)
    assert len(replies) == count
    wrong, thetas = 0, 0
    assert {spec.get("axes", {}).get("order", "") for spec, _ in asked} >= {"spread", "others_first", "interleaved"}
    kinds: dict[str, int] = {}
    for (spec, n), reply in zip(asked, replies, strict=True):
        thetas += len(reply["pairs"])
        kind = spec.get("scaling", {"kind": "none"})["kind"]
        kinds[kind] = kinds.get(kind, 0) + 1
        found = differences(spec, n, reply)
        wrong += bool(found)
        if found and wrong <= 5:
            print(f"{json.dumps(spec)} at {n}:", *found[:5], sep="\n  ")
    # A comparison that accepts anything would be none: the first digit behind the 24th is changed in one theta.
    text = replies[0]["pairs"][0][0]
    changed = text[:25] + str((int(text[25]) + 5) % 10) + text[26:]
    replies[0]["pairs"][0][0] = changed
    assert differences(*asked[0], replies[0]), "a theta that is off by 5e-24 was accepted"
    with_xpos = next(i for i, (spec, _) in enumerate(asked) if "xpos" in spec)
    del replies[with_xpos]["zeta"]
    assert differences(*asked[with_xpos], replies[with_xpos]), "a reply without zeta was accepted"
    assert len(kinds) == 10, f"only {sorted(kinds)} were drawn"
    print(f"{count} specs, {thetas} frequencies to 1e-25, seed {seed}: {wrong} specs differ")
    return 1 if wrong else 0


sys.exit(main())
