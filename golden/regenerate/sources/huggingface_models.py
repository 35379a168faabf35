"""Hugging Face transformers: the models whose layout, share of the head or position axes differ from Llama's."""

import importlib
from collections.abc import Iterator
from types import ModuleType

import torch
import transformers

from capture import CapturedReciprocal
from case import TORCH_DTYPES, Case, Deferred, deferred, spec

from .huggingface_case import BSHD, CACHED, ONE_ROW, draw, finish, new_case, rope_arguments, run


def _modeling(model: str) -> ModuleType:
    """Imported by each case: a version that lacks a model has all other cases."""
    return importlib.import_module(f"transformers.models.{model}.modeling_{model}")


def cases() -> Iterator[Deferred]:
    for dtype in ("f32", "bf16", "f16"):
        yield _gpt_neox(dtype)
        yield _cohere(dtype)
        yield _qwen2(dtype)
        yield _glm(dtype)
        yield _gptj(dtype)
        yield _qwen2_vl(dtype)
        yield _qwen2_vl_vision(dtype)
        yield _qwen3_vl(dtype)
    yield _nested_yarn()


@deferred
def _gpt_neox(dtype: str) -> Case:
    case = new_case(
        f"gpt_neox/partial-{dtype}",
        "gpt_neox.modeling_gpt_neox.apply_rotary_pos_emb",
        "The first 16 of 64 features rotate",
        spec(64, "half_split", rotary_dim=16),
        dtype,
        2.0,
    )
    gpt_neox, config_class = _modeling("gpt_neox"), transformers.GPTNeoXConfig
    partial = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25}
    config = config_class(hidden_size=256, num_attention_heads=4, **rope_arguments(config_class, partial))
    return run(case, gpt_neox.GPTNeoXRotaryEmbedding(config), gpt_neox.apply_rotary_pos_emb, ONE_ROW)


@deferred
def _cohere(dtype: str) -> Case:
    case = new_case(
        f"cohere/d64-{dtype}",
        "cohere.modeling_cohere.apply_rotary_pos_emb",
        "Interleaved; tables in the input's dtype, arithmetic in f32, one final cast",
        spec(64, "interleaved", base=500000.0),
        dtype,
        2.0,
    )
    case.rounding = "f32" if dtype == "f32" else "final-cast"
    cohere, config_class = _modeling("cohere"), transformers.CohereConfig
    default = {"rope_type": "default", "rope_theta": 500000.0}
    config = config_class(hidden_size=256, num_attention_heads=4, **rope_arguments(config_class, default))
    return run(case, cohere.CohereRotaryEmbedding(config), cohere.apply_rotary_pos_emb, CACHED)


@deferred
def _qwen2(dtype: str) -> Case:
    case = new_case(
        f"qwen2/d64-{dtype}",
        "qwen2.modeling_qwen2.apply_rotary_pos_emb",
        "Half-split, positions behind a key cache",
        spec(64, "half_split", base=10000.0),
        dtype,
        2.0,
    )
    qwen2 = _modeling("qwen2")
    config = transformers.Qwen2Config(hidden_size=256, num_attention_heads=4, num_key_value_heads=1)
    return run(case, qwen2.Qwen2RotaryEmbedding(config), qwen2.apply_rotary_pos_emb, CACHED)


@deferred
def _glm(dtype: str) -> Case:
    case = new_case(
        f"glm/partial-{dtype}",
        "glm.modeling_glm.apply_rotary_pos_emb",
        "Interleaved, 32 of 64 features; of the table the first half is used, and stored",
        spec(64, "interleaved", rotary_dim=32),
        dtype,
        2.0,
    )
    glm, config_class = _modeling("glm"), transformers.GlmConfig
    half = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}
    config = config_class(hidden_size=256, num_attention_heads=4, head_dim=64, **rope_arguments(config_class, half))
    q, k = draw(case, ONE_ROW, 64)
    module = glm.GlmRotaryEmbedding(config)
    cos, sin = module(q, ONE_ROW)
    outputs = glm.apply_rotary_pos_emb(q, k, cos, sin)
    return finish(case, ONE_ROW, module.inv_freq, (cos[..., :16], sin[..., :16]), outputs)


