"""How a model type applies its rope: which two features of a head it pairs, which axis each pair follows, and which
layers do without. Found by running the attention of each layer on the meta device up to its call of the function that
rotates. This function is then called with unit vectors.
"""

import contextlib
import inspect
import re
import sys

import torch
from rotary_classes import NoRope, Rope, axial_ids, model_of, modules_of, rotary_classes

APPLIES = re.compile(r"^(apply_\w*rot\w*|apply_\w*rope\w*|rotate_\w+|apply_freqs\w*)$")
TOKENS = 4


class Reached(Exception):
    """Thrown by the function that rotates; what it was given."""

    given: torch.Tensor

    def __init__(self, function, args, kwargs) -> None:
        super().__init__()
        self.function, self.args_given, self.kwargs_given = function, args, kwargs


class Embeddings(tuple):
    """cos and sin, also for a layer that picks them by the name of its rope."""

    __slots__ = ()

    def __getitem__(self, key):
        return self if isinstance(key, str) else super().__getitem__(key)


def embeddings(made: type, config, ids: torch.Tensor, layers: str):
    rotary = made(config=config)
    hidden = torch.zeros(1, TOKENS, 8)
    asks = list(inspect.signature(rotary.forward).parameters)
    made = rotary(hidden, ids, layers) if layers and len(asks) > 1 else rotary(hidden, ids)
    return Embeddings(made) if isinstance(made, tuple) else made


def attention_layers(model: torch.nn.Module) -> list[tuple[int, torch.nn.Module]]:
    found = []
    for name, module in model.named_modules():
        number = re.search(r"(?:^|\.)(?:layers?|h|blocks?)\.(\d+)\.", name + ".")
        if not number or not re.search("Attention", type(module).__name__) or not hasattr(module, "forward"):
            continue
        if "position_embeddings" in inspect.signature(module.forward).parameters and "ross" not in name:
            found.append((int(number[1]), module))
    return found


def reach(module: torch.nn.Module, config, given) -> Reached | None:
    """None if the layer finishes without a rotation. Any other error passes through."""
    home = sys.modules[type(module).__module__]
    originals = {n: f for n, f in vars(home).items()
                 if APPLIES.match(n) and inspect.isfunction(f) and n != "rotate_half"}

    def spy(function):
        def reached(*args, **kwargs):
            raise Reached(function, args, kwargs)
        return reached

    width = getattr(module, "hidden_size", None) or getattr(config, "hidden_size", None)
    for linear in module.modules():
        if isinstance(linear, torch.nn.Linear):
            width = linear.in_features
            break
    asked = {}
    for name, parameter in inspect.signature(module.forward).parameters.items():
        if name in ("hidden_states", "x", "hidden_state"):
            asked[name] = torch.zeros(1, TOKENS, width, device="meta")
        elif name == "position_embeddings":
            asked[name] = given
        elif name == "position_ids":
            asked[name] = torch.ones(1, TOKENS, dtype=torch.long, device="meta")
        elif parameter.default is parameter.empty and parameter.kind not in (parameter.VAR_KEYWORD,
                                                                             parameter.VAR_POSITIONAL):
            asked[name] = None
    vars(home).update({n: spy(f) for n, f in originals.items()})
    try:
        module(**asked)
        return None
    except Reached as reached:
        reached.given = given
        return reached
    finally:
        vars(home).update(originals)


def direct(config, given) -> Reached:
    """The one function of the type's modules that rotates, called as nearly all are. For layers that do not run."""
    functions = {f for module in modules_of(type(config)) for n, f in vars(module).items()
                 if APPLIES.match(n) and inspect.isfunction(f) and n != "rotate_half"
                 and list(inspect.signature(f).parameters)[:4] == ["q", "k", "cos", "sin"]}
    of_vision = {f for f in functions if "vision" in f.__name__}
    is_axial = (getattr(config, "rope_parameters", None) or {}).get("rope_type") == "axial"
    functions = of_vision if is_axial and of_vision else functions - of_vision
    if len(functions) != 1 or not isinstance(given, tuple):
        raise NoRope(f"{len(functions)} functions rotate, and no layer runs")
    shape = (TOKENS, 2) if given[0].dim() == 2 else (1, 2, TOKENS)  # of vision towers: all images are one sequence
    head = torch.zeros(*shape, given[0].shape[-1], device="meta")
    return Reached(functions.pop(), (head, head, *given), {})


