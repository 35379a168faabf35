"""flash-attention's Triton kernel in Triton's interpreter, which runs it on the CPU. The package's own __init__ imports
a CUDA extension that is not built here. An empty package with the same folder replaces it."""

import contextlib
import importlib.util
import os
import sys
import types

os.environ["TRITON_INTERPRET"] = "1"

import torch  # noqa: E402


def _module_without_the_package() -> types.ModuleType:
    package = types.ModuleType("flash_attn")
    package.__path__ = importlib.util.find_spec("flash_attn").submodule_search_locations
    sys.modules["flash_attn"] = package
    return importlib.import_module("flash_attn.ops.triton.rotary")


# The package makes x's device the current CUDA device before it starts the kernel; the CPU is not a CUDA device.
torch.cuda.device = lambda index: contextlib.nullcontext()
apply_rotary = _module_without_the_package().apply_rotary