@deferred
def _gptj(dtype: str) -> Case:
    rotary_dim, head_dim = 32, 64
    case = new_case(
        f"gptj/partial-{dtype}",
        "gptj.modeling_gptj.apply_rotary_pos_emb",
        "Interleaved, 32 of 64 features, one table of sin and cos gathered by position",
        spec(head_dim, "interleaved", rotary_dim=rotary_dim),
        dtype,
        2.0,
        BSHD,
    )
    gptj = _modeling("gptj")
    tensors = draw(case, CACHED, head_dim)
    with CapturedReciprocal() as captured:
        table = gptj.create_sinusoidal_positions(2048, rotary_dim)
    gathered = torch.gather(table.repeat(2, 1, 1), 1, CACHED[..., None].repeat(1, 1, rotary_dim)).to(
        TORCH_DTYPES[dtype]
    )
    sin, cos = gathered.split(rotary_dim // 2, dim=-1)
    outputs = tuple(
        torch.cat((gptj.apply_rotary_pos_emb(x[..., :rotary_dim], sin, cos), x[..., rotary_dim:]), dim=-1)
        for x in tensors
    )
    return finish(case, CACHED, captured.value, (cos, sin), outputs)


def _qwen2_vl_config(name: str) -> type:
    return getattr(importlib.import_module("transformers.models.qwen2_vl.configuration_qwen2_vl"), name)


def _text_and_image() -> torch.Tensor:
    """Four tokens of text, a 2 x 3 image, two tokens of text: time, height and width each count for themselves."""
    time = [0, 1, 2, 3] + [4] * 6 + [7, 8]
    height = [0, 1, 2, 3] + [4, 4, 4, 5, 5, 5] + [7, 8]
    width = [0, 1, 2, 3] + [4, 5, 6, 4, 5, 6] + [7, 8]
    return torch.tensor([time, height, width])[:, None]


@deferred
def _qwen2_vl(dtype: str) -> Case:
    sections = [8, 12, 12]
    positions = _text_and_image()
    case = new_case(
        f"qwen2_vl/mrope-{dtype}",
        "qwen2_vl.modeling_qwen2_vl.apply_rotary_pos_emb",
        "Three position axes for 8, 12 and 12 of the 32 pairs",
        spec(64, "half_split", base=1e6, axes={"sections": sections, "order": "chunked"}),
        dtype,
        2.0,
    )
    qwen2_vl = _modeling("qwen2_vl")
    config_class = _qwen2_vl_config("Qwen2VLTextConfig")
    parameters = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": sections}
    config = config_class(
        hidden_size=256, num_attention_heads=4, num_key_value_heads=1, **rope_arguments(config_class, parameters)
    )
    return run(case, qwen2_vl.Qwen2VLRotaryEmbedding(config), qwen2_vl.apply_rotary_pos_emb, positions)


@deferred
def _qwen3_vl(dtype: str) -> Case:
    sections = [12, 10, 10]
    case = new_case(
        f"qwen3_vl/mrope-{dtype}",
        "qwen3_vl.modeling_qwen3_vl.apply_rotary_pos_emb",
        "Three position axes that take turns: pair p follows axis p mod 3 up to pair 30, then axis 0",
        spec(64, "half_split", base=5e6, axes={"sections": sections, "order": "interleaved"}),
        dtype,
        2.0,
    )
    qwen3_vl = _modeling("qwen3_vl")
    config_class = importlib.import_module("transformers.models.qwen3_vl.configuration_qwen3_vl").Qwen3VLTextConfig
    parameters = {"rope_type": "default", "rope_theta": 5e6, "mrope_section": sections, "mrope_interleaved": True}
    config = config_class(
        hidden_size=256,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=64,
        **rope_arguments(config_class, parameters),
    )
    return run(case, qwen3_vl.Qwen3VLTextRotaryEmbedding(config), qwen3_vl.apply_rotary_pos_emb, _text_and_image())


@deferred
def _qwen2_vl_vision(dtype: str) -> Case:
    """A 3 x 4 image: half of the pairs follows the row, half the column, each with the frequencies of a rope of 32."""
    rows, columns = torch.meshgrid(torch.arange(3), torch.arange(4), indexing="ij")
    positions = torch.stack((rows.flatten(), columns.flatten()))
    case = new_case(
        f"qwen2_vl/vision-{dtype}",
        "qwen2_vl.modeling_qwen2_vl.apply_rotary_pos_emb_vision",
        "Two position axes, rows and columns of an image; tables f32, arithmetic in f32, one final cast",
        spec(64, "half_split", axes={"sections": [16, 16], "order": "chunked", "restart": True}),
        dtype,
        2.0,
        BSHD,
    )
    case.rounding = "f32" if dtype == "f32" else "final-cast"
    q, k = draw(case, positions[:1], 64)
    qwen2_vl = _modeling("qwen2_vl")
    module = qwen2_vl.Qwen2VLVisionRotaryEmbedding(_qwen2_vl_config("Qwen2VLVisionConfig")(embed_dim=256, num_heads=4))
    cos, sin = module(q[0], positions.T)
    outputs = qwen2_vl.apply_rotary_pos_emb_vision(q[0], k[0], cos, sin)
    theta = torch.cat((module.inv_freq, module.inv_freq))
    return finish(case, positions[:, None], theta, (cos, sin), tuple(y[None] for y in outputs))


@deferred
def _nested_yarn() -> Case:
    rule = {"factor": 4, "original_max_position_embeddings": 2048, "truncate": False}
    case = new_case(
        "gemma3/yarn-no-truncate-nested",
        "gemma3.modeling_gemma3.apply_rotary_pos_emb",
        "YaRN whose ramp ends are not to be rounded to whole pairs, set for one kind of layer",
        spec(64, "half_split", scaling={"kind": "yarn"} | rule),
        "f32",
        6.5,
    )
    gemma3 = _modeling("gemma3")
    config = transformers.Gemma3TextConfig(
        hidden_size=256,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=64,
        max_position_embeddings=8192,
        rope_parameters={
            "full_attention": {"rope_type": "yarn", "rope_theta": 10000.0} | rule,
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        },
    )
    positions = torch.tensor([[0, 1, 2, 1000, 4095, 8191]])
    q, k = draw(case, positions, 64)
    module = gemma3.Gemma3RotaryEmbedding(config)
    cos, sin = module(q, positions, "full_attention")
    case.attention_factor = float(module.full_attention_attention_scaling)
    outputs = gemma3.apply_rotary_pos_emb(q, k, cos, sin)
    case = finish(case, positions, module.full_attention_inv_freq, (cos, sin), outputs)
    return case.deviates(
        "looks for `truncate` beside the kinds of layers, not in the one it computes, so it rounds the ramp ends",
        "other_spec",
        spec=case.spec | {"scaling": case.spec["scaling"] | {"truncate": True}},
    )
