"""The rules of other projects' tests accept and reject, for the reasons that they state.

    published_rules_test.py       exit code 77 where numpy is missing: ctest then counts it as skipped
"""

import os
import signal
import sys
import time
import types
import unittest
from dataclasses import dataclass
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("numpy is missing; published_rules.py and this test of it need python3-numpy")
    sys.exit(77)

from published import arithmetic, children, vllm
from published.case import is_close, judge, nmse
from published.contract import Computed, Frequencies, Tables
from published.draws import DRAWS, covering, generator
from published.python_kernel import PythonKernel, PythonLibrary
from published.rules import RULES, rows_of

ROOT = Path(__file__).resolve().parents[2]


def angle_factors(arguments):
    """A call's cos and sin [batch, seq, pairs] in f64, by the definition."""
    batch, seq = arguments.q.shape[:2]
    pairs, source = arguments.rotary_dim // 2, arguments.angles
    positions = arguments.positions
    if isinstance(positions, int):
        positions = np.broadcast_to(positions + np.arange(seq), (batch, seq))
    grid = positions if positions.ndim == 3 else positions[None]
    axis = np.zeros(pairs, int) if arguments.axis is None else arguments.axis
    m = np.moveaxis(grid[axis], 0, -1)
    if isinstance(source, Tables):
        column = arithmetic.pair_slices(arguments.rotary_dim, arguments.interleaved)[0]
        wide = source.cos.shape[1] == arguments.rotary_dim
        column = column if wide else slice(None)
        tables = [arithmetic.loaded(source.dtype, table)[:, column] for table in (source.cos, source.sin)]
        return [table[m, np.arange(pairs)].astype(np.float64) for table in tables]
    if isinstance(source, Frequencies):
        theta = source.theta
    else:
        assert isinstance(source, Computed)
        theta = source.base ** (-np.arange(pairs) / pairs)
        if source.scaling == "linear":
            theta = theta / source.parameters["factor"]
        elif source.scaling == "longrope":
            theta = theta / source.parameters["short_factor"]
        elif source.scaling == "llama3":
            theta = arithmetic.llama3(theta)
    return np.cos(m * theta), np.sin(m * theta)


def kernel_of(change=lambda cos, sin: (cos, sin), store=lambda y: y):
    """A right kernel in f64 except that `change` edits its factors [batch, seq, pairs] and `store` its results."""

    def kernel(arguments):
        cos, sin = (value * arguments.attention_factor for value in change(*angle_factors(arguments)))
        outputs = (arguments.q_out, arguments.k_out)
        for x, out in zip((arguments.q, arguments.k), outputs):
            if x is None:
                continue
            given = arithmetic.loaded(arguments.dtype, x).astype(np.float64)
            first, second = arithmetic.pair_slices(arguments.rotary_dim, arguments.interleaved)
            at = cos[:, :, None], -sin[:, :, None] if arguments.backward else sin[:, :, None]
            y = given.copy()
            y[..., first] = given[..., first] * at[0] - given[..., second] * at[1]
            y[..., second] = given[..., second] * at[0] + given[..., first] * at[1]
            (x if out is None else out)[...] = arithmetic.stored(arguments.dtype, store(y.astype(np.float32)))
        return 0

    return kernel


def slowest_pair_unrotated(cos, sin):
    cos[..., -1], sin[..., -1] = 1, 0
    return cos, sin


def rule_named(name):
    return next(rule for rule in RULES if rule.name == name)


def rejections(rule, dtype, kernel, draws=(0,)):
    return (wrong for draw in draws for case in rule.cases(dtype, draw) if (wrong := judge(case, kernel)))


def accepts(*arguments):
    return next(rejections(*arguments), None) is None


