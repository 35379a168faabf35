"""Functions that cannot be called as kernels, and kernels that cannot run here."""

import ctypes
import subprocess

import numpy as np


def huggingface(q, k, cos, sin, unsqueeze_dim=1):
    """As transformers has it."""


def vllm(positions, query, key, head_size, cos_sin_cache, is_neox):
    """As vLLM has it."""


def onnx(x, cos, sin, position_ids=None, interleaved=0):
    """As ONNX has it, with another name for the input."""


def gptj(tensor, sin, cos):
    """sin comes first."""


def three(a, b, c):
    """Nobody's."""


def older(q, k, cos, sin, position_ids):
    """No convention passes position_ids to it."""


def passes_on(*args, **kwargs):
    return huggingface(*args, **kwargs)


class Labml:
    def __init__(self, d, base=10_000):
        self.d = d

    def forward(self, x):
        return x


class Lucidrains:
    def __init__(self, dim, theta=10_000):
        self.dim = dim

    def forward(self, t):
        return t

    def rotate_queries_or_keys(self, t, offset=0):
        return t


class Llama:
    def __init__(self, config):
        self.config = config

    def forward(self, x, position_ids):
        return x


class Tables:
    """As many modules that return cos and sin: its constructor is like labml's."""

    def __init__(self, dim, base=10_000):
        self.dim = dim

    def forward(self, seq_len):
        return seq_len


class Module:
    """As torch's modules are called."""

    def forward(self, q, k, cos, sin):
        return q, k

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


module = Module()


def without_module(call):
    import no_such_module  # noqa: F401


def without_program(call):
    subprocess.run(["no-such-compiler"], check=True)


def without_library(call):
    ctypes.CDLL("libnosuch.so")


def without_device(call):
    raise RuntimeError("No CUDA GPUs are available")


def without_compiler(call):
    try:
        raise RuntimeError("Failed to find C compiler. Please specify via CC")
    except RuntimeError as error:
        raise ValueError("compiling rope failed") from error


def without_file(call):
    """Of its own code, so judged."""
    with open("no-such-table.npy"):
        pass


def returns_nothing(input, cos_cache, sin_cache, position_ids=None, interleaved=0, rotary_embedding_dim=0, num_heads=0):
    """As ONNX has it. The convention's own code fails on the result."""


def raises_within(input, cos_cache, sin_cache, position_ids=None, interleaved=0, rotary_embedding_dim=0, num_heads=0):
    """As ONNX has it."""
    raise ValueError("not on Fridays")


def wrong_types(call):
    """A TypeError of its own code."""
    return np.add(call.q)


def wrong_types_within(*args):
    return len(args[0])
