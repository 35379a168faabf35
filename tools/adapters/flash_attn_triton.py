"""flash-attention's Triton kernel in Triton's interpreter, which runs it on the CPU. The package's own __init__ imports
a CUDA extension that is not built here; its place is taken by an empty package with the same folder."""

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


# It makes the device of x the current one before the kernel is started; the CPU is none of CUDA's.
torch.cuda.device = lambda index: contextlib.nullcontext()
apply_rotary = _module_without_the_package().apply_rotary
