"""Attention of Hugging Face's Llama: caches, padding, packed sequences and grouped heads. Dropout is off, as in a model
that is evaluated."""

from collections.abc import Iterator

import torch
from transformers import LlamaConfig
from transformers.cache_utils import DynamicCache
from transformers.models.llama import modeling_llama as llama

from capture import CapturedArgument
from case import TORCH_DTYPES, Array, Case, Deferred, deferred, spec

from .huggingface_case import CACHED, finish, new_case, run

EAGER = "llama.modeling_llama.eager_attention_forward"
DTYPES = ("f32", "bf16", "f16")
SCORES = "batch, heads, query, key"


def _config() -> LlamaConfig:
    config = LlamaConfig(head_dim=64, hidden_size=256, num_attention_heads=4, num_key_value_heads=2)
    config._attn_implementation = "eager"
    return config


def _attend(case: Case, mask: torch.Tensor | None) -> Case:
    """The model's own scores, softmax and weighted values of the rotated q and k."""
    module = llama.LlamaAttention(_config(), 0).eval()
    q, k, v = (case.array(name).values for name in ("q_out", "k_out", "v"))
    case.score_scale = module.scaling
    if mask is not None:
        case.masked_score = float(torch.finfo(q.dtype).min)
        case.arrays.append(Array("mask", "mask", "batch, query, key", (mask[:, 0] == 0).to(torch.int64)))
    with CapturedArgument("softmax") as captured:
        attended, weights = llama.eager_attention_forward(module, q, k, v, mask, module.scaling)
    case.add_scores(captured.value, SCORES)
    case.add_attention(weights, attended, SCORES, "batch, query, heads, head_dim")
    return case


def _mask(positions: torch.Tensor, dtype: str, padding: torch.Tensor | None) -> torch.Tensor:
    """As the model makes it: 0 or the smallest number of the dtype, [batch, 1, query, key]."""
    from transformers.masking_utils import create_causal_mask  # noqa: PLC0415 (older versions lack it)

    rows = torch.zeros(*positions.shape, 256, dtype=TORCH_DTYPES[dtype])
    return create_causal_mask(_config(), rows, padding, None, positions)


@deferred
def _grouped() -> Case:
    """Each key and value head serves two query heads; repeat_kv copies it for them."""
    description = "Four query heads to two key heads by repeat_kv; scores, softmax and the weighted values"
    case = new_case("llama/gqa-attention", EAGER, description, spec(64, "half_split"), "f32", 2.0)
    run(case, llama.LlamaRotaryEmbedding(_config()), llama.apply_rotary_pos_emb, CACHED, heads=(4, 2))
    case.draw("v", tuple(case.array("k").values.shape))
    return _attend(case, None)


@deferred
def _whole(name: str, description: str, dtype: str, positions: torch.Tensor, padding: torch.Tensor | None) -> Case:
    """As many queries as keys. padding: 1 where a token is; if it is missing, positions that restart part sequences."""
    case = new_case(f"llama/{name}-{dtype}", EAGER, description, spec(64, "half_split"), dtype, 2.0)
    batch, seq = positions.shape
    q, k, v = (case.draw(n, (batch, heads, seq, 64)) for n, heads in (("q", 4), ("k", 2), ("v", 2)))
    module = llama.LlamaRotaryEmbedding(_config())
    tables = module(q, positions)
    finish(case, positions, module.inv_freq, tables, llama.apply_rotary_pos_emb(q, k, *tables))
    return _attend(case, _mask(positions, dtype, padding))


@deferred
def _decode(dtype: str) -> Case:
    """Seven keys were rotated and cached by one call; a second one brings a query and a key at position 7."""
    case = new_case(
        f"llama/attention-decode-{dtype}",
        EAGER,
        "One query at position 7; eight keys, seven of them cached by an earlier call; grouped heads",
        spec(64, "half_split"),
        dtype,
        2.0,
    )
    q = case.draw("q", (2, 4, 1, 64))
    k, v = (case.draw(n, (2, 2, 8, 64)) for n in "kv")
    module, cache = llama.LlamaRotaryEmbedding(_config()), DynamicCache()
    tables = []
    for tokens in (slice(0, 7), slice(7, 8)):
        tables.append(module(k, torch.arange(8)[None, tokens]))
        queries = q if tokens.start else torch.zeros(2, 4, 7, 64, dtype=q.dtype)
        turned, keys = llama.apply_rotary_pos_emb(queries, k[:, :, tokens], *tables[-1])
        keys, values = cache.update(keys, v[:, :, tokens], 0)
    assert torch.equal(values, v)
    case.add_positions(torch.tensor([7]))
    case.add_positions(torch.arange(8), keys=True)
    case.add_frequencies(module.inv_freq)
    case.add_tables(*tables[-1])
    case.add_tables(*(torch.cat(both, dim=1) for both in zip(*tables, strict=True)), keys=True)
    case.add_output("q_out", turned)
    case.add_output("k_out", keys)
    return _attend(case, None)


def cases() -> Iterator[Deferred]:
    padded = torch.tensor([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]])
    row = torch.arange(6)
    # As generate() numbers them: the padding on the left gets position 1.
    from_left = torch.tensor([[1, 1, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5]])
    packed = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 0]])
    yield _grouped()
    for dtype in DTYPES:
        yield _decode(dtype)
        yield _whole("attention-padded-right", "Causal mask; two tokens of padding on the right", dtype, row.repeat(2, 1), padded)  # fmt: skip
        yield _whole("attention-padded-left", "Causal mask; two tokens of padding on the left", dtype, from_left, padded.flip(1))  # fmt: skip
        yield _whole("attention-packed", "Three sequences in one row, of 4, 3 and 1 tokens; positions restart", dtype, packed, None)  # fmt: skip
