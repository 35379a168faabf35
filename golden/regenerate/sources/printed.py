"""Code and formulas of the published documents, transcribed. This file says what had to be repaired so that they run,
and keeps every mistake that runs. It uses none of the packages: the documents are the source."""

import math

import torch

# -- the notebook that explains Llama's rotary embedding ---------------------------------------------------------------


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rope_as_printed(q, k, seq_len, dim, base=10000, device=None):  # noqa: ANN001, ANN201
    """Nothing is repaired: `self`, `arrage` and `x` do not exist."""
    self.dim = dim  # noqa: F821
    self.base = base  # noqa: F821
    inv_freq = 1.0 / (self.base ** (torch.arrage(0, self.dim, 2).float().to(device) / self.dim))  # noqa: F821
    t = torch.arrage(self.seq_len, device=device, dtype=inv_freq.dtype)  # noqa: F821
    freqs = torch.outer(t, inv_freq)
    emb = torch.cat([freqs, freqs], dim=-1)
    cos = emb.cos()[:seq_len].to(x.dtype)  # noqa: F821
    sin = emb.sin()[seq_len:].to(x.dtype)  # noqa: F821
    q_em = (q * cos) + (rotate_half(q) * sin)
    k_em = (k * cos) + (rotate_half(q) * sin)
    return q_em, k_em


def apply_rope(
    q: torch.Tensor, k: torch.Tensor, seq_len: int, dim: int, base: float = 10000, sines: slice | None = None
) -> tuple:
    """Repaired: `arrage`, `self.` and `x`, which do not exist. The sines are cut [:seq_len] like the cosines; the
    printed `[seq_len:]` leaves none: `sines`. Kept: k is turned with rotate_half(q). Also returns what a case keeps."""
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
    t = torch.arange(seq_len, dtype=inv_freq.dtype)
    freqs = torch.outer(t, inv_freq)
    emb = torch.cat([freqs, freqs], dim=-1)
    cos = emb.cos()[:seq_len].to(q.dtype)
    sin = emb.sin()[sines or slice(seq_len)].to(q.dtype)
    q_em = (q * cos) + (rotate_half(q) * sin)
    k_em = (k * cos) + (rotate_half(q) * sin)
    return q_em, k_em, inv_freq, cos, sin


