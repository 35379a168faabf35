"""Rope kernels in torch."""

import math

import torch

import ropecheck

BASIC = ("positions", "batch_positions", "offset", "key", "grouped_heads")


def split(x, rotary_dim, pairing):
    if pairing == "interleaved":
        return x[..., 0:rotary_dim:2], x[..., 1:rotary_dim:2]
    return x[..., : rotary_dim // 2], x[..., rotary_dim // 2 : rotary_dim]


def join(first, second, pairing):
    if pairing == "interleaved":
        return torch.stack([first, second], -1).flatten(-2)
    return torch.cat([first, second], -1)


def turned(x, cos, sin, call):
    """cos and sin: [batch, seq, pairs]"""
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    cos, sin = (table[:, :, None, :].to(work) for table in (cos, sin))
    first, second = (part.to(work) for part in split(x, call.rotary_dim, call.pairing))
    y = join(first * cos - second * sin, second * cos + first * sin, call.pairing)
    return torch.cat([y.to(call.out_dtype), x[..., call.rotary_dim :].to(call.out_dtype)], -1)


def both(call, function):
    q = function(call.q)
    k = None if call.k is None else function(call.k)
    if call.in_place:
        call.q.copy_(q)
        if k is not None:
            call.k.copy_(k)
        return None
    return q if k is None else (q, k)


def theta_of(base, rotary_dim):
    return float(base) ** (-torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)


def given_theta(call):
    return call.inv_freq.double() if call.source == "frequencies" else theta_of(call.base, call.rotary_dim)


def positions_of(call):
    return call.position_ids().long()


def angles(call, theta):
    return positions_of(call).double()[..., None] * theta


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), sources="computed", scalings="none",
                  pairings="interleaved", max_position=1 << 22, features=(*BASIC, "partial", "backward"))
def complex_numbers(call):
    phi = angles(call, theta_of(call.base, call.rotary_dim))
    turn = torch.polar(torch.ones_like(phi), phi).to(torch.complex64)[:, :, None, :]
    if call.direction == "backward":
        turn = turn.conj()

    def rotated(x):
        part = x[..., : call.rotary_dim].float()
        pairs = torch.complex(part[..., 0::2].contiguous(), part[..., 1::2].contiguous()) * turn
        return torch.cat([torch.view_as_real(pairs).flatten(-2).to(x.dtype), x[..., call.rotary_dim :]], -1)

    return both(call, rotated)