def turned(reached: Reached, unit: int | None) -> torch.Tensor:
    """What the function makes of q, whose feature `unit` is 1; the first token of the first head."""
    first = True

    def real(value):
        nonlocal first
        if not isinstance(value, torch.Tensor) or value.device.type != "meta":
            return value
        if value.is_complex():  # cos + i sin, which the layer has moved to its device
            return reached.given
        made = torch.zeros(value.shape)
        if first and unit is not None:
            made[..., unit] = 1
        first = False
        return made

    args = [real(a) for a in reached.args_given]
    kwargs = {n: real(a) for n, a in reached.kwargs_given.items()}
    y = reached.function(*args, **kwargs)
    y = y[0] if isinstance(y, tuple | list) else y
    return y.reshape(-1, y.shape[-1])[0]


def width_of(reached: Reached) -> int:
    for value in [*reached.args_given, *reached.kwargs_given.values()]:
        if isinstance(value, torch.Tensor) and value.device.type == "meta":
            return value.shape[-1]
    raise NoRope("the function that rotates got no head")


def matrix(reached: Reached) -> torch.Tensor:
    """Row i: what becomes of feature i."""
    return torch.stack([turned(reached, i) for i in range(width_of(reached))]).double()


def pairs_of(m: torch.Tensor, rope: Rope) -> tuple[list[tuple[int, int]], list[float]]:
    """Features that end in the same two places, in the order of theta; and sin of each pair's angle."""
    by_place: dict[tuple, list[int]] = {}
    for i, row in enumerate(m):
        places = tuple(torch.nonzero(row.abs() > 1e-9).flatten().tolist())
        if len(places) == 2:
            by_place.setdefault(places, []).append(i)
    found = []
    for places, features in by_place.items():
        if len(features) != 2:
            raise NoRope(f"features {features} are rotated together")
        (a, b), (i, j) = places, features
        same = abs(m[i, a] - m[j, b]) < 1e-6
        found.append((i, j, float((m[i, b] if same else m[i, a]).abs())))
    found.sort()
    return [(i, j) for i, j, _ in found], [s for _, _, s in found]


def pairing_of(m: torch.Tensor, rope: Rope) -> dict:
    pairs, sines = pairs_of(m, rope)
    turning = int((rope.theta != 0).sum())
    if not pairs or len(pairs) > len(rope.theta):
        raise NoRope(f"{len(pairs)} pairs turn, {len(rope.theta)} frequencies are there")
    start = pairs[0][0]
    count = len(rope.theta)
    split = [(start + p, start + p + count) for p in range(count)]
    neighbours = [(start + 2 * p, start + 2 * p + 1) for p in range(count)]
    if pairs == neighbours[: len(pairs)] and len(pairs) >= turning and count > 1:
        name = "interleaved"
    elif pairs == split[: len(pairs)] and len(pairs) >= turning:
        name = "half_split"
    else:
        raise NoRope(f"it pairs features {pairs[:3]}")
    wanted = torch.sin(rope.theta.double())[: len(sines)].abs() * abs(rope.factor)
    if not torch.allclose(torch.tensor(sines, dtype=torch.float64), wanted, rtol=1e-3, atol=1e-6):
        raise NoRope("its pairs do not follow the order of its frequencies")
    found = {"pairing": name}
    if start:
        found["first_feature"] = start
    if m.shape[0] != 2 * count:
        found["of_head"] = m.shape[0]
    return found