class Rules(unittest.TestCase):
    def test_each_column_accepts_a_right_kernel_and_rejects_wrong_ones(self):
        wrong = {
            "sine negated": kernel_of(lambda cos, sin: (cos, -sin)),
            "nothing written": lambda arguments: 0,
            "refused": lambda arguments: 1,
        }
        for rule in RULES:
            for dtype in rule.tolerance:
                with self.subTest(rule=rule.name, dtype=dtype):
                    self.assertIsNone(next(rejections(rule, dtype, kernel_of()), None))
                    for what, kernel in wrong.items():
                        self.assertFalse(accepts(rule, dtype, kernel), what)

    def test_vllm_with_its_own_bf16_arithmetic_rejects_a_right_kernel(self):
        rule = rule_named("vLLM")
        for own, expected in ((False, False), (True, True)):
            row = rows_of(rule, rule.tests[0], "bf16")[0]
            case = vllm.rotary_embedding(row, "bf16", generator("own"), rule.tolerance["bf16"], own)
            self.assertEqual(bool(judge(case, kernel_of())), expected)

    def test_what_the_tolerances_let_pass(self):
        through_f16 = kernel_of(store=lambda y: y.astype(np.float16).astype(np.float32))
        unrotated = kernel_of(slowest_pair_unrotated)
        for name, dtype, kernel, accepted in (
            ("llama.cpp", "f32", through_f16, True),
            ("ONNX", "f32", through_f16, True),
            ("vLLM", "f32", through_f16, False),
            ("Liger-Kernel", "f32", through_f16, False),
            ("Liger-Kernel", "f32", unrotated, False),
            ("flashinfer", "f16", unrotated, False),
        ):
            with self.subTest(rule=name, dtype=dtype):
                self.assertEqual(accepts(rule_named(name), dtype, kernel, range(DRAWS)), accepted)

    def test_liger_sees_an_unrotated_slowest_pair_in_bf16_only_in_its_long_sequences(self):
        liger = rule_named("Liger-Kernel")
        wrong = list(rejections(liger, "bf16", kernel_of(slowest_pair_unrotated), range(DRAWS)))
        self.assertTrue(wrong)
        self.assertTrue(all("(3, 423," in text for text in wrong), wrong)


class Arithmetic(unittest.TestCase):
    def test_bf16_rounds_to_nearest_ties_to_even(self):
        for value, expected in (
            (1.0, 0x3F80),
            (1 + 2**-8, 0x3F80),  # a tie: down to even
            (1 + 3 * 2**-8, 0x3F82),  # a tie: up to even
            (1 + 2**-8 + 2**-20, 0x3F81),
            (-0.0, 0x8000),
            (3.4e38, 0x7F80),
            (np.nan, 0x7FC0),
        ):
            self.assertEqual(int(arithmetic.stored("bf16", np.float32(value))), expected, value)

    def test_closeness_is_that_of_torch_in_the_dtype(self):
        rng = np.random.default_rng(1)
        for dtype, rtol, atol in (("bf16", 1.6e-2, 1e-5), ("f16", 1e-3, 1e-5), ("f32", 1.3e-6, 1e-5)):
            e = arithmetic.rounded(dtype, rng.standard_normal(200000, dtype=np.float32))
            error = (np.float32(atol) + np.float32(rtol) * np.abs(e)) * rng.uniform(0.9, 1.1, e.size).astype(np.float32)
            a = arithmetic.rounded(dtype, e + error)
            r = arithmetic.rounded
            allowed = r(dtype, np.float32(atol) + np.abs(r(dtype, np.float32(rtol) * e)))
            expected = int(np.count_nonzero(~((a == e) | (r(dtype, np.abs(a - e)) <= allowed))))
            self.assertGreater(expected, 0)
            self.assertTrue(is_close(rtol, atol)(a, e, dtype).startswith(f"{expected} of "))

    def test_not_a_number_is_close_to_nothing(self):
        nan, one = np.array([np.nan], np.float32), np.ones(1, np.float32)
        self.assertIn("too far off", is_close(1, 1)(nan, nan, "f32"))
        self.assertEqual(nmse(1e-7)(nan, one, "f32"), "NaN or infinity")
        self.assertEqual(nmse(1e-7)(2 * one, one, "f32"), "NMSE 0.25")
        self.assertIsNone(nmse(0.25)(2 * one, one, "f32"))


class Covering(unittest.TestCase):
    def test_every_pair_of_values_has_a_row(self):
        parameters = {"a": [1, 2, 3], "b": [[], None], "c": ["x", "y"]}
        rows = covering(parameters, 8, "test")
        self.assertEqual(len(rows), 8)
        for one, two in (("a", "b"), ("a", "c"), ("b", "c")):
            pairs = {(str(row[one]), str(row[two])) for row in rows}
            self.assertEqual(len(pairs), len(parameters[one]) * len(parameters[two]))
        self.assertEqual(rows, covering(parameters, 8, "test"))

    def test_too_few_rows_are_an_error(self):
        with self.assertRaisesRegex(AssertionError, "2 rows do not hold every a"):
            covering({"a": [1, 2, 3]}, 2, "test")


class FakeLibrary:
    """Kernels with faults that no result can show."""

    def kernel(self, name):
        return {
            "right": kernel_of(),
            "crash": lambda arguments: os.kill(os.getpid(), signal.SIGSEGV),
            "exit": lambda arguments: os._exit(3),
            "hang": lambda arguments: time.sleep(60),
            "fault": lambda arguments: [][0],
        }[name]


