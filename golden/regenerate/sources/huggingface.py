"""Hugging Face transformers: a rotary module makes full-width tables from position ids, a function applies them."""

from collections.abc import Callable, Iterator

import torch
from transformers.models.llama import modeling_llama as llama

from case import Case, Deferred, default_c, deferred, spec

from .huggingface_case import BHSD, BSHD, CACHED, HEADS, ONE_ROW, llama_module, new_case, run

EIGHT = torch.arange(8).repeat(2, 1)
DECODE = torch.tensor([[37], [1021]])
SPARSE = torch.tensor([[0, 1, 255, 256, 257, 2047, 2049, 4095, 32767, 65504, 65505, 131071, 2**20 - 2, 2**20 - 1]])
LEFT_PADDED = torch.tensor([[1, 1, 1, 0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 6, 7]])  # padding gets position 1


@deferred
def _llama(
    name: str,
    description: str,
    positions: torch.Tensor = ONE_ROW,
    *,
    head_dim: int = 64,
    dtype: str = "f32",
    base: float = 10000.0,
    c: float | None = None,
    scaling: dict | None = None,
    hf: dict | None = None,
    lambda_given: float | None = None,
    longest: int = 2048,
    axes: str = BHSD,
    heads: tuple[int, int] = HEADS,
    prepare: Callable[[torch.nn.Module], object] = lambda module: None,
) -> Case:
    """scaling: the rule as RopeSpec has it; hf: the same rule as rope_parameters; lambda_given: replaces its lambda."""
    more = {"scaling": scaling, "attention_factor": lambda_given}
    rope = spec(head_dim, "half_split", base=base, **{key: value for key, value in more.items() if value is not None})
    case = new_case(
        f"llama/{name}",
        "llama.modeling_llama.apply_rotary_pos_emb",
        description,
        rope,
        dtype,
        c or default_c(head_dim, base),
        axes,
    )
    module = llama_module(head_dim, {"rope_theta": base} | (hf or {}), longest)
    prepare(module)
    return run(case, module, llama.apply_rotary_pos_emb, positions, heads)


def _llama_positions() -> Iterator[Deferred]:
    for dtype in ("f32", "bf16", "f16"):
        yield _llama(f"d64-{dtype}", "Positions 0 .. 7 of two sequences", EIGHT, dtype=dtype)
        yield _llama(f"kv-offset-{dtype}", "Positions 1000 .. 1003 behind a key cache", CACHED, dtype=dtype)
        yield _llama(
            f"decode-{dtype}", "One token of each of two sequences, at different positions", DECODE, dtype=dtype
        )
        yield _llama(
            f"sparse-long-{dtype}",
            "Positions up to 2^20 - 1 around the limits of narrow types",
            SPARSE,
            dtype=dtype,
            longest=2**20,
        )
        yield _llama(
            f"left-padded-{dtype}", "Left padding of one sequence: position 1 repeats", LEFT_PADDED, dtype=dtype
        )
    yield _llama(
        "packed", "Three sequences in one row: positions restart", torch.tensor([[0, 1, 2, 3, 0, 1, 2, 0]])
    )
    yield _llama(
        "f64-positions",
        "Positions given in f64, whole and in eighths; every one is an f32, too",
        torch.tensor([[0, 0.125, 1, 2.5, 1000.875, 65536, 1048575]], dtype=torch.float64),
        longest=2**20,
    )
    yield _llama("d128-base-5e5", "The base of Llama 3", head_dim=128, base=500000.0)
    yield _llama("d96", "A head_dim that is not a power of two", head_dim=96)
    yield _llama("d80-gqa", "Four query heads to one key head", head_dim=80, heads=(4, 1))
    for suffix, dtype in (("", "f32"), ("-bf16", "bf16"), ("-f16", "f16")):
        yield _llama(f"bshd{suffix}", "unsqueeze_dim=2: heads after the sequence", EIGHT, dtype=dtype, axes=BSHD)