def yarn_theta(call):
    dim, rule = call.rotary_dim, call.scaling
    original = rule["original_max_position_embeddings"]

    def correction(turns):
        return (dim * math.log(original / (turns * 2 * math.pi))) / (2 * math.log(call.base))

    low, high = correction(rule["beta_fast"]), correction(rule["beta_slow"])
    if rule["truncate"]:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, (dim // 2 if rule["clamp_pairs"] else dim) - 1)
    if low == high:
        high += 0.001
    ramp = ((torch.arange(dim // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    theta = theta_of(call.base, dim)
    return theta / rule["factor"] * ramp + theta * (1 - ramp)


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="computed", scalings=("none", "yarn"),
                  max_position=1 << 20,
                  features=(*BASIC, "partial", "axes", "attention_factor", "in_place", "strided"))
def yarn_and_axes(call):
    theta = yarn_theta(call) if call.scaling["kind"] == "yarn" else theta_of(call.base, call.rotary_dim)
    positions = positions_of(call)
    if positions.dim() == 3:
        axis = torch.zeros(len(theta), dtype=torch.long) if call.axis is None else call.axis.long()
        phi = positions[axis].permute(1, 2, 0).double() * theta
    else:
        phi = positions.double()[..., None] * theta
    cos, sin = phi.cos() * call.attention_factor, phi.sin() * call.attention_factor
    return both(call, lambda x: turned(x, cos, sin, call))


_TABLES = {}


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), sources="computed", scalings=("none", "linear"),
                  max_position=4095, features=(*BASIC, "partial", "strided"))
def kept_tables(call):
    factor = call.scaling["factor"] if call.scaling["kind"] == "linear" else 1.0
    key = (call.rotary_dim, call.base, factor)
    needed = call.max_position + 1
    if key not in _TABLES or _TABLES[key][0].shape[0] < needed:
        rows = max(256, 1 << max(needed - 1, 0).bit_length())
        phi = torch.arange(rows, dtype=torch.float64)[:, None] * (theta_of(call.base, call.rotary_dim) / factor)
        _TABLES[key] = (phi.cos().float(), phi.sin().float())
    cos, sin = (table[positions_of(call)] for table in _TABLES[key])
    return both(call, lambda x: turned(x, cos, sin, call))


@ropecheck.kernel(array="torch", dtypes=("f32", "f64"), tables="f32", sources="tables",
                  features=(*BASIC, "partial", "unequal_halves", "backward", "strided"))
def matrix_of_each_pair(call):
    cos, sin = (table[positions_of(call)].to(call.dtype) for table in (call.cos, call.sin))
    if call.cos.shape[1] == call.rotary_dim:
        c1, c2 = split(cos, call.rotary_dim, call.pairing)
        s1, s2 = split(sin, call.rotary_dim, call.pairing)
    else:
        c1, c2, s1, s2 = cos, cos, sin, sin
    matrix = torch.stack([torch.stack([c1, -s1], -1), torch.stack([s2, c2], -1)], -2)
    rule = "bspij,bshpj->bshpi" if call.direction == "forward" else "bspji,bshpj->bshpi"

    def turn(x):
        y = torch.einsum(rule, matrix, torch.stack(split(x, call.rotary_dim, call.pairing), -1))
        return torch.cat([join(y[..., 0], y[..., 1], call.pairing), x[..., call.rotary_dim :]], -1)

    return both(call, turn)


_BY_DIM = {}


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="computed", scalings="none", max_position=16383,
                  features=(*BASIC, "partial"))
def kept_by_rotary_dim(call):
    needed = call.max_position + 1
    if call.rotary_dim not in _BY_DIM or _BY_DIM[call.rotary_dim][0].shape[0] < needed:
        phi = torch.arange(max(needed, 256), dtype=torch.float64)[:, None] * theta_of(call.base, call.rotary_dim)
        _BY_DIM[call.rotary_dim] = (phi.cos().float(), phi.sin().float())
    cos, sin = (table[positions_of(call)] for table in _BY_DIM[call.rotary_dim])
    return both(call, lambda x: turned(x, cos, sin, call))


_FIRST = {}


@ropecheck.kernel(array="torch", dtypes=("f32", "f16"), sources="computed", scalings="none", max_position=16383,
                  features=(*BASIC, "partial"))
def rows_2048(call):
    key = (call.rotary_dim, call.base)
    if key not in _FIRST:
        phi = torch.arange(2048, dtype=torch.float64)[:, None] * theta_of(call.base, call.rotary_dim)
        _FIRST[key] = (phi.cos().float(), phi.sin().float())
    cos, sin = _FIRST[key]
    index = positions_of(call).clamp(max=cos.shape[0] - 1)
    return both(call, lambda x: turned(x, cos[index], sin[index], call))


CHUNK = 128


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="frequencies", pairings="half_split",
                  max_position=1 << 20, features=(*BASIC, "partial"))
def chunks_begin_again(call):
    theta = call.inv_freq.double()

    def chunked(x):
        out = []
        for start in range(0, max(x.shape[1], 1), CHUNK):
            chunk = x[:, start : start + CHUNK]
            if call.positions is not None:
                positions = call.positions[:, start : start + CHUNK].double()
            else:
                positions = torch.arange(chunk.shape[1], dtype=torch.float64)[None] + call.position_offset
            phi = positions[..., None] * theta
            out.append(turned(chunk, phi.cos(), phi.sin(), call))
        return torch.cat(out, 1)

    return both(call, chunked)


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), tables="f32", table_widths="half", sources="tables",
                  features=(*BASIC, "partial", "strided"))
def decode_at_offset(call):
    if call.q.shape[1] == 1:
        row = call.position_offset
        cos, sin = call.cos[row][None, None], call.sin[row][None, None]
    else:
        index = positions_of(call)
        cos, sin = call.cos[index], call.sin[index]
    return both(call, lambda x: turned(x, cos, sin, call))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), tables="f32", table_widths="half", sources="tables",
                  features=(*BASIC, "partial", "attention_factor"))
