"""The kernels in Python that need only numpy, and torch's of two conventions: python3 python_test.py BUILD. Judging all
takes minutes, most of them for starting interpreters; judge.py does it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "unit" / "python"))

import environment  # noqa: E402

if __name__ == "__main__":
    environment.with_real_kernels()
    import judge

    sys.exit(judge.main([sys.argv[1], "--python", sys.executable, "own_numpy", "onnx", "onnx_microsoft", "vllm"]))