class RotaryPositionalEmbeddings(torch.nn.Module):
    """The notebook's copy of labml's class, without the lines that split off and return the features from d on."""

    def __init__(self, d: int, base: int = 10_000) -> None:
        super().__init__()
        self.base = base
        self.d = d
        self.cos_cached = None
        self.sin_cached = None

    def _build_cache(self, x: torch.Tensor) -> None:
        if self.cos_cached is not None and x.shape[0] <= self.cos_cached.shape[0]:
            return
        seq_len = x.shape[0]
        theta = 1.0 / (self.base ** (torch.arange(0, self.d, 2).float() / self.d)).to(x.device)
        seq_idx = torch.arange(seq_len, device=x.device).float().to(x.device)
        idx_theta = torch.einsum("n,k->nk", seq_idx, theta)
        idx_theta2 = torch.cat([idx_theta, idx_theta], dim=1)
        self.cos_cached = idx_theta2.cos()[:, None, None, :]
        self.sin_cached = idx_theta2.sin()[:, None, None, :]

    def _neg_half(self, x: torch.Tensor) -> torch.Tensor:
        d_2 = self.d // 2
        return torch.cat([-x[:, :, :, d_2:], x[:, :, :, :d_2]], dim=-1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self._build_cache(x)
        neg_half_x = self._neg_half(x)
        return (x * self.cos_cached[: x.shape[0]]) + (neg_half_x * self.sin_cached[: x.shape[0]])


class Qwen2RotaryEmbedding(torch.nn.Module):
    def __init__(self, dim: int, max_position_embeddings: int = 2048, base: float = 10000) -> None:
        super().__init__()
        self.dim = dim
        self.max_position_embeddings = max_position_embeddings
        self.base = base
        inv_freq = 1.0 / (self.base ** (torch.arange(0, self.dim, 2).float() / self.dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self._set_cos_sin_cache(seq_len=max_position_embeddings, dtype=torch.get_default_dtype())

    def _set_cos_sin_cache(self, seq_len: int, dtype: torch.dtype) -> None:
        self.max_seq_len_cached = seq_len
        t = torch.arange(self.max_seq_len_cached, dtype=self.inv_freq.dtype)
        freqs = torch.outer(t, self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        self.register_buffer("cos_cached", emb.cos().to(dtype), persistent=False)
        self.register_buffer("sin_cached", emb.sin().to(dtype), persistent=False)

    def forward(self, x: torch.Tensor, seq_len: int) -> tuple[torch.Tensor, torch.Tensor]:
        if seq_len > self.max_seq_len_cached:
            self._set_cos_sin_cache(seq_len=seq_len, dtype=x.dtype)
        return self.cos_cached[:seq_len].to(dtype=x.dtype), self.sin_cached[:seq_len].to(dtype=x.dtype)


def apply_rotary_pos_emb(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    position_ids: torch.Tensor,
    unsqueeze_dim: int = 1,
) -> tuple[torch.Tensor, torch.Tensor]:
    cos = cos[position_ids].unsqueeze(unsqueeze_dim)
    sin = sin[position_ids].unsqueeze(unsqueeze_dim)
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    return q_embed, k_embed


def inner_product(q: torch.Tensor, k: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    """<RoPE(q, m), RoPE(k, n)> by the last line but one of the derivation: q_j k_j e^((m - n) i theta). Its k lacks the
    conjugate. q, k: complex [.., seq, pair]. Returns the real part, summed over the pairs: [.., m, n]."""
    m = torch.arange(q.shape[-2], dtype=torch.float32)
    angle = (m[:, None] - m)[..., None] * theta
    products = q[..., :, None, :] * k[..., None, :, :] * torch.polar(torch.ones_like(angle), angle)
    return products.real.sum(-1)


# -- the notebook with complex numbers, and the two pages of labml ------------------------------------------------------


def precompute_rope_naive(dim):  # noqa: ANN001, ANN201
    """As printed: T and hs are variables of the notebook."""
    theta_i = torch.tensor([10000 ** ((-2 * i) / dim) for i in range(0, dim // 2)])
    rope_cache = torch.zeros(T, hs // 2, 2)  # noqa: F821
    for pos in range(T):  # noqa: F821
        rope_cache[pos] = torch.stack((torch.cos(pos * theta_i), torch.sin(pos * theta_i)), dim=1)
    return rope_cache


def test_rotary(rotary_class, inspect=lambda _: None):  # noqa: ANN001, ANN201
    """labml's _test_rotary, as the English and the Japanese page print it. inspect, which prints, is left out."""
    x = torch.tensor([[1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10]], dtype=torch.float)
    x = x[:, None, None, :]
    inspect(x)
    rotary_pe = rotary_class(3)
    y = rotary_pe(x)
    inspect(y)
    return y


# -- the report on an interleaved implementation -----------------------------------------------------------------------


def frequencies(d_k: int) -> torch.Tensor:
    return torch.exp(torch.arange(0, d_k, 2, dtype=torch.float32) * -(math.log(10000.0) / d_k))


def generate_sin_embedding(seq_len: int, d_k: int) -> torch.Tensor:
    position = torch.arange(0, seq_len).unsqueeze(1)
    div_term = frequencies(d_k)
    sinusoidal_emb = torch.zeros(seq_len, d_k)
    sinusoidal_emb[:, 0::2] = torch.sin(position * div_term)
    sinusoidal_emb[:, 1::2] = torch.sin(position * div_term)
    return sinusoidal_emb.unsqueeze(0).unsqueeze(0)


def generate_cos_embedding(seq_len: int, d_k: int) -> torch.Tensor:
    position = torch.arange(0, seq_len).unsqueeze(1)
    div_term = frequencies(d_k)
    sinusoidal_emb = torch.zeros(seq_len, d_k)
    sinusoidal_emb[:, 0::2] = torch.cos(position * div_term)
    sinusoidal_emb[:, 1::2] = torch.cos(position * div_term)
    return sinusoidal_emb.unsqueeze(0).unsqueeze(0)


def swapped(tensor1: torch.Tensor) -> torch.Tensor:
    """(-v2, v1, -v4, v3, ..)"""
    last_dim_size = tensor1.size()[-1]
    swap_indices = torch.arange(0, last_dim_size, 2)
    negate_indices = torch.arange(1, last_dim_size, 2)
    tensor2 = tensor1.clone()
    tensor2[..., swap_indices] = -tensor1[..., negate_indices]
    tensor2[..., negate_indices] = tensor1[..., swap_indices]
    return tensor2


def apply_rotary_emb(tensor1: torch.Tensor, d_k: int) -> torch.Tensor:
    tensor2 = swapped(tensor1)
    sin = generate_sin_embedding(tensor1.size()[-2], d_k)
    cos = generate_cos_embedding(tensor2.size()[-2], d_k)
    return (tensor1 * cos) + (tensor2 * sin)


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None) -> tuple:
    """Without dropout. Also returns the scores, which a case keeps."""
    d_k = query.size(-1)
    query = apply_rotary_emb(query, d_k)
    key = apply_rotary_emb(key, d_k)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value), p_attn, scores


def equation_3(x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    """R x for d = 6 as printed: the matrix has its second block in columns 2 and 3 and its last in 5 and 6."""
    m = torch.arange(x.shape[-2], dtype=torch.float32)
    c, s = (f(m[:, None] * theta) for f in (torch.cos, torch.sin))
    matrix = torch.zeros(x.shape[-2], 6, 6)
    for block, (row, column) in enumerate(((0, 0), (2, 1), (4, 4))):
        matrix[:, row, column], matrix[:, row, column + 1] = c[:, block], -s[:, block]
        matrix[:, row + 1, column], matrix[:, row + 1, column + 1] = s[:, block], c[:, block]
    return (matrix * x[..., None, :]).sum(-1)


def equation_4_tables(seq_len: int, theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The two columns of angles for d = 6 as printed: theta_1, theta_2, theta_2, then three times the last.
    The sines are in order."""
    m = torch.arange(seq_len, dtype=torch.float32)[:, None]
    cosines = theta[[0, 1, 1, 2, 2, 2]]
    return torch.cos(m * cosines), torch.sin(m * theta.repeat_interleave(2))


def theta_without_division(d: int) -> torch.Tensor:
    """10000^(-2(i-1)d), i = 1 .. d/2: the set below the matrix, whose exponent is not divided by d."""
    return torch.tensor(10000.0) ** (-2.0 * torch.arange(d // 2) * d)