class Children(unittest.TestCase):
    def verdicts(self, *kernels, limit=60):
        rule = rule_named("ONNX")
        cases = {column: list(rule.cases("f32", 0)) for column in ("one", "two")}
        pending = {kernel: ["one", "two"] for kernel in kernels}
        judged = children.judge_all(FakeLibrary(), pending, cases, 2, limit=limit)
        return {(kernel, column): verdict.wrong for kernel, column, verdict in judged}

    def test_a_crash_and_an_exit_are_rejections_and_end_no_other_column(self):
        verdicts = self.verdicts("right", "crash", "exit")
        for column in ("one", "two"):
            self.assertIsNone(verdicts["right", column])
            self.assertEqual(verdicts["crash", column], "crashes: SIGSEGV")
            self.assertEqual(verdicts["exit", column], "ends the process with exit code 3")

    def test_a_hang_is_one_too(self):
        self.assertEqual(self.verdicts("hang", limit=1)["hang", "one"], "no answer within 1 s")

    def test_cases_that_do_not_apply_are_not_made(self):
        rule = rule_named("ONNX")
        cases = {"some": list(rule.cases("f32", 0))}
        first = cases["some"][0]
        judged = children.judge_all(FakeLibrary(), {"right": ["some"]}, cases, 1, lambda kernel, case: case is not first)
        self.assertEqual(list(judged), [("right", "some", children.Verdict(None, len(cases["some"]) - 1))])


@dataclass(frozen=True)
class Named:
    """As tools/adapters/kernels.py names a kernel."""

    name: str
    subject: str
    convention: str = ""
    options: tuple = ()


class InPython(unittest.TestCase):
    """Calls to a function in Python: a right one is accepted, a wrong one is not, and what it does not claim is not
    asked."""

    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(ROOT / "tests" / "unit" / "python"))
        import kernels
        import ropecheck

        planted = types.ModuleType("planted")
        planted.right = kernels.right
        planted.returns_results = ropecheck.kernel(
            dtypes="f32", tables="f32", table_widths="half", sources="tables", positions="i32",
            features=("partial", "positions", "batch_positions", "strided", "key", "grouped_heads", "backward"),
        )(lambda call: kernels.right(call))
        planted.raises = kernels.MANY(lambda call: [][0])
        planted.copies = kernels.MANY(lambda call: None if call.in_place else tuple(
            x.copy() for x in (call.q, call.k) if x is not None)[: 1 if call.k is None else 2])
        planted.ends = kernels.MANY(lambda call: os._exit(3))
        sys.modules["planted"] = planted

    def verdicts(self, name, *options):
        columns = [(rule, dtype) for rule in RULES for dtype in rule.tolerance]
        cases = {f"{rule.name} {dtype}": list(rule.cases(dtype, 0)) for rule, dtype in columns}
        library = PythonLibrary([Named(name, f"planted:{name}", options=options)])
        judged = children.judge_all(library, {name: list(cases)}, cases, 1, PythonKernel.claims_case)
        return cases, {column: verdict for _, column, verdict in judged}

    def test_a_right_kernel_is_accepted(self):
        cases, verdicts = self.verdicts("right")
        self.assertEqual({column: verdict.wrong for column, verdict in verdicts.items() if verdict.wrong}, {})
        for column in ("vLLM f32", "flash-attention f16", "Liger-Kernel f32", "TransformerEngine f32", "ONNX f32"):
            self.assertEqual(verdicts[column].cases, len(cases[column]), column)
        self.assertEqual(verdicts["vLLM bf16"].cases, 0)  # it claims no bf16

    def test_a_call_takes_the_form_that_is_claimed(self):
        cases, verdicts = self.verdicts("returns_results")
        for column in ("vLLM f32", "Liger-Kernel f32"):  # in place, int64; tables of full width
            self.assertEqual(verdicts[column], children.Verdict(None, len(cases[column])), column)

    def test_wrong_kernels_are_rejected(self):
        for name in ("raises", "copies", "ends"):
            _, verdicts = self.verdicts(name)
            for column in ("vLLM f32", "flash-attention f16", "Liger-Kernel f32", "ONNX f32"):
                self.assertTrue(verdicts[column].wrong, f"{name}: {column}")

    def test_options_leave_out_what_was_not_judged(self):
        cases, verdicts = self.verdicts("right", "--pairing", "interleaved", "--dtype", "f16")
        asked = {column: verdict.cases for column, verdict in verdicts.items() if verdict.cases}
        self.assertTrue(asked and all(column.endswith("f16") for column in asked))
        self.assertLess(asked["flash-attention f16"], len(cases["flash-attention f16"]))


if __name__ == "__main__":
    unittest.main()