def first_of_repeated_heads(call):
    index = positions_of(call)
    cos, sin = call.cos[index] * call.attention_factor, call.sin[index] * call.attention_factor
    if call.k is None or call.k.shape[2] == 0 or call.q.shape[2] % call.k.shape[2]:
        return both(call, lambda x: turned(x, cos, sin, call))
    heads, kv_heads = call.q.shape[2], call.k.shape[2]
    repeated = call.k.repeat_interleave(heads // kv_heads, dim=2)
    y = turned(torch.cat([call.q, repeated], 2), cos, sin, call)
    return y[:, :, :heads], y[:, :, heads : heads + kv_heads]


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources=("computed", "frequencies"), scalings="none",
                  max_position=1 << 20, features=(*BASIC, "partial", "axes"))
def axes_in_sections(call):
    phi = angles(call, given_theta(call))
    if phi.dim() == 4:
        pairs = phi.shape[-1]
        sections = [pairs] if call.axis is None else torch.bincount(call.axis.long(), minlength=len(phi)).tolist()
        phi = torch.cat([part[i] for i, part in enumerate(phi.split(sections, dim=-1))], -1)
    return both(call, lambda x: turned(x, phi.cos(), phi.sin(), call))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="computed", scalings=("none", "linear"),
                  max_position=4095, features=(*BASIC, "partial"))
def autocast(call):
    theta = theta_of(call.base, call.rotary_dim)
    if call.scaling["kind"] == "linear":
        theta = theta / call.scaling["factor"]
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=call.dtype == torch.bfloat16):
        phi = positions_of(call).float()[..., None] @ theta.float()[None, :]
    phi = phi.float()
    return both(call, lambda x: turned(x, phi.cos(), phi.sin(), call))


@ropecheck.kernel(array="torch", dtypes="f32", tables="f32", table_widths="half", sources="tables",
                  head_dims=range(2, 65, 2), features=(*BASIC, "partial"))
def whole_matrix(call):
    index = positions_of(call)
    pairs = torch.arange(call.rotary_dim // 2)
    if call.pairing == "interleaved":
        first, second = 2 * pairs, 2 * pairs + 1
    else:
        first, second = pairs, pairs + call.rotary_dim // 2

    def turn(x):
        rows = []
        for b in range(x.shape[0]):
            matrix = torch.zeros(x.shape[1], call.rotary_dim, call.rotary_dim)
            cos, sin = call.cos[index[b]], call.sin[index[b]]
            matrix[:, first, first], matrix[:, first, second] = cos, -sin
            matrix[:, second, second], matrix[:, second, first] = cos, sin
            rows.append(torch.einsum("sij,shj->shi", matrix, x[b, :, :, : call.rotary_dim]))
        if not rows:
            return x.clone()
        return torch.cat([torch.stack(rows), x[..., call.rotary_dim :]], -1)

    return both(call, turn)


@ropecheck.kernel(array="torch", dtypes=("f32", "f64"), tables="f32", table_widths="full", sources="tables",
                  pairings="half_split", features=(*BASIC, "partial", "unequal_halves", "backward"))
def backward_minus_sin(call):
    index = positions_of(call)
    cos, sin = (table[index][:, :, None, :].to(call.dtype) for table in (call.cos, call.sin))
    if call.direction == "backward":
        sin = -sin

    def turn(x):
        part = x[..., : call.rotary_dim]
        x1, x2 = part.chunk(2, -1)
        return torch.cat([part * cos + torch.cat([-x2, x1], -1) * sin, x[..., call.rotary_dim :]], -1)

    return both(call, turn)


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), tables="f32", table_widths="half", sources="tables",
                  features=(*BASIC, "partial", "in_place", "strided", "backward"))
