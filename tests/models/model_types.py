#!/usr/bin/env python3
"""Makes reference/model_types.json, the table that --model-config reads: what the installed transformers does with the
fields of a config.json, for each model type that has a rotary class.

    model_types.py [--check] [--only TYPE,..]    in build/golden-venv; prints what changed; --check writes nothing

Each fact is found by running the type's own classes, of a field in field_roles.py. A change that nobody can explain is
kept as "other": ropecheck refuses a file that makes it.
"""

import argparse
import json
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
from field_roles import (  # noqa: E402
    BASE, LENGTHS, ROLES, Dictionary, Fields, names_of, part_of, rope_of, tells_of_rope
)
from rotary_classes import (  # noqa: E402
    PARTS, ROTARY, NoRope, Rope, config_of, model_of, modules_of, power_law, ropes_of, turns_as
)
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS  # noqa: E402
from transformers.models.auto import modeling_auto  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402

WITHOUT_CLASS = ("codegen", "gptj")  # with rope, but without a rotary class


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
    if "pairing" not in entry and any(rope.rule.get("rope_type") == "axial" for rope in plain.values()):
        raise NoRope(f"its rule is axial, and how it pairs features was not seen: {entry.get('unseen')}")
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
    entry["if_null"] = if_null(model_type, entry, config, fixed)
    divided = {n for r in ropes.values() for n in r.get("divided", [])[:2]}
    entry["attribute_map"] = {n: kept for n, kept in config.attribute_map.items() if kept in divided}
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


def if_null(model_type: str, entry: dict, config, fixed: dict) -> dict[str, dict]:
    """What a window of null changes in which layers have rope: EXAONE 4 then has it in all."""
    if "layer_type" not in entry.get("no_rope", {}) or "sliding_window" not in config.to_dict():
        return {}
    try:
        applied = applied_as(model_type, {**fixed, "sliding_window": None, "layer_types": config.layer_types})
    except Exception:  # noqa: BLE001  transformers refuses such a file
        return {}
    changes = {"no_rope": applied.get("no_rope")} if applied.get("no_rope") != entry["no_rope"] else {}
    return {"sliding_window": changes} if changes else {}


def odd_features(rope: Rope) -> bool:
    base = rope.rule.get("rope_theta")
    return base is not None and turns_as(rope.theta, power_law(base, 2 * len(rope.theta) - 1), base)


def check_rule(rope: Rope) -> None:
    """Whether the class's own dictionary says how its frequencies come about."""
    base, kind = rope.rule.get("rope_theta"), rope.rule.get("rope_type", "default")
    if base is None:
        raise NoRope("its base is not in the configuration")
    if kind in ("default", "axial") and not turns_as(rope.theta, power_law(base, 2 * len(rope.theta), rope.rule), base):
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
    return {"ropes": {"": row}, **pairing_of(matrix(applied), rope), "values": {n: getattr(config, n) for n in fields},
            "attribute_map": {n: kept for n, kept in config.attribute_map.items() if kept in names}}


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
