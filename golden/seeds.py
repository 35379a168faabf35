#!/usr/bin/env python3
"""Checks what the published documents claim: seeds.py [CLAIM...]; seeds.py --pages TEXT TEXT

A line for each claim: its name, "holds" or "false", and numbers. docs/seeds.md says where each is printed. --pages
compares the code of two pages. It needs numpy and the golden files. Exit codes: 0 all as expected; 1 one is not.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import verify

FOLDER = Path(__file__).resolve().parent
CASES = {case["id"]: case for case in json.loads((FOLDER / "manifest.json").read_text())["cases"]}
ERRORS = {entry["id"]: entry for entry in json.loads((FOLDER / "errors.json").read_text())}


def array(case, name):
    return verify.load(FOLDER, next(a for a in CASES[case]["arrays"] if a["name"] == name))


def turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def conforms(case):
    return not verify.faults_of(CASES[case], FOLDER)


def runs(name):
    return "raises" not in ERRORS[name]


def raised(name):
    if runs(name):
        return f"{name} returns an array"
    return f"{ERRORS[name]['raises']['type']}: {ERRORS[name]['raises']['message']}"


def theta(i, d):
    """theta_i, i = 1 .. d/2."""
    return 10000.0 ** (-2 * (i - 1) / d)


def equation_1():
    """The vector is (x1, x1): x2 has no effect, and the norm of (1, 2) is not kept."""
    printed, meant = (turn(0.5) @ np.array(x) for x in ((1.0, 1.0), (1.0, 2.0)))
    norms = np.hypot(*printed), np.hypot(*meant)
    return np.isclose(norms[0], np.hypot(1, 2)), f"|(1, 2)| is 2.236; as printed {norms[0]:.3f}, with x2 {norms[1]:.3f}"


def theta_d_half():
    """theta_d / 2 in the last block: the set has theta_1 .. theta_(d/2), without half of theta_d."""
    d = 6
    as_printed, meant = theta(d, d) / 2, theta(d // 2, d)
    return np.isclose(as_printed, meant), f"d = 6: theta_d / 2 is {as_printed:.3e}, theta_(d/2) is {meant:.3e}"


def range_2d():
    """i = 1 .. 2d for `2d pairs`: d features are d/2 pairs."""
    d = 128
    printed = array("published/theta-d128", "theta")
    holds = len(printed) == 2 * d
    return holds, f"d = 128: another notebook prints {len(printed)} = d/2; i = 2d would turn by {theta(2 * d, d):.1e}"


def without_m():
    """x' = x e^(i theta): then token 0 turns, too. The notebook's code leaves it where it is."""
    case = "published/complex-notebook-vectorised"
    kept = np.array_equal(array(case, "q")[:, :, 0], array(case, "q_out")[:, :, 0])
    return not kept, "token 0 of the notebook's own output is its input" if kept else "token 0 turns"


def wrong_side():
    """The last formula has the vector itself left of the equals sign: x = R x. On the left of the matrix it turns back."""
    x, m = np.array([1.0, 2.0]), 3
    np.testing.assert_allclose(x @ turn(m), turn(-m) @ x)
    return np.allclose(x, turn(m) @ x), "true only where m theta is 0; and x R is R(-m) x"


def no_pass_through():
    """The notebook's copy of labml's class lost the lines that pass features through."""
    name = "published/no-pass-through"
    return runs(name), raised(name)


def flat_ids():
    """position_ids of one axis, as printed: right for one token, wrong for as many heads as tokens."""
    one, many = conforms("published/notebook-flow-decode"), conforms("published/notebook-flow-flat-ids")
    return one and many, f"one token: {'right' if one else 'wrong'}; four heads, four tokens: {'right' if many else 'wrong'}"


def naive_globals():
    """precompute_rope_naive(dim) by itself."""
    name = "published/naive-cache-reads-globals"
    return runs(name), raised(name)


def apply_rope():
    """The first cell as printed; with its names mended; with its sines mended, too."""
    lines = [raised(f"published/{name}") for name in ("apply-rope-as-printed", "apply-rope-sines-cut")]
    mended = conforms("published/notebook-apply-rope")
    return mended, f"{'; '.join(lines)}; then k is turned with q"


def controls(*names):
    found = {name: conforms(f"published/{name}") for name in names}
    return all(found.values()), ", ".join(f"{name}: {'right' if right else 'wrong'}" for name, right in found.items())


def bleu_averages():
    """0.47696 and 0.55703."""
    absolute, rotary = BLEU
    right = round(np.mean(absolute), 5) == 0.47696 and round(np.mean(rotary), 5) == 0.55703
    return right, f"{np.mean(absolute):.5f} and {np.mean(rotary):.5f}"


def bleu_improvement():
    """8.01% improvement."""
    absolute, rotary = (np.mean(scores) for scores in BLEU)
    points, relative = 100 * (rotary - absolute), 100 * (rotary / absolute - 1)
    return round(relative, 2) == 8.01, f"{points:.2f} percentage points; relative {relative:.1f} %"


BLEU = ([0.50741, 0.44973, 0.50741, 0.50741, 0.41284], [0.62778, 0.53934, 0.53934, 0.53934, 0.53934])


def equal_to_lucidrains(positions=4):
    """torch.allclose, by its defaults, of the cosines and sines of both codes' own frequencies."""
    m = np.arange(positions, dtype=np.float32)[:, None]
    names = ("published/complex-notebook-vectorised", "lucidrains/complex-notebook")
    ours, theirs = ((m * array(name, "theta")).astype(np.float64) for name in names)
    worst = max(float(np.abs(f(ours) - f(theirs)).max()) for f in (np.cos, np.sin))
    close = all(np.allclose(f(ours), f(theirs), rtol=1e-5, atol=1e-8) for f in (np.cos, np.sin))
    if positions == 4:
        close = close and np.allclose(*(array(name, "q_out") for name in names), rtol=1e-5, atol=1e-8)
    return close, f"{positions} positions: off by up to {worst:.1e}"


