"""What each field of a config.json does to the ropes of a model type: a field is changed, the type's own classes make
their frequencies again, and the change says what the field is.
"""

import copy
import math
import re
import sys
from pathlib import Path

import torch
from rotary_classes import Rope, modules_of, power_law, ropes_of, turns_as

BASE = 12345.0  # no class has it
RULES = {
    "default": {},
    "axial": {},
    "linear": {"factor": 8.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 1024},
    "longrope": {"factor": 4.0, "original_max_position_embeddings": 1024},
}
LENGTHS = ("max_position_embeddings", "original_max_position_embeddings")
# Fields that old files have and that some classes understand without naming them.
OLD_NAMES = ("rope_theta", "rotary_emb_base", "rope_local_base_freq", "global_rope_theta", "local_rope_theta",
             "swa_rope_theta", "partial_rotary_factor", "rotary_pct", "rotary_dim", "head_dim", "qk_rope_head_dim")
ROLES = ("theta", "part", "whole", "head_dim", "rotary_dim")
READ_BY_RULES = {"type", "rope_type", "rope_theta", "factor", "partial_rotary_factor", "attention_factor", "beta_fast",
                 "beta_slow", "mscale", "mscale_all_dim", "truncate", "short_factor", "long_factor", "low_freq_factor",
                 "high_freq_factor", "original_max_position_embeddings", "mrope_section", "mrope_interleaved"}
TELLS = re.compile("rope|rotary|theta|base_freq|head_dim|kv_channels")


def tells_of_rope(name: str) -> bool:
    """As tells_of_rope() in reference/model_fields.cpp."""
    words = {"rope", "mrope", "rotary", "rot", "theta", "thetas", "mscale", "yarn", "ntk", "freq", "freqs", "alibi"}
    return (name in ("alpha", "base", "position_scale") or name.startswith(("pos_emb", "position_embedding"))
            or not words.isdisjoint(name.split("_")))


def names_of(config) -> list[str]:
    """Fields to try: the class has them, or other names for them, or its source pops them from a file."""
    source = Path(sys.modules[type(config).__module__].__file__).read_text()
    popped = re.findall(r'kwargs\.(?:pop|get|setdefault)\(\s*"(\w+)"', source)
    known = {*config.to_dict(), *config.attribute_map, *popped, *OLD_NAMES}
    return sorted(n for n in known if not n.startswith("_") and n not in ("model_type", "dtype", "rope_parameters"))


