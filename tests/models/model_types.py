#!/usr/bin/env python3
"""Makes reference/model_types.json, the table that --model-config reads: what the installed transformers does with the
fields of a config.json, for each model type that has a rotary class.

    model_types.py [--check] [--only TYPE,..]    in build/golden-venv; prints what changed; --check writes nothing

Each fact is found by running: a field is changed, the type's own classes make their frequencies again, and the change
says what the field is. A change that nobody can explain is kept as "other": ropecheck refuses a file that makes it.
"""

import argparse
import copy
import json
import math
import os
import re
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build" / "golden-venv" / "bin" / "python"
TABLE = ROOT / "reference" / "model_types.json"

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
warnings.simplefilter("ignore")
try:
    import torch
    import transformers
except ImportError as missing:
    if not PYTHON.exists() or Path(sys.prefix) == PYTHON.parents[1]:
        print(f"{missing}; `ropecheck golden regenerate --check` makes the environment that has it: {PYTHON}")
        sys.exit(77)
    os.execv(PYTHON, [str(PYTHON), *sys.argv])

from apply_functions import Reached, how_it_applies, matrix, pairing_of  # noqa: E402
from rotary_classes import (  # noqa: E402
    PARTS, ROTARY, NoRope, Rope, config_of, model_of, modules_of, power_law, ropes_of, turns_as
)
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS  # noqa: E402
from transformers.models.auto import modeling_auto  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402

