"""Hugging Face transformers: the models whose layout, share of the head or position axes differ from Llama's."""

from collections.abc import Iterator

import torch
from transformers import CohereConfig, Gemma3TextConfig, GlmConfig, GPTNeoXConfig, Qwen2Config
from transformers.models.cohere import modeling_cohere as cohere
from transformers.models.gemma3 import modeling_gemma3 as gemma3
from transformers.models.glm import modeling_glm as glm
from transformers.models.gpt_neox import modeling_gpt_neox as gpt_neox
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.qwen2 import modeling_qwen2 as qwen2
from transformers.models.qwen2_vl import modeling_qwen2_vl as qwen2_vl
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLTextConfig, Qwen2VLVisionConfig

from capture import CapturedReciprocal
from case import TORCH_DTYPES, Case, spec

from .huggingface_case import BSHD, CACHED, ONE_ROW, draw, finish, new_case, run


def cases() -> Iterator[Case]:
    for dtype in ("f32", "bf16", "f16"):
        partial = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25}
        config = GPTNeoXConfig(hidden_size=256, num_attention_heads=4, rope_parameters=partial)
        case = new_case(
            f"gpt_neox/partial-{dtype}",
            "gpt_neox.modeling_gpt_neox.apply_rotary_pos_emb",
            "The first 16 of 64 features rotate",
            spec(64, "half_split", rotary_dim=16),
            dtype,
            2.0,
        )
        yield run(case, gpt_neox.GPTNeoXRotaryEmbedding(config), gpt_neox.apply_rotary_pos_emb, ONE_ROW)

        config = CohereConfig(hidden_size=256, num_attention_heads=4)
        case = new_case(
            f"cohere/d64-{dtype}",
            "cohere.modeling_cohere.apply_rotary_pos_emb",
            "Interleaved; tables in the input's dtype, arithmetic in f32, one final cast",
            spec(64, "interleaved", base=config.rope_parameters["rope_theta"]),
            dtype,
            2.0,
        )
        case.rounding = "f32" if dtype == "f32" else "final-cast"
        yield run(case, cohere.CohereRotaryEmbedding(config), cohere.apply_rotary_pos_emb, CACHED)

        config = Qwen2Config(hidden_size=256, num_attention_heads=4, num_key_value_heads=1)
        base = config.rope_parameters["rope_theta"]
        case = new_case(
            f"qwen2/d64-{dtype}",
            "qwen2.modeling_qwen2.apply_rotary_pos_emb",
            "Half-split, positions behind a key cache",
            spec(64, "half_split", base=base),
            dtype,
            2.0,
        )
        yield run(case, qwen2.Qwen2RotaryEmbedding(config), qwen2.apply_rotary_pos_emb, CACHED)

        yield _glm(dtype)
        yield _gptj(dtype)
        yield _qwen2_vl(dtype)
        yield _qwen2_vl_vision(dtype)


def _glm(dtype: str) -> Case:
    half = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}
    config = GlmConfig(hidden_size=256, num_attention_heads=4, head_dim=64, rope_parameters=half)
    case = new_case(
        f"glm/partial-{dtype}",
        "glm.modeling_glm.apply_rotary_pos_emb",
        "Interleaved, 32 of 64 features; of the table the first half is used, and stored",
        spec(64, "interleaved", rotary_dim=32),
        dtype,
        2.0,
    )
    q, k = draw(case, ONE_ROW, 64)
    module = glm.GlmRotaryEmbedding(config)
    cos, sin = module(q, ONE_ROW)
    outputs = glm.apply_rotary_pos_emb(q, k, cos, sin)
    return finish(case, ONE_ROW, module.inv_freq, (cos[..., :16], sin[..., :16]), outputs)


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


def _qwen2_vl(dtype: str) -> Case:
    """Four tokens of text, a 2 x 3 image, two tokens of text: time, height and width each count for themselves."""
    sections = [8, 12, 12]
    time = [0, 1, 2, 3] + [4] * 6 + [7, 8]
    height = [0, 1, 2, 3] + [4, 4, 4, 5, 5, 5] + [7, 8]
    width = [0, 1, 2, 3] + [4, 5, 6, 4, 5, 6] + [7, 8]
    positions = torch.tensor([time, height, width])[:, None]
    config = Qwen2VLTextConfig(
        hidden_size=256,
        num_attention_heads=4,
        num_key_value_heads=1,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": sections},
    )
    case = new_case(
        f"qwen2_vl/mrope-{dtype}",
        "qwen2_vl.modeling_qwen2_vl.apply_rotary_pos_emb",
        "Three position axes for 8, 12 and 12 of the 32 pairs",
        spec(64, "half_split", base=1e6, axes={"sections": sections, "order": "chunked"}),
        dtype,
        2.0,
    )
    return run(case, qwen2_vl.Qwen2VLRotaryEmbedding(config), qwen2_vl.apply_rotary_pos_emb, positions)


def _qwen2_vl_vision(dtype: str) -> Case:
    """A 3 x 4 image: half of the pairs follows the row, half the column, each with the frequencies of a rope of 32."""
    rows, columns = torch.meshgrid(torch.arange(3), torch.arange(4), indexing="ij")
    positions = torch.stack((rows.flatten(), columns.flatten()))
    config = Qwen2VLVisionConfig(embed_dim=256, num_heads=4)
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
    module = qwen2_vl.Qwen2VLVisionRotaryEmbedding(config)
    cos, sin = module(q[0], positions.T)
    outputs = qwen2_vl.apply_rotary_pos_emb_vision(q[0], k[0], cos, sin)
    theta = torch.cat((module.inv_freq, module.inv_freq))
    return finish(case, positions[:, None], theta, (cos, sin), tuple(y[None] for y in outputs))


def nested_yarn() -> Case:
    rule = {"factor": 4, "original_max_position_embeddings": 2048, "truncate": False}
    config = Gemma3TextConfig(
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
    case = new_case(
        "gemma3/yarn-no-truncate-nested",
        "gemma3.modeling_gemma3.apply_rotary_pos_emb",
        "YaRN whose ramp ends are not to be rounded to whole pairs, set for one kind of layer",
        spec(64, "half_split", scaling={"kind": "yarn"} | rule),
        "f32",
        6.5,
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
