"""Judges the kernels in Python that need only numpy, and the vllm ones: python3 python_test.py BUILD.

judge.py judges all kernels in Python; that takes minutes, mostly to start interpreters."""

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