WITHOUT_CLASS = ("codegen", "gptj")  # with rope, but without a rotary class
BASE = 12345.0  # no class has it
RULES = {
    "default": {},
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
        if len(new.theta) == pairs and plain.rule.get("rope_type", "default") not in ("default", "linear"):
            return "theta" if new.rule.get("rope_theta") == value != base else "other"
        if len(new.theta) == pairs:
            wanted = power_law(value, 2 * pairs) / divided_by if value > 1 else torch.zeros(0)
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
        for kind, more in (("linear", {}), ("linear", own), ("longrope", {}), ("linear", {"rope_theta": BASE})):
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
    if base is None or kind not in ("linear", "longrope"):
        return False
    return turns_as(scaled.theta * slower(scaled), power_law(base, 2 * len(scaled.theta)), base)


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


def entry_of(model_type: str) -> dict:
    config = config_of(model_type, {})
    plain = ropes_of(model_type, {})
    # A few have an odd number of features by default, which tells too little.
    is_odd = any(odd_features(rope) for rope in plain.values())
    fixed = {"hidden_size": 4096, "num_attention_heads": 32} if is_odd else {}
    config, plain = config_of(model_type, fixed), ropes_of(model_type, fixed)
    for rope in plain.values():
        check_rule(rope)
    now = config.to_dict()
    for name, stored in config.attribute_map.items():
        now.setdefault(name, now.get(stored))
    names = names_of(config)
    dictionary = Dictionary(model_type, config, plain, fixed)
    alone = Fields(model_type, names, now, fixed)
    beside = {wrap: dictionary.fields(wrap, names, now) for wrap in dictionary.wraps}
    ropes = {layers: rope_of(layers, alone, beside, config, dictionary) for layers in plain}
    entry: dict = {"ropes": ropes, **applied_as(model_type, fixed)}
    for rope in ropes.values():
        if "divided" in rope and "of_head" in entry and not follows(model_type, rope, fixed, entry["of_head"]):
            del rope["head_dim"]  # the file's must be the divided one, which ropecheck compares
    if is_odd:
        now |= {k: v for k, v in config_of(model_type, {}).to_dict().items() if k in (*fixed, "head_dim")}
    used = names_read(ropes)
    used |= {n for r in ropes.values() for n in r.get("divided", [])[:2]}
    asked = {*used, *LENGTHS, *(n for r in ropes.values() for n in r.get("other", []))}
    entry["values"] = {n: now[n] for n in sorted(asked) if isinstance(now.get(n), int | float)}
    for layers, rope in plain.items():  # a field that the class takes out of a file and does not keep
        for name in ropes[layers].get("head_dim", []):
            entry["values"].setdefault(name, round(2 * len(rope.theta) / part_of(rope)))
    entry["no_effect"] = {n: now[n] for n in names
                          if tells_of_rope(n) and n not in asked and n in now and not n.startswith("no_rope")}
    entry["keys"] = dictionary.extras()
    entry["switches"] = switches(model_type, entry, fixed)
    entry |= rule_names(model_type, max(len(rope.theta) for rope in plain.values()))
    entry["position_embedding_type"] = embedding_words(model_type, config)
    entry["no_effect"].pop("position_embedding_type", None)
    return {k: v for k, v in entry.items() if v not in ({}, [], None)}


def follows(model_type: str, rope: dict, fixed: dict, of_head: int) -> bool:
    """Whether the layers' heads have the width that the rotary class reads: GPT-NeoX's do not."""
    fields = {name: of_head // 2 for name in rope.get("head_dim", [])}
    try:
        return not fields or applied_as(model_type, fixed | fields).get("of_head") != of_head
    except Exception:  # noqa: BLE001  glm4v_moe's sections fill only the default's half head
        return True


def rule_names(model_type: str, pairs: int) -> dict:
    """Names that the configuration's class understands as another rule, and rules that it refuses."""
    renamed, refused = {}, []
    lists = {"short_factor": [1.0] * pairs, "long_factor": [2.0] * pairs}
    for kind in [*ROPE_INIT_FUNCTIONS, "su", "mrope"]:
        rule = {"rope_type": kind, "factor": 4.0, "original_max_position_embeddings": 1024, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "rope_theta": BASE, **lists}
        try:
            kept = config_of(model_type, {"rope_parameters": rule}).rope_parameters["rope_type"]
        except Exception as error:  # noqa: BLE001  other errors are about the rule's numbers
            refused += [kind] if f"got {kind}" in str(error) else []
        else:
            renamed |= {kind: kept} if kept != kind else {}
    if len(renamed) >= len(ROPE_INIT_FUNCTIONS):
        renamed = {}  # such a class takes no dictionary for all layers
    return {"renamed_rules": renamed, "refused_rules": sorted(refused)}


def embedding_words(model_type: str, config) -> dict | None:
    """For a class with position_embedding_type: its default, and the words for which its model makes a rope."""
    if "position_embedding_type" not in config.to_dict():
        return None
    found = []
    for word in ("rope", "rotary", "absolute", "relative_key", "alibi"):
        fields = {"position_embedding_type": word, "vocab_size": 64, "pad_token_id": 1, "num_hidden_layers": 2}
        model = model_of(config_of(model_type, fields))
        if any(ROTARY.search(type(module).__name__) for module in model.modules()):
            found.append(word)
    return {"default": config.position_embedding_type, "rope": found}


def applied_as(model_type: str, fields: dict) -> dict:
    try:
        return how_it_applies(config_of(model_type, fields), ropes_of(model_type, fields))
    except NoRope:  # glm4v's sections fill half a head, its default is a whole one
        half = fields | {"rope_scaling": {"rope_type": "default", "partial_rotary_factor": 0.5}}
        try:
            return how_it_applies(config_of(model_type, half), ropes_of(model_type, half))
        except Exception:  # noqa: BLE001  the first reason counts
            pass
        raise


def names_read(ropes: dict) -> set[str]:
    """Of all roles, but for the fields of a division."""
    modes = [mode for rope in ropes.values() for mode in (rope, *rope.values()) if isinstance(mode, dict)]
    return {name for mode in modes for role in ROLES for name in mode.get(role, [])}


def switches(model_type: str, entry: dict, fixed: dict) -> dict[str, dict]:
    """What a truth value changes in how the rope is applied."""
    found = {}
    for name, value in entry["no_effect"].items():
        if isinstance(value, bool):
            fields = {**fixed, name: not value}
            try:
                applied = applied_as(model_type, fields)
            except Exception:  # noqa: BLE001  so the reader refuses the other value
                continue
            changes = {k: applied.get(k) for k in ("pairing", "no_rope") if applied.get(k) != entry.get(k)}
            if changes:
                found[name] = changes
    return found


def odd_features(rope: Rope) -> bool:
    base = rope.rule.get("rope_theta")
    return base is not None and turns_as(rope.theta, power_law(base, 2 * len(rope.theta) - 1), base)


def check_rule(rope: Rope) -> None:
    """Whether the class's own dictionary says how its frequencies come about."""
    base, kind = rope.rule.get("rope_theta"), rope.rule.get("rope_type", "default")
    if kind == "axial":
        raise NoRope("its rule is axial: two axes, height and width, whose frequencies start again")
    if base is None:
        raise NoRope("its base is not in the configuration")
    if kind == "default" and not turns_as(rope.theta, power_law(base, 2 * len(rope.theta)), base):
        raise NoRope("its frequencies are not powers of rope_theta")


def architectures() -> dict[str, list[str]]:
    """The classes that a file may name as its architecture, by model type."""
    found: dict[str, set[str]] = {}
    for name, mapping in vars(modeling_auto).items():
        if re.fullmatch(r"MODEL_(FOR_CAUSAL_LM_|FOR_IMAGE_TEXT_TO_TEXT_|FOR_MULTIMODAL_LM_)?MAPPING_NAMES", name):
            for model_type, names in mapping.items():
                found.setdefault(model_type, set()).update([names] if isinstance(names, str) else names)
    return {model_type: sorted(names) for model_type, names in found.items()}


def row_without_class(model_type: str) -> dict:
    """GPT-J and CodeGen keep sin and cos in their attention. The names of the fields are written here."""
    config = config_of(model_type, {})
    home = next(m for m in modules_of(type(config)) if hasattr(m, "create_sinusoidal_positions"))
    sin, cos = home.create_sinusoidal_positions(2, config.rotary_dim)[1].chunk(2)
    theta = torch.atan2(sin, cos)
    rope = Rope(theta, 1.0, {"rope_type": "default", "rope_theta": 1e4}, (theta, 1.0))
    check_rule(rope)
    head = torch.zeros(1, 1, 1, config.rotary_dim, device="meta")
    applied = Reached(home.apply_rotary_pos_emb, (head, sin[None, None], cos[None, None]), {})
    fields = ("rotary_dim", "n_embd", "n_head")
    names = [config.attribute_map.get(n, n) for n in ("hidden_size", "num_attention_heads")]
    assert names == list(fields[1:]), names
    row = {"rule": rope.rule, "rotary_dim": ["rotary_dim"], "divided": [*names, 1]}
    return {"ropes": {"": row}, **pairing_of(matrix(applied), rope), "values": {n: getattr(config, n) for n in fields}}


def takes_flat(model_type: str, part: str) -> bool:
    """Whether it reads the language model's fields beside the others, as old files have them."""
    try:
        inner = getattr(config_of(model_type, {"hidden_size": 1664, "rope_theta": BASE}), part)
        return inner.hidden_size == 1664 and inner.rope_parameters["rope_theta"] == BASE
    except Exception:  # noqa: BLE001
        return False


def row_of(model_type: str) -> dict:
    try:
        if model_type in WITHOUT_CLASS:
            return row_without_class(model_type)
        config = config_of(model_type, {})
        parts = {p: getattr(config, p).model_type for p in PARTS if hasattr(getattr(config, p, None), "model_type")}
        if not parts:
            return entry_of(model_type)
        return {"parts": parts, **({"is_flat": True} if takes_flat(model_type, next(iter(parts))) else {})}
    except NoRope as error:
        return {"refused": str(error)}
    except Exception as error:  # noqa: BLE001  a few have no defaults, or defaults that they refuse themselves
        return {"refused": f"its classes fail with their own defaults ({type(error).__name__})"}


def table_of(types: list[str]) -> dict:
    table, named = {}, architectures()
    for number, model_type in enumerate(types):
        print(f"\r{number + 1}/{len(types)} {model_type:40}", end="", file=sys.stderr, flush=True)
        table[model_type] = row_of(model_type)
        if "refused" not in table[model_type] and model_type in named:
            table[model_type]["architectures"] = named[model_type]
    print(file=sys.stderr)
    return table


def text_of(table: dict) -> str:
    """A line a type, so that a change can be read. The types without a rope to read share a line for each reason."""
    reasons: dict[str, list[str]] = {}
    for name, row in table.items():
        if "refused" in row:
            reasons.setdefault(row["refused"], []).append(name)
    rows = [f"{json.dumps(n)}: {json.dumps(row)}" for n, row in sorted(table.items()) if "refused" not in row]
    refused = [f"{json.dumps(reason)}: {json.dumps(sorted(names))}" for reason, names in sorted(reasons.items())]
    parts = (f'"transformers": {json.dumps(transformers.__version__)}',
             f'"rules": {json.dumps(sorted({"default", *ROPE_INIT_FUNCTIONS}))}',
             '"types": {\n' + ",\n".join(rows) + "\n}",
             '"refused": {\n' + ",\n".join(refused) + "\n}")
    return "{" + ",\n".join(parts) + "}\n"


def read_table(file: Path) -> tuple[str, dict]:
    if not file.exists():
        return "none", {}
    kept = json.loads(file.read_text())
    refused = {name: {"refused": reason} for reason, names in kept["refused"].items() for name in names}
    return kept["transformers"], kept["types"] | refused


def changes(old: dict, new: dict) -> list[str]:
    lines = [f"{name}: new" for name in sorted(new.keys() - old.keys())]
    lines += [f"{name}: gone" for name in sorted(old.keys() - new.keys())]
    for name in sorted(old.keys() & new.keys()):
        for key in sorted(old[name].keys() | new[name].keys()):
            before, now = old[name].get(key), new[name].get(key)
            if before != now:
                lines.append(f"{name}.{key}: {json.dumps(before)} -> {json.dumps(now)}")
    return lines


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--out", type=Path, default=TABLE)
    given = options.parse_args()
    torch.manual_seed(0)
    types = given.only.split(",") if given.only else sorted(CONFIG_MAPPING.keys())
    table = table_of(types)
    version, old = read_table(given.out)
    found = changes({n: e for n, e in old.items() if not given.only or n in types}, table)
    print("\n".join(found) or "nothing changed", f"({version} -> {transformers.__version__})", sep="\n")
    if not given.check:
        kept = {n: e for n, e in old.items() if given.only and n not in types}
        given.out.write_text(text_of({**kept, **table}))
    return 1 if found and given.check else 0


if __name__ == "__main__":
    sys.exit(main())
