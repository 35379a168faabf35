"""The ropes of a configuration, as the classes of the installed transformers compute them. Facts come from running
these classes; nothing is read out of their source but the names of fields to try.
"""

import dataclasses
import functools
import importlib
import inspect
import math
import re
from pathlib import Path

import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

PARTS = ("text_config", "llm_config", "language_config", "decoder_config", "thinker_config")


ROTARY = re.compile("Rot.*Embedding")
FAR = 4_000_000  # tokens; beyond every model's own length


class NoRope(Exception):
    """The classes of this type give no rope that can be compared; the text says why."""


@dataclasses.dataclass
class Rope:
    theta: torch.Tensor  # f32, as the class keeps it
    factor: float  # of cos and sin, the attention factor
    rule: dict  # rope_parameters, as the class understood the file
    far: tuple[torch.Tensor, float]  # both, if a call reaches FAR

    def same(self, other: "Rope") -> bool:
        return (torch.equal(self.theta, other.theta) and self.factor == other.factor
                and torch.equal(self.far[0], other.far[0]) and self.far[1] == other.far[1])


def config_of(model_type: str, fields: dict):
    """As transformers reads {"model_type": .., **fields} from a config.json."""
    return CONFIG_MAPPING[model_type].from_dict({"model_type": model_type, **fields})


def modules_of(config_class: type) -> list:
    """The modules with the classes of that configuration; a sub-configuration may share a folder with others."""
    package = config_class.__module__.rpartition(".")[0]
    folder = Path(importlib.import_module(package).__file__).parent
    names = sorted(file.stem for file in folder.glob("modeling_*.py"))
    return [importlib.import_module(f"{package}.{name}") for name in names]


def model_of(config) -> torch.nn.Module:
    """Without weights."""
    kinds = []
    for module in modules_of(type(config)):
        for made in vars(module).values():
            if inspect.isclass(made) and issubclass(made, torch.nn.Module) and made.__module__ == module.__name__:
                if getattr(made, "config_class", None) is type(config) or takes(made, type(config)):
                    kinds.append(made)
    whole = re.compile("(?<!PreTrained)(Model|Decoder|Encoder|Transformer|LM)$")
    kinds = [k for k in kinds if whole.search(k.__name__)]
    kinds.sort(key=lambda k: (not k.__name__.endswith("Model"), len(k.__name__)))
    wrong = None
    for kind in kinds:
        try:
            with torch.device("meta"):
                return kind(config)
        except Exception as error:  # noqa: BLE001
            wrong = error
    raise NoRope(f"no model class could be made: {wrong}")


def takes(made: type, config_class: type) -> bool:
    config = inspect.signature(made.__init__).parameters.get("config")
    return config is not None and config_class.__name__ in re.split(r"\W+", str(config.annotation))


@functools.cache
def rotary_classes(config_class: type) -> tuple[type, ...]:
    """Those whose constructor takes this configuration, by its annotation; else those that a model makes of it."""
    found = [made for module in modules_of(config_class) for name, made in vars(module).items()
             if inspect.isclass(made) and made.__module__ == module.__name__ and ROTARY.search(name)]
    annotated = tuple(made for made in found if takes(made, config_class))
    if annotated or not found:
        return annotated
    parts = model_of(config_class()).modules()
    return tuple({type(m) for m in parts if type(m) in found and type(getattr(m, "config", None)) is config_class})


def factor_of(rotary: torch.nn.Module, layers: str, tokens: int, kept: float) -> float:
    """cos at position 0 of a call with that many. What the class keeps need not be what its forward() uses."""
    ids = torch.tensor([[0, tokens - 1]])
    hidden = torch.zeros(1, 2, 1)
    try:
        made = rotary(hidden, ids, layers) if layers else rotary(hidden, ids)
        cos = made[0] if isinstance(made, tuple) else made
        return float(cos.real.flatten()[0]) if cos.is_complex() else float(cos.flatten()[0])
    except Exception:  # noqa: BLE001  positions of several axes, or another signature: the kept one is used
        return kept


