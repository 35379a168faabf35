"""The common part of all rotary modules of Hugging Face transformers: one case from its tables and its results."""

import inspect
from collections.abc import Callable

import torch
from transformers import LlamaConfig
from transformers.models.llama import modeling_llama as llama

from case import Case

BHSD = "batch, heads, seq, head_dim"
BSHD = "batch, seq, heads, head_dim"
HEADS = (2, 1)  # of q and of k

CACHED = torch.arange(1000, 1004).repeat(2, 1)
ONE_ROW = torch.arange(8)[None]


def new_case(name: str, function: str, description: str, rope: dict, dtype: str, c: float, axes: str = BHSD) -> Case:
    return Case(
        id=f"huggingface/{name}",
        package="transformers",
        function=f"transformers.models.{function}",
        description=description,
        spec=rope,
        axes=axes,
        dtype=dtype,
        rounding="f32" if dtype == "f32" else "per-op",
        c=c,
    )


def rope_arguments(config: type, parameters: dict) -> dict:
    """The rope's parameters as this version of transformers takes them. Version 4 spread them over several arguments."""
    known = inspect.signature(config.__init__).parameters
    if "rope_theta" not in known and "rotary_emb_base" not in known:
        return {"rope_parameters": parameters}
    rest = dict(parameters)
    given = {"rotary_emb_base" if "rotary_emb_base" in known else "rope_theta": rest.pop("rope_theta")}
    share = rest.pop("partial_rotary_factor", None)
    if share is not None:
        given["rotary_pct" if "rotary_pct" in known else "partial_rotary_factor"] = share
    if rest["rope_type"] == "longrope":
        given["original_max_position_embeddings"] = rest["original_max_position_embeddings"]
    return given if rest == {"rope_type": "default"} else given | {"rope_scaling": rest}


def llama_module(head_dim: int, rope: dict, longest: int = 2048) -> llama.LlamaRotaryEmbedding:
    parameters = {"rope_type": "default", "rope_theta": 10000.0} | rope
    config = LlamaConfig(
        head_dim=head_dim,
        hidden_size=4 * head_dim,
        num_attention_heads=4,
        num_key_value_heads=1,
        max_position_embeddings=longest,
        **rope_arguments(LlamaConfig, parameters),
    )
    return llama.LlamaRotaryEmbedding(config)


def draw(case: Case, positions: torch.Tensor, head_dim: int, heads: tuple[int, int] = HEADS) -> list[torch.Tensor]:
    batch, seq = positions.shape[-2:]
    shapes = [(batch, h, seq, head_dim) if case.axes == BHSD else (batch, seq, h, head_dim) for h in heads]
    return [case.draw(name, shape) for name, shape in zip("qk", shapes, strict=True)]


def finish(case: Case, positions: torch.Tensor, theta: torch.Tensor, tables: tuple, outputs: tuple) -> Case:
    case.add_positions(positions)
    case.add_frequencies(theta)
    case.add_tables(*tables)
    for name, values in zip(("q_out", "k_out"), outputs, strict=True):
        case.add_output(name, values)
    return case


def run(
    case: Case, module: torch.nn.Module, apply: Callable, positions: torch.Tensor, heads: tuple[int, int] = HEADS
) -> Case:
    """The call of every model here except GPT-J: cos, sin = module(x, ids); apply(q, k, cos, sin)."""
    q, k = draw(case, positions, case.spec["head_dim"], heads)
    cos, sin = module(q, positions)
    outputs = apply(q, k, cos, sin) if case.axes == BHSD else apply(q, k, cos, sin, unsqueeze_dim=2)
    case.attention_factor = float(module.attention_scaling)
    return finish(case, positions, module.inv_freq, (cos, sin), outputs)