def in_place_forward(call):
    index = positions_of(call)
    cos, sin = (table[index][:, :, None, :] for table in (call.cos, call.sin))

    def rotate_(x, sign):
        first, second = split(x, call.rotary_dim, call.pairing)
        a, b = first.to(torch.float32, copy=True), second.to(torch.float32, copy=True)
        first.copy_(a * cos - sign * b * sin)
        second.copy_(b * cos + sign * a * sin)
        return x

    given = [x for x in (call.q, call.k) if x is not None]
    if call.in_place:
        for x in given:
            rotate_(x, 1.0)
        return None
    sign = -1.0 if call.direction == "backward" else 1.0
    made = [rotate_(x.clone(memory_format=torch.contiguous_format), sign) for x in given]
    return made[0] if call.k is None else tuple(made)


@ropecheck.kernel(array="torch", dtypes=("f32", "f16"), tables="f32", table_widths="half", sources="tables",
                  pairings="half_split", features=(*BASIC, "partial"))
def k_twice(call):
    index = positions_of(call)
    cos, sin = call.cos[index], call.sin[index]
    q = turned(call.q, cos, sin, call)
    if call.k is None:
        return q
    k = turned(call.k, cos, sin, call)
    if call.positions is None and call.position_offset > 0:
        k = turned(k, cos, sin, call)
    return q, k


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), tables="f32", table_widths="half", sources="tables",
                  pairings="half_split", features=(*BASIC, "partial"))
def q_scaled_in_decode(call):
    index = positions_of(call)
    cos, sin = call.cos[index], call.sin[index]
    scale = call.head_dim ** -0.5 if call.q.shape[1] == 1 else 1.0
    q = turned(call.q, cos, sin, call) * scale
    return q if call.k is None else (q, turned(call.k, cos, sin, call))


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), sources="computed", scalings="none",
                  max_position=4095, features=(*BASIC, "partial"))
def base_in_dtype(call):
    base = torch.tensor(call.base, dtype=call.dtype).double()
    theta = 1.0 / base ** (torch.arange(0, call.rotary_dim, 2, dtype=torch.float64) / call.rotary_dim)
    phi = angles(call, theta)
    return both(call, lambda x: turned(x, phi.cos(), phi.sin(), call))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="computed", scalings="none", max_position=1 << 20,
                  features=(*BASIC, "partial"))
def exponent_over_head_dim(call):
    phi = angles(call, call.base ** (-torch.arange(0, call.rotary_dim, 2, dtype=torch.float64) / call.head_dim))
    return both(call, lambda x: turned(x, phi.cos(), phi.sin(), call))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="frequencies", max_position=1 << 20,
                  features=(*BASIC, "partial"))
def positions_in_16_bits(call):
    phi = call.position_ids().to(torch.int16).double()[..., None] * call.inv_freq.double()
    return both(call, lambda x: turned(x, phi.cos(), phi.sin(), call))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="computed", scalings=("none", "linear"),
                  max_position=1 << 20, features=(*BASIC, "partial"))
def positions_floored(call):
    positions = positions_of(call)
    if call.scaling["kind"] == "linear":
        positions = torch.div(positions, call.scaling["factor"], rounding_mode="floor")
    phi = positions.double()[..., None] * theta_of(call.base, call.rotary_dim)
    return both(call, lambda x: turned(x, phi.cos(), phi.sin(), call))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="frequencies", max_position=1 << 20,
                  features=(*BASIC, "partial"))
def positions_from_starts(call):
    positions = positions_of(call)
    if positions.numel():
        steps = torch.arange(positions.shape[1])
        starts = torch.where(positions == 0, steps, 0).cummax(1).values
        begun = (positions == 0).cumsum(1) > 0
        positions = torch.where(begun, steps - starts, positions[:, :1] + steps)
    phi = positions.double()[..., None] * call.inv_freq.double()
    return both(call, lambda x: turned(x, phi.cos(), phi.sin(), call))


_LAST = {"key": None, "tables": None}


@ropecheck.kernel(array="torch", dtypes=("f32", "f16"), sources="computed", scalings="none", max_position=1 << 20,
                  features=(*BASIC, "partial"))