def _llama_scaling() -> Iterator[Deferred]:
    def each(name: str, description: str, positions: torch.Tensor, **arguments: object) -> Iterator[Deferred]:
        for dtype in ("f32", "bf16", "f16"):
            yield _llama(f"{name}-{dtype}", description, positions, dtype=dtype, **arguments)

    far = torch.tensor([[0, 1, 2, 1000, 4095, 8191]])
    yield from each(
        "linear",
        "Linear, factor 4",
        far,
        c=3.0,
        scaling={"kind": "linear", "factor": 4},
        hf={"rope_type": "linear", "factor": 4.0},
    )

    dynamic = {
        "c": 7.0,
        "longest": 256,
        "scaling": {"kind": "dynamic", "factor": 2, "original_max_position_embeddings": 256},
        "hf": {"rope_type": "dynamic", "factor": 2.0},
    }
    at_length = torch.tensor([[0, 1, 100, 254, 255]])
    yield from each("dynamic-short", "Dynamic NTK below the original length: no change", ONE_ROW, **dynamic)
    yield _llama(
        "dynamic-below-length", "Dynamic NTK one token short of the original length", at_length[:, :-1], **dynamic
    )
    yield _llama("dynamic-at-length", "Dynamic NTK at exactly the original length: no change", at_length, **dynamic)
    yield _llama("dynamic-past-length", "Dynamic NTK one token beyond the original length", at_length + 1, **dynamic)
    yield from each(
        "dynamic-long",
        "Dynamic NTK at four times the original length",
        torch.tensor([[0, 1, 255, 256, 1000, 1023]]),
        **dynamic,
    )

    def yarn(more: dict | None = None, hf_more: dict | None = None) -> dict:
        rule = {"factor": 4, "original_max_position_embeddings": 2048}
        return {
            "c": 6.5,
            "longest": 8192,
            "scaling": {"kind": "yarn"} | rule | (more or {}),
            "hf": {"rope_type": "yarn"} | rule | (hf_more or more or {}),
        }

    deepseek = {"mscale": 0.707, "mscale_all_dim": 1.0}
    yield from each("yarn", "YaRN, factor 4: lambda = 0.1 ln 4 + 1", far, **yarn())
    yield _llama("yarn-mscale", "YaRN with mscale and mscale_all_dim", far, **yarn(deepseek))
    yield _llama(
        "yarn-no-truncate", "YaRN whose ramp ends are not rounded to whole pairs", far, **yarn({"truncate": False})
    )
    given = {"lambda_given": 1.25} | yarn(hf_more={"attention_factor": 1.25})
    yield _llama("yarn-attention-factor", "YaRN with an attention factor of 1.25 in the place of its own", far, **given)
    yield _llama("yarn-betas", "YaRN with a ramp from 16 to 2 turns", far, **yarn({"beta_fast": 16, "beta_slow": 2}))

    short_factor = [1.0 + i / 32 for i in range(32)]
    long_factor = [1.0 + i / 2 for i in range(32)]
    rule = {
        "factor": 4,
        "original_max_position_embeddings": 1024,
        "short_factor": short_factor,
        "long_factor": long_factor,
    }
    longrope = {
        "c": 8.0,
        "longest": 4096,
        "scaling": {"kind": "longrope"} | rule,
        "hf": {"rope_type": "longrope"} | rule,
    }
    yield from each(
        "longrope-short", "LongRoPE within the original length", torch.tensor([[0, 1, 7, 500, 1022]]), **longrope
    )
    yield _llama(
        "longrope-at-length",
        "LongRoPE at exactly the original length: short factors",
        torch.tensor([[0, 1, 1022, 1023]]),
        **longrope,
    )
    yield _llama(
        "longrope-past-length",
        "LongRoPE one token beyond the original length: long factors",
        torch.tensor([[0, 1, 1023, 1024]]),
        **longrope,
    )
    yield from each(
        "longrope-long", "LongRoPE beyond the original length", torch.tensor([[0, 1, 7, 1024, 4095]]), **longrope
    )

    rule = {"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192}
    yield from each(
        "llama3",
        "The rule of Llama 3.1",
        torch.tensor([[0, 1, 4095, 8191, 8192, 131071]]),
        base=500000.0,
        c=15.0,
        longest=131072,
        scaling={"kind": "llama3"} | rule,
        hf={"rope_type": "llama3"} | rule,
    )
    yield from each(
        "proportional",
        "A quarter of the pairs turns, spaced over the whole head",
        far,
        c=2.0,
        scaling={"kind": "proportional", "proportion": 0.25},
        hf={"rope_type": "proportional", "partial_rotary_factor": 0.25},
    )


def _stale_dynamic(name: str, description: str, positions: torch.Tensor, reason: str) -> Deferred:
    """Dynamic NTK in a module that was called for 1024 tokens before."""
    case = _llama(
        name,
        description,
        positions,
        c=7.0,
        longest=256,
        scaling={"kind": "dynamic", "factor": 2, "original_max_position_embeddings": 256},
        hf={"rope_type": "dynamic", "factor": 2.0},
        prepare=lambda module: module(torch.zeros(1), torch.tensor([[1023]])),
    )
    return case.deviates(reason, "other_sequence_length", sequence_length=1024)


def _deviations() -> Iterator[Deferred]:
    yield _stale_dynamic(
        "dynamic-stale",
        "Dynamic NTK at exactly the original length, after a longer call of the same module",
        torch.tensor([[0, 1, 100, 254, 255]]),
        "keeps the frequencies of the longer call: it resets below the length, not at it",
    )
    yield _stale_dynamic(
        "dynamic-stale-long",
        "Dynamic NTK at twice the original length, after a call twice as long again",
        torch.tensor([[0, 1, 255, 256, 511]]),
        "keeps the frequencies of the longest call so far, not those of its own length",
    )
    case = _llama(
        "inv-freq-bf16",
        "The module cast with .to(bfloat16), as a whole model is",
        ONE_ROW + 1000,
        dtype="bf16",
        prepare=lambda module: module.to(torch.bfloat16),
    )
    yield case.deviates(
        "the cast rounds inv_freq to bf16, so every angle is off by up to 2^-8 of itself",
        "theta_rounded",
        dtype="bf16",
    )


def cases() -> Iterator[Deferred]:
    yield from _llama_positions()
    yield from _llama_scaling()
    yield from _deviations()
