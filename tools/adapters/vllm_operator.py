"""vLLM's CPU operators without the rest of vLLM, which would need two dozen more packages. The library is chosen as in
vllm.platforms.cpu."""

import importlib.util
from pathlib import Path

import torch


def _library() -> Path:
    folder = Path(importlib.util.find_spec("vllm").submodule_search_locations[0])
    name = "_C_AVX2"
    if torch.cpu._is_avx512_supported():
        name = "_C" if torch.cpu._is_avx512_bf16_supported() else "_C_AVX512"
    return folder / f"{name}.abi3.so"


torch.ops.load_library(_library())
rotary_embedding = torch.ops._C.rotary_embedding
