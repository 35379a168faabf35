"""vLLM's rotary_embedding for the CPU ends the process for bf16 in neox style with certain sizes.

They are: a rotary_dim that is not a multiple of 16, or a head_size that is not a multiple of 8.

It stores eight results at once with an instruction that needs an address divisible by 16 (vmovdqa, in
rotary_embedding_impl<c10::BFloat16>). The second half of the features begins at byte rotary_dim / 2 * 2. GPT-NeoX-20B
has rotary_dim 24 and crashes; Phi-2 has 32 and works.
"""

import importlib.util
import os
import signal
import sys

import torch

# vLLM takes _C with AVX-512 and bf16, _C_AVX512 with AVX-512, else _C_AVX2.
name = "_C_AVX2"
if torch.cpu._is_avx512_supported():
    name = "_C" if torch.cpu._is_avx512_bf16_supported() else "_C_AVX512"
folder = importlib.util.find_spec("vllm").submodule_search_locations[0]
torch.ops.load_library(f"{folder}/{name}.abi3.so")

HEAD_SIZE, TOKENS = 96, 4


def ends_with(rotary_dim: int, dtype: torch.dtype) -> int:
    """Exit status of a process that makes one call. Negative: the signal that ended it."""
    child = os.fork()
    if child == 0:
        query = torch.ones(TOKENS, HEAD_SIZE, dtype=dtype)
        cache = torch.ones(TOKENS, rotary_dim, dtype=dtype)
        torch.ops._C.rotary_embedding(torch.arange(TOKENS), query, None, HEAD_SIZE, cache, True)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


torch.set_num_threads(1)  # the child has only this one
found = 0
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    for rotary_dim in (24, 32):
        status = ends_with(rotary_dim, dtype)
        said = "ok" if status == 0 else signal.Signals(-status).name if status < 0 else f"exit status {status}"
        print(f"{name}, {dtype}, rotary_dim {rotary_dim}: expected ok, actual {said}")
        found |= status != 0
sys.exit(1 if found else 0)
