"""Claims of what every call has, by kernels in Python: python3 every_call_test.py BUILD. Exit code 77: numpy is missing.
"""

import sys
import unittest

import running

if __name__ == "__main__":
    running.use(sys.argv.pop(1))
try:
    import numpy  # noqa: F401
except ImportError:
    print("numpy is missing: pip install numpy")
    sys.exit(77)

from ropecheck import kernel  # noqa: E402
from ropecheck.errors import UsageError  # noqa: E402
from running import judge  # noqa: E402


class EveryCall(unittest.TestCase):
    def test_what_every_call_has(self):
        """A kernel that would not survive another call, and the mistakes of such kernels."""
        found, done = judge("strict_kernels:engine")
        self.assertEqual(done.returncode, 0, done.stdout)
        verdicts = {one["id"]: one["verdict"] for one in found["requirements"]}
        for told in ("ROT-01", "MEM-01", "MEM-03", "POS-03", "POS-04", "ANG-02", "SHP-05", "STA-01", "DET-01"):
            self.assertEqual(verdicts[told], "pass", told)
        for wrong in ("engine_wraps", "engine_spoils_v"):
            _, done = judge(f"strict_kernels:{wrong}")
            self.assertEqual(done.returncode, 1, done.stdout)
        of_any_head = ["--level", "quick", "--no-diagnosis"]
        _, done = judge("strict_kernels:of_a_model", "--only", "ROT,ANG,SHP-05", level=of_any_head)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_time_to_compile_each_shape(self):
        limits = ("--only", "ROT-02", "--deadline", "1", "--first-deadline", "60")
        found, done = judge("strict_kernels:compiles", *limits)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertGreater(found["requirements"][0]["cases"], 2)
        _, done = judge("strict_kernels:compiles_unsaid", *limits)
        self.assertNotEqual(done.returncode, 0, done.stdout)

    def test_positions_of_each_batch(self):
        found, done = judge("strict_kernels:needs_own_positions", "--only", "POS")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertGreater(sum(one["verdict"] == "pass" for one in found["requirements"]), 1)

    def test_wrong_claims_of_every_call(self):
        for claims, words in (({"required_features": "axes"}, '"axes" is not known; use positions, in_place, key'),
                              ({"scalings": {"linear": {"factor": True}}}, '"factor" is not a choice of linear'),
                              ({"axis_counts": 4}, "4 is not 1, 2 or 3")):
            with self.assertRaisesRegex(UsageError, words):
                kernel(**claims)


if __name__ == "__main__":
    unittest.main()