def tried_values(name: str, now) -> list:
    if isinstance(now, bool) or isinstance(now, str | dict | list):
        return []
    if TELLS.search(name) and ("theta" in name or "base" in name or "freq" in name):
        return [BASE]
    if re.search("partial|pct|fraction", name):
        return [0.25, 0.5]
    if isinstance(now, float):
        return [now * 2]
    if now is None:
        return [96, 80] if TELLS.search(name) else []  # one of them may be what the class takes anyway
    return [now * 2, now // 2] if now > 1 else []


def evaluated(model_type: str, fields: dict) -> dict[str, Rope] | None:
    """None where transformers itself refuses the file."""
    try:
        return ropes_of(model_type, fields)
    except Exception:  # noqa: BLE001
        return None


def shortened(file: dict, part: float) -> dict:
    """With longrope's lists for this part of the head: some classes refuse lists of another length."""
    def cut(value):
        if isinstance(value, dict):
            return {k: cut(v) for k, v in value.items()}
        return value[: int(len(value) * part)] if isinstance(value, list) else value
    return cut(file)


class Fields:
    """What each field of a file does to one rope of a type, beside `beside`."""

    def __init__(self, model_type: str, names: list[str], now: dict, beside: dict) -> None:
        self.plain = evaluated(model_type, copy.deepcopy(beside))
        self.tried = {}  # field -> [(value, ropes)]
        if self.plain is None:
            return
        for name in names:
            for value in tried_values(name, now.get(name)):
                ropes = evaluated(model_type, {**copy.deepcopy(beside), name: value})
                if ropes is None and isinstance(value, float) and value < 1:
                    ropes = evaluated(model_type, {**shortened(beside, value), name: value})
                if ropes is not None:
                    self.tried.setdefault(name, []).append((value, ropes))

    def roles(self, layers: str, divided_by: float) -> dict[str, list[str]]:
        plain = self.plain[layers]
        base, pairs = plain.rule.get("rope_theta"), len(plain.theta)
        found: dict[str, list[str]] = {}
        for name, tries in self.tried.items():
            roles = {self.role(plain, ropes[layers], value, base, pairs, divided_by, name)
                     for value, ropes in tries if layers in ropes}
            if any(layers not in ropes for _, ropes in tries):
                roles.add("other")
            roles.discard("")
            if roles:
                role = "other" if len(roles) > 1 else roles.pop()
                found.setdefault(role, []).append(name)
        return found

    @staticmethod
    def role(plain: Rope, new: Rope, value, base, pairs, divided_by, name) -> str:
        if new.same(plain):
            return ""
        if len(new.theta) == pairs and plain.rule.get("rope_type", "default") not in ("default", "linear", "axial"):
            return "theta" if new.rule.get("rope_theta") == value != base else "other"
        if len(new.theta) == pairs:
            wanted = power_law(value, 2 * pairs, plain.rule) / divided_by if value > 1 else torch.zeros(0)
            return "theta" if turns_as(new.theta, wanted, max(value, 2)) else "other"
        part = part_of(plain)
        now = len(new.theta)
        if name.endswith(("heads", "n_head")) or "hidden" in name:
            return "size" if now in (2 * pairs, pairs // 2) else "other"
        if isinstance(value, float) and value <= 1:
            return "part"
        if now == int(value) // 2 and ("rope" in name or "rotary" in name or part == 1):
            return "whole" if "rope" in name else "rotary_dim" if "rotary" in name else "head_dim"
        if now == int(value * part) // 2:
            return "head_dim"
        return "size" if now in (2 * pairs, pairs // 2) else "other"


def part_of(rope: Rope) -> float:
    """Of the head, for its number of frequencies; rule proportional has one for every pair."""
    proportional = rope.rule.get("rope_type") == "proportional"
    return 1.0 if proportional else rope.rule.get("partial_rotary_factor") or 1.0


def division(config, sizes: list[str], dims: int) -> list | None:
    """[width, heads, times] if the head is times * width / heads."""
    names = {new: old for new, old in config.attribute_map.items()}
    for width in sizes:
        for heads in sizes:
            if "head" in heads and "head" not in width:
                times = dims * getattr(config, heads) / getattr(config, width)
                if times == int(times) and names.get(width) not in sizes and names.get(heads) not in sizes:
                    return [width, heads, int(times)]
    return None


def dictionary_keys(config) -> set[str]:
    """What the classes of the type look up in rope_parameters."""
    key = re.compile(r'rope_(?:parameters|scaling|params)\w*(?:\[[^\]]*\])?(?:\.get\(|\[)\s*"(\w+)"')
    return {found for module in [*modules_of(type(config)), sys.modules[type(config).__module__]]
            for found in key.findall(Path(module.__file__).read_text())}


class Dictionary:
    """Files of a type that have a dictionary of a rope's parameters, `wrap`ped as transformers 4 or 5 saves it."""

    def __init__(self, model_type: str, config, plain: dict[str, Rope], fixed: dict) -> None:
        self.model_type = model_type
        self.pairs = {layers: len(rope.theta) for layers, rope in plain.items()}
        # hunyuan_v1_dense does not divide the width for some rules.
        no_head = config.to_dict().get("head_dim", 0) is None
        self.fixed = fixed | ({"head_dim": 2 * max(self.pairs.values())} if no_head else {})
        own = {k for rope in plain.values() for k in rope.rule}
        self.extra = sorted((dictionary_keys(config) | own) - READ_BY_RULES - set(plain) - {"full_attention"})
        self.needed: dict[str, dict] = {}  # keys without which the type refuses a dictionary
        self.wraps = {"flat": lambda rule: {"rope_scaling": rule(max(self.pairs.values()))},
                      "flat_parameters": lambda rule: {"rope_parameters": rule(max(self.pairs.values()))}}
        if "" not in plain:
            self.wraps["nested"] = lambda rule: {"rope_parameters": {k: rule(n) for k, n in self.pairs.items()}}

    def file(self, wrap: str, kind: str, **more) -> dict:
        def rule(pairs: int) -> dict:
            turning = int(pairs * more.get("partial_rotary_factor", 1))
            lists = {"short_factor": [1.0] * turning, "long_factor": [2.0] * turning} if kind == "longrope" else {}
            return {"rope_type": kind, **RULES[kind], **lists, **more}
        return self.fixed | self.wraps[wrap](rule)

    def made(self, wrap: str, kind: str, **more) -> dict[str, Rope] | None:
        return evaluated(self.model_type, self.file(wrap, kind, **{**self.needed.get(wrap, {}), **more}))

    def old_names(self, wrap: str, kind: str) -> dict:
        """The file with "type" for "rope_type"."""
        def renamed(value):
            return {"type" if k == "rope_type" else k: renamed(v) for k, v in value.items()} \
                if isinstance(value, dict) else value
        return renamed(self.file(wrap, kind, **self.needed.get(wrap, {})))

    def fields(self, wrap: str, names: list[str], now: dict) -> Fields:
        """With the first rule that the type takes: some take only their own, phimoe only with its own keys."""
        own = {key: 1.0 for key in self.extra}
        for kind, more in (("linear", {}), ("linear", own), ("longrope", {}), ("axial", {}), ("axial", {"rope_theta": BASE}),
                           ("linear", {"rope_theta": BASE})):
            fields = Fields(self.model_type, names, now, self.file(wrap, kind, **more))
            if fields.plain is not None:
                self.needed[wrap] = more
                break
        return fields

    def parts(self, wrap: str, layers: str) -> list[str]:
        """The rules for which partial_rotary_factor counts."""
        found = []
        for name, kinds in (("default", ("default",)), ("scaled", ("linear", "longrope"))):
            for kind in kinds:
                whole, half = (self.made(wrap, kind, partial_rotary_factor=part) for part in (1.0, 0.5))
                if whole and half and len(whole[layers].theta) == 2 * len(half[layers].theta):
                    found.append(name)
                    break
        return found

    def yarn_factor(self, wrap: str, layers: str) -> float | None:
        """The attention factor, if the type does not take the rule's own."""
        ropes = self.made(wrap, "yarn")
        if ropes is None or ropes[layers].rule.get("rope_type") != "yarn":
            return None
        factor = ropes[layers].factor
        return None if abs(factor - (0.1 * math.log(RULES["yarn"]["factor"]) + 1)) < 1e-6 else factor

    def extras(self) -> dict[str, list[str]]:
        """Keys that only this type knows, with the rules whose numbers they change."""
        found: dict[str, list[str]] = {}
        for key in self.extra:
            found[key] = []
            for kind in RULES:
                others = {k: 1.5 for k in self.extra if k != key}
                one, two = (self.made("flat", kind, **others, **{key: value}) for value in (1.25, 2.5))
                if one and two and any(not one[layers].same(two[layers]) for layers in one):
                    found[key].append(kind)
        return found


def is_read(scaled: Rope) -> bool:
    """Whether the class follows the dictionary that it keeps."""
    base, kind = scaled.rule.get("rope_theta"), scaled.rule.get("rope_type")
    if base is None or kind not in ("linear", "longrope", "axial"):
        return False
    return turns_as(scaled.theta * slower(scaled), power_law(base, 2 * len(scaled.theta), scaled.rule), base)


def slower(rope: Rope) -> float:
    return RULES["linear"]["factor"] if rope.rule.get("rope_type") == "linear" else 1.0


def mode_of(wrap: str, layers: str, alone: Rope, fields: Fields,
            dictionary: Dictionary) -> tuple[dict | str | None, list[str]]:
    """How a rope is read beside a dictionary, and the fields that then change it in other ways."""
    if fields.plain is None:
        return "refused", []
    rope = fields.plain.get(layers)
    if rope is None or not is_read(rope):
        return None, []
    roles = fields.roles(layers, slower(rope))
    inside = dictionary.made(wrap, rope.rule["rope_type"], rope_theta=BASE)
    mode = {"theta": roles.get("theta"), "base": rope.rule["rope_theta"], "part": roles.get("part"),
            "part_default": rope.rule.get("partial_rotary_factor"), "parts": dictionary.parts(wrap, layers),
            "yarn_factor": dictionary.yarn_factor(wrap, layers)}
    if inside and inside[layers].rule.get("rope_theta") != BASE:
        mode["passes_over_theta"] = True
    old = evaluated(dictionary.model_type, dictionary.old_names(wrap, rope.rule["rope_type"]))
    if old and layers in old and not old[layers].same(rope):
        mode["passes_over_type"] = True
    if rope.rule["rope_theta"] == BASE:  # the dictionary has to say it
        del mode["base"]
    plain = dictionary.made(wrap, "default")
    if plain and layers in plain and len(plain[layers].theta) != len(rope.theta):
        measured = part_of(rope) * len(plain[layers].theta) / len(rope.theta)
        told = [plain[layers].rule.get("partial_rotary_factor"), part_of(alone)]
        mode["part_of_default"] = next((t for t in told if t and abs(t - measured) < 0.01), measured)
    return {k: v for k, v in mode.items() if v not in ([], None)}, roles.get("other", [])


def rope_of(layers: str, alone: Fields, beside: dict[str, Fields], config, dictionary: Dictionary) -> dict:
    plain = alone.plain[layers]
    rule = {k: v for k, v in plain.rule.items() if v is not None and k in READ_BY_RULES - {"type"}}
    entry: dict = {"rule": rule}
    roles = alone.roles(layers, 1.0)
    part = part_of(plain)
    entry |= {role: roles[role] for role in ("theta", "part", "whole", "head_dim", "rotary_dim") if role in roles}
    if sizes := roles.get("size"):
        rotary = 2 * len(plain.theta)
        divided = None
        for dims in [rotary] if part == 1 else range(rotary, 8 * rotary + 1):
            if int(dims * part) == rotary and (divided := division(config, sizes, dims)):
                break
        if divided:
            entry["divided"] = divided
        else:
            roles.setdefault("other", []).extend(sizes)
    if not {"whole", "head_dim", "rotary_dim", "divided"} & entry.keys():
        entry["features"] = 2 * len(plain.theta)
    others = set(roles.get("other", []))
    for wrap, fields in beside.items():
        mode, more = mode_of(wrap, layers, plain, fields, dictionary)
        others |= set(more)
        if wrap != "flat_parameters" or mode != entry.get("flat"):
            entry[wrap] = "passed over" if mode is None and wrap == "flat_parameters" else mode
    # How long a sequence may be is a parameter of some rules, and the reader knows of which.
    entry["other"] = sorted(others - set(LENGTHS))
    return {k: v for k, v in entry.items() if v not in ([], None)}