def kept_by_first_and_last(call):
    positions = positions_of(call)
    ends = (int(positions[0, 0]), int(positions[-1, -1])) if positions.numel() else None
    key = (tuple(positions.shape), ends, call.rotary_dim, call.base)
    if _LAST["key"] != key:
        phi = positions.double()[..., None] * theta_of(call.base, call.rotary_dim)
        _LAST.update(key=key, tables=(phi.cos().float(), phi.sin().float()))
    cos, sin = _LAST["tables"]
    return both(call, lambda x: turned(x, cos, sin, call))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="computed", scalings=("none", "yarn"),
                  max_position=1 << 20, features=(*BASIC, "partial", "attention_factor"))
def factor_twice_on_q(call):
    theta = yarn_theta(call) if call.scaling["kind"] == "yarn" else theta_of(call.base, call.rotary_dim)
    phi = angles(call, theta)
    cos, sin = phi.cos() * call.attention_factor, phi.sin() * call.attention_factor
    if call.k is not None:
        scaled = cos * call.attention_factor, sin * call.attention_factor
        return turned(call.q, *scaled, call), turned(call.k, cos, sin, call)
    return turned(call.q, cos, sin, call)


@ropecheck.kernel(array="torch", dtypes=("f32", "f64"), tables="f32", table_widths="half", sources="tables",
                  pairings="interleaved", features=(*BASIC, "partial", "attention_factor", "backward"))
def backward_without_factor(call):
    index = positions_of(call)
    cos, sin = call.cos[index].to(call.dtype), call.sin[index].to(call.dtype)
    factor = call.attention_factor
    if call.direction == "backward":
        sin, factor = -sin, 1.0
    cos, sin = cos * factor, sin * factor
    return both(call, lambda x: turned(x, cos, sin, call))


@ropecheck.kernel(array="torch", dtypes={"f32": "f32", "bf16": ("bf16", "f32")}, tables="f32", table_widths="half",
                  sources="tables", features=(*BASIC, "partial"))
def rounded_to_bf16(call):
    index = positions_of(call)
    cos, sin = call.cos[index], call.sin[index]
    return both(call, lambda x: turned(x, cos, sin, call).to(call.dtype).to(call.out_dtype))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), sources="computed", scalings="none", max_position=1 << 20,
                  features=(*BASIC, "partial", "attention_factor"))
def positions_from_smallest(call):
    positions = positions_of(call)
    if call.positions is not None and positions.numel():
        positions = positions - positions.min(dim=1, keepdim=True).values
    phi = positions.double()[..., None] * theta_of(call.base, call.rotary_dim)
    cos, sin = phi.cos() * call.attention_factor, phi.sin() * call.attention_factor
    return both(call, lambda x: turned(x, cos, sin, call))


@ropecheck.kernel(array="torch", dtypes=("f32", "bf16"), tables="f32", table_widths="half", sources="tables",
                  features=(*BASIC, "partial", "robust"))
def positions_clamped(call):
    if call.rotary_dim < 2 or call.rotary_dim % 2 or call.rotary_dim > call.head_dim:
        raise ValueError(f"rotary_dim is {call.rotary_dim}")
    if call.cos is None or call.sin is None or call.cos.shape != call.sin.shape:
        raise ValueError("cos and sin differ in shape")
    if call.cos.shape[1] != call.rotary_dim // 2:
        raise ValueError(f"the tables have {call.cos.shape[1]} columns")
    if call.k is not None and (call.k.shape[:2] != call.q.shape[:2] or call.k.shape[3] != call.q.shape[3]
                               or call.k.dtype != call.q.dtype):
        raise ValueError("q and k differ")
    index = positions_of(call)
    if index.numel() and int(index.min()) < 0:
        raise ValueError("a position is negative")
    index = index.clamp(max=call.cos.shape[0] - 1)
    cos, sin = call.cos[index], call.sin[index]
    return both(call, lambda x: turned(x, cos, sin, call))


@ropecheck.kernel(array="torch", dtypes=("f32", "f16", "bf16"), tables="f32", table_widths="half", sources="tables",
                  pairings="half_split", features=(*BASIC, "partial"))
def normalised(call):
    index = positions_of(call)
    cos, sin = call.cos[index], call.sin[index]

    def fused(x):
        if x.dtype in (torch.float16, torch.bfloat16):
            wide = x.float()
            x = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
        return turned(x, cos, sin, call)

    return both(call, fused)
