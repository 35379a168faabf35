"""The kernels in Python that need only numpy, and torch's of one convention: python3 python_test.py BUILD. All of them
take minutes, most of which start interpreters; judge.py does it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "unit" / "python")]

import environment  # noqa: E402

if __name__ == "__main__":
    environment.with_real_kernels()
    import judge

    modules = [f"python#{module}:*" for module in ("own_numpy", "onnx", "onnx_microsoft", "vllm")]
    sys.exit(judge.main([sys.argv[1], "--python", sys.executable, *modules]))
