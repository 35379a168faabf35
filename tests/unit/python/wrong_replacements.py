"""Functions with the signatures of real code bases, each with one mistake."""

import torch


def half_split(q, k, cos, sin, unsqueeze_dim=1):
    """Pairs (p, p + half), as in llama, but not in cohere and glm."""
    def turned(x):
        first, second = x.chunk(2, -1)
        return x * cos.unsqueeze(unsqueeze_dim) + torch.cat([-second, first], -1) * sin.unsqueeze(unsqueeze_dim)

    return turned(q), turned(k)


def neox_keeps_nothing(q, k, cos, sin, unsqueeze_dim=1):
    """Features from rotary_dim on are lost."""
    width = cos.shape[-1]
    turned = half_split(q[..., :width], k[..., :width], cos, sin, unsqueeze_dim)
    return tuple(torch.nn.functional.pad(y, (0, x.shape[-1] - width)) for x, y in zip((q, k), turned))


def gptj_turns_backwards(tensor, sin, cos):
    cos, sin = (table[:, :, None] for table in (cos, sin))
    first, second = tensor[..., ::2], tensor[..., 1::2]
    return torch.stack([first * cos + second * sin, second * cos - first * sin], -1).flatten(-2)


def onnx_first_batch(input, cos_cache, sin_cache, position_ids=None, **attributes):
    """Every batch uses the first one's positions."""
    from ropecheck.onnx_runtime import rotary_embedding

    if position_ids is not None:
        position_ids = position_ids[:1].repeat(position_ids.shape[0], 0)
    return rotary_embedding(input, cos_cache, sin_cache, position_ids, **attributes)


def onnx_microsoft_forgets_the_offset(input, position_ids, cos_cache, sin_cache, **attributes):
    from ropecheck.onnx_runtime import microsoft_rotary_embedding

    first = position_ids * 0 if position_ids.shape == (1,) else position_ids
    return microsoft_rotary_embedding(input, first, cos_cache, sin_cache, **attributes)


def vllm_query_alone(positions, query, key, head_size, cos_sin_cache, is_neox):
    """The key stays as it was."""
    from vllm_operator import rotary_embedding

    rotary_embedding(positions, query, None, head_size, cos_sin_cache, is_neox)


def flash_attn_one_way(x, cos, sin, conjugate=False, **how):
    """The backward pass turns forward."""
    from flash_attn_triton import apply_rotary

    return apply_rotary(x, cos, sin, **how)