def qwen2_cache():
    """After a bf16 call that made the tables longer, an f32 call gets f32 tables."""
    wrong, right = "published/qwen2-cache-3", "published/qwen2-cache-5"
    # The exact cosines of the frequencies that the module has.
    angle = array(wrong, "positions")[0, :, :, None] * array(wrong, "theta").astype(np.float64)
    off = np.abs(array(wrong, "cos") - np.cos(np.concatenate((angle, angle), axis=-1))).max()
    return conforms(wrong), f"tables off by {off:.2e}; right again after the next f32 call that is longer: {conforms(right)}"


def test_rotary():
    """labml's _test_rotary with d = 3, as the English and the Japanese page print it."""
    name, shape = "labml/test-rotary-d3", ERRORS["labml/test-rotary-d1"]["returns"]["shape"]
    return runs(name), f"{raised(name)}; d = 1 gives {shape[-1]} features for 4"


def worked_example():
    """The notebook's output of RotaryPositionalEmbeddings(4)(x)."""
    return conforms("published/worked-example"), "12 numbers, each within half a unit of its last digit"


CLAIMS = {
    "equation-1": (equation_1, False),
    "equation-3": (lambda: controls("report-eq-3"), False),
    "equation-4": (lambda: controls("report-eq-4"), False),
    "theta-set": (lambda: controls("report-theta"), False),
    "theta-d-half": (theta_d_half, False),
    "attention": (lambda: controls("report-attention", "report-encoder", "report-decoder", "report-cross-attention"), True),
    "bleu-averages": (bleu_averages, True),
    "bleu-improvement": (bleu_improvement, False),
    "range-2d": (range_2d, False),
    "inner-product": (lambda: controls("notebook-inner-product"), False),
    "wrong-side": (wrong_side, False),
    "apply-rope": (apply_rope, False),
    "no-pass-through": (no_pass_through, False),
    "flat-ids": (flat_ids, False),
    "qwen2-cache": (qwen2_cache, False),
    "worked-example": (worked_example, True),
    "without-m": (without_m, False),
    "naive-globals": (naive_globals, False),
    "lucidrains-4": (equal_to_lucidrains, True),
    "lucidrains-4096": (lambda: equal_to_lucidrains(4096), False),
    "test-rotary": (test_rotary, False),
}


def code_of(page):
    """The numbered lines of a page, without their numbers of two or three digits."""
    found = (re.fullmatch(r"\d{2,3}(.*)", line) for line in Path(page).read_text().splitlines())
    return [match[1] for match in found if match and match[1].strip()]


def main(words):
    if words[:1] == ["--pages"]:
        first, second = (code_of(page) for page in words[1:])
        print(f"{len(first)} and {len(second)} lines of code: {'the same' if first == second else 'different'}")
        return 0 if first == second else 1
    unexpected = 0
    for name in words or CLAIMS:
        check, expected = CLAIMS[name]
        holds, numbers = check()
        unexpected += bool(holds) != expected
        print(f"{name:<17} {'holds' if holds else 'false'}  {numbers}")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