def rope_kept(rotary: torch.nn.Module, layers: str, rule: dict) -> Rope:
    prefix = f"{layers}_" if layers else ""

    def now() -> torch.Tensor:
        return getattr(rotary, f"{prefix}inv_freq").detach().float().clone()

    kept = getattr(rotary, f"{prefix}attention_scaling", 1.0)
    theta, factor = now(), factor_of(rotary, layers, 2, kept)
    far_factor = factor_of(rotary, layers, FAR, kept)
    if not rule and turns_as(theta, power_law(1e4, 2 * len(theta)), 1e4):
        rule = {"rope_type": "default", "rope_theta": 1e4}  # esm has its base in the class
    return Rope(theta, factor, rule, (now(), far_factor))


def ropes_of_class(made: type, config) -> dict[str, Rope]:
    rotary = made(config=config)
    rules = config.rope_parameters if getattr(config, "rope_parameters", None) else {}
    buffers = dict(rotary.named_buffers())
    if "inv_freq" in buffers:
        if buffers["inv_freq"].dim() != 1:
            raise NoRope(f"{made.__name__} has frequencies of shape {tuple(buffers['inv_freq'].shape)}")
        rope = rope_kept(rotary, "", rules)
        return {"": of_both_axes(rotary, rope) if rules.get("rope_type") == "axial" else rope}
    kinds = [n.removesuffix("_inv_freq") for n in buffers if n.endswith("_inv_freq") and "original" not in n]
    if not kinds:
        raise NoRope(f"{made.__name__} keeps no frequencies")
    return {layers: rope_kept(rotary, layers, rules.get(layers) or {}) for layers in kinds}


def ropes_of(model_type: str, fields: dict) -> dict[str, Rope]:
    return ropes_of_config(config_of(model_type, fields))


def ropes_of_config(config) -> dict[str, Rope]:
    """By kind of layer; "" if all layers have one."""
    classes = rotary_classes(type(config))
    if not classes:
        raise NoRope("no rotary class takes its configuration")
    ropes = [ropes_of_class(made, config) for made in classes]
    if any(one.keys() != ropes[0].keys() or not all(one[k].same(ropes[0][k]) for k in one) for one in ropes[1:]):
        raise NoRope(f"several rotary classes differ: {', '.join(made.__name__ for made in classes)}")
    return ropes[0]


def power_law(base: float, features: int, rule: dict | None = None) -> torch.Tensor:
    """Of rule axial: a half of the features for each of two axes."""
    if rule and rule.get("rope_type") == "axial":
        return power_law(base, features // 2).repeat(2)
    return torch.tensor([base ** (-2 * p / features) for p in range((features + 1) // 2)], dtype=torch.float64)


def axial_ids(height: int, width: int) -> list[torch.Tensor]:
    """The shapes in which classes take them."""
    ids = torch.tensor([[height] * 4, [width] * 4])
    return [ids.T, ids.T[None], ids, ids[:, None, :]]


def of_both_axes(rotary: torch.nn.Module, rope: Rope) -> Rope:
    """A class keeps the frequencies of one axis. The first half of the pairs follows the height, the others the width."""
    for tall, wide in zip(axial_ids(1, 0), axial_ids(0, 1), strict=True):
        try:
            sines = [rotary(torch.zeros(1, 4, 8), ids)[1].reshape(-1, 4 * len(rope.theta))[-1] for ids in (tall, wide)]
        except Exception:  # noqa: BLE001  another shape
            continue
        one, none = torch.sin(rope.theta), torch.zeros_like(rope.theta)
        wanted = (torch.cat([one, none]).repeat(2), torch.cat([none, one]).repeat(2))
        if all(torch.allclose(s.float(), w, atol=1e-6) for s, w in zip(sines, wanted, strict=True)):
            both = rope.theta.repeat(2)
            return dataclasses.replace(rope, theta=both, far=(both, rope.far[1]))
    raise NoRope("its rule is axial, and its axes are not two halves with the same frequencies")


def bound(base: float) -> float:
    """Of the relative error of a theta of transformers; model_types_test.py derives it."""
    return (abs(math.log(base)) + 16) * 2.0**-24


def turns_as(theta: torch.Tensor, expected: torch.Tensor, base: float) -> bool:
    if theta.shape != expected.shape:
        return False
    return bool(((theta.double() - expected).abs() <= bound(base) * expected.abs()).all())