def axes_of(made, config, module, rope: Rope, layers: str) -> dict:
    axis = [-1] * len(rope.theta)
    for a in range(3):
        ids = torch.zeros(3, 1, TOKENS, dtype=torch.long)
        ids[a] = 1
        reached = reach(module, config, embeddings(made, config, ids, layers))
        pairs, _ = pairs_of(matrix(reached), rope)
        everywhere = reach(module, config, embeddings(made, config, torch.ones_like(ids), layers))
        all_pairs, _ = pairs_of(matrix(everywhere), rope)
        for pair in pairs:
            axis[all_pairs.index(pair)] = a
    sections = [axis.count(a) for a in range(3)]
    if -1 in axis:
        raise NoRope(f"pair {axis.index(-1)} follows no axis")
    if axis.count(0) == len(axis):
        return {}
    chunked = [a for a in range(3) for _ in range(sections[a])]
    mixed = [p % 3 if p < 3 * sections[p % 3] else 0 for p in range(len(axis))]
    if axis == chunked:
        return {"sections": sections}
    if axis == mixed:
        return {"sections": sections, "order": "interleaved"}
    return {"axes": "".join(map(str, axis))}


def without_rope(config, used: dict[int, bool]) -> dict:
    bare = sorted(i for i, is_used in used.items() if not is_used)
    if not bare:
        return {}
    if len(bare) == len(used):
        return {"no_rope": {"all": True}}
    listed = getattr(config, "no_rope_layers", None)
    if listed and bare == [i for i in sorted(used) if not listed[i]]:
        every = next((n for n in range(2, len(listed) + 1)
                      if bare == [i for i in sorted(used) if (i + 1) % n == 0]), None)
        return {"no_rope": {"field": "no_rope_layers", **({"every": every} if every else {})}}
    types = getattr(config, "layer_types", None)
    for kind in sorted(set(types or [])):
        if bare == [i for i in sorted(used) if types[i] == kind]:
            return {"no_rope": {"layer_type": kind}}
    return {"no_rope": {"layers": bare}}


def how_it_applies(config, ropes: dict[str, Rope]) -> dict:
    made = rotary_classes(type(config))[0]
    found: dict = {}
    used: dict[int, bool] = {}
    kept = []
    try:
        layers_there = attention_layers(model_of(config))
    except NoRope as error:
        layers_there, found["unseen"] = [], str(error)[:80]
    for layers, rope in ropes.items():
        given, several = given_to(made, config, layers)
        for number, module in layers_there:
            try:
                reached = reach(module, config, given)
            except Exception as error:  # noqa: BLE001
                found["unseen"] = f"{type(error).__name__}: {error}"[:80]
                continue
            used[number] = used.get(number, False) or reached is not None
            if reached is not None:
                kept.append((module, reached, layers, rope))
        with contextlib.suppress(NoRope):
            kept.append((None, direct(config, given), layers, rope))
    if used and not any(used.values()):
        return found | without_rope(config, used)
    wrong = NoRope("no layer runs")
    for module, reached, layers, rope in kept:
        try:
            result = found | pairing_of(matrix(reached), rope) | (without_rope(config, used) if used else {})
            if several and module is not None:
                result |= axes_of(made, config, module, rope, layers)
            return result
        except (NoRope, RuntimeError) as error:  # a layer of another kind may have another width
            wrong = error if isinstance(error, NoRope) else wrong
    return found | {"unseen": str(wrong)}


def given_to(made: type, config, layers: str):
    """What the rotary class gives to the layers for position 1, and whether it takes three axes."""
    if (getattr(config, "rope_parameters", None) or {}).get("rope_type") == "axial":
        for ids in axial_ids(1, 1):
            with contextlib.suppress(Exception):
                return embeddings(made, config, ids, layers), False
    ids = torch.ones(3, 1, TOKENS, dtype=torch.long)
    try:
        given = embeddings(made, config, ids[0], layers)
    except Exception:  # noqa: BLE001  it asks for three axes
        with contextlib.suppress(Exception):
            return embeddings(made, config, ids, layers), True
        raise NoRope(f"{made.__name__} does not take the positions of tokens") from None
    return given, "section" in inspect.getsource(made)
