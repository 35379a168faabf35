#!/usr/bin/env python3
"""Does `--model-config` read a file as the classes of transformers do, for every type of reference/model_types.json?

    model_types_test.py BUILD [TYPE,..] [-v]

It runs in build/golden-venv, and ends with exit code 77 where that is not there: ctest counts it as skipped.

For each type many files are made: its defaults, each field that its row names with other values, each rule flat and for
each kind of layers, and files with several of these at once. The type's own class makes its frequencies of each file,
for two tokens and for FAR. ropecheck has to have the same or to refuse the file. It may not refuse the defaults.

Frequencies: torch computes base^-e in f32. Its exponent is off by 2^-24 of itself, which costs ln(base) * 2^-24. A
power, a division and the few operations of a rule cost a few 2^-24 each: e = (ln(base) + 16) * 2^-24 in all.
Two rules mix theta and theta/f by a ramp r from 0 to 1, so an error of r counts, too.
yarn rounds 1 - r to f32. If r is 1, the result is theta/f. An error of 2^-24 theta is f times as large there.
llama3 takes r from theta: r = (t - low)/(high - low) for t turns, so r is off by e t/(high - low). The result is off by
(1 - 1/f) of that, relative to r + (1 - r)/f. This is largest at an end of the ramp: low (f - 1)/(high - low) e, or
high (1 - 1/f)/(high - low) e.
The attention factor is cos(0) times a double that is rounded to f32: 2^-23 with the product's rounding.
"""

import copy
import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path("build/release").resolve()
sys.path.insert(0, str(Path(__file__).resolve().parent))
import model_types  # noqa: E402  exits with 77 where transformers is missing
import field_roles  # noqa: E402
import torch  # noqa: E402
from rotary_classes import (  # noqa: E402
    FAR, PARTS, bound, config_of, ropes_of, ropes_of_config, rotary_classes
)

RULES = {
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 1024},
    "llama3": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 512},
    "longrope": {"original_max_position_embeddings": 1024},
    "default": {},
    "axial": {},  # only for types that have it
}


# Types whose defaults no model can have, or whose pairing is not known.
ODD_DEFAULTS = {
    "diffusion_gemma_text": "no layer of its model runs, so its pairing is not known",
    "glm4v_text": "its sections fill half a head, its default is a whole one",
    "glm_image_text": "as glm4v_text",
    "zamba2": "use_mem_rope is false: no layer has rope",
}


def rule(kind: str, pairs: int) -> dict:
    lists = {"short_factor": [1.0 + p / 64 for p in range(pairs)], "long_factor": [1.5 + p for p in range(pairs)]}
    return {"rope_type": kind, **RULES[kind], **(lists if kind == "longrope" else {})}


def files_of(model_type: str, row: dict, defaults: dict, pairs: dict[str, int], draw: random.Random) -> list[dict]:
    """Configurations without their model_type."""
    single = []
    for name in sorted(model_types.names_read(row["ropes"])):
        single += [{name: value} for value in field_roles.tried_values(name, row.get("values", {}).get(name))]
    for rope in row["ropes"].values():
        width, heads, _ = rope.get("divided", [None, None, 1])
        if width:
            single.append({width: 2 * row["values"].get(width, 0), heads: row["values"].get(heads, 0)})
    if other := row.get("attribute_map"):
        single.append({name: 2 * row["values"][kept] for name, kept in other.items() if "head" not in name})
    single += [{"partial_rotary_factor": 0.5}, {"max_position_embeddings": 8192},
               {"original_max_position_embeddings": 256}]
    most = max(pairs.values())
    rules = []
    own = {r["rule"].get("rope_type") for r in row["ropes"].values()} & {"axial"}
    for kind in sorted(RULES.keys() - {"axial"} | own):
        flat = rule(kind, most)
        rules += [{"rope_scaling": flat}, {"rope_parameters": flat}, {"rope_scaling": flat | {"rope_theta": 50000.0}},
                  {"rope_scaling": flat | {"partial_rotary_factor": 0.5}}]
        if "" not in pairs:
            rules.append({"rope_parameters": {k: rule(kind, n) | {"rope_theta": 70000.0} for k, n in pairs.items()}})
            rules.append({"rope_parameters": {k: rule(kind, n) for k, n in pairs.items()}})
    rules.append({"rope_scaling": rule("linear", most), "rope_parameters": rule("dynamic", most)})
    rules += [{"rope_parameters": defaults.get("rope_parameters")}] if defaults.get("rope_parameters") else []
    mixed = []
    for _ in range(12):
        file = {}
        for part in [*draw.sample(single, min(2, len(single))), draw.choice(rules)]:
            file |= part
        mixed.append(file)
    # Without it, these classes make no rope.
    words = row.get("position_embedding_type", {}).get("rope", [])
    embedding = {"position_embedding_type": words[0]} if words else {}
    return [embedding | file for file in [{}, *single, *rules, *mixed]]


def of_class(model_type: str, file: dict) -> dict | None:
    try:
        return ropes_of(model_type, copy.deepcopy(file))
    except Exception:  # noqa: BLE001  transformers refuses it, too
        return None


def allowed(rope, base: float) -> float:
    """Of the relative error of a frequency; derived above."""
    rule, e = rope.rule, bound(base)
    if rule.get("rope_type") == "yarn":
        factor = rule.get("factor") or 1
        return e + factor * 2.0**-24
    if rule.get("rope_type") == "llama3" and rule["high_freq_factor"] > rule["low_freq_factor"]:
        low, high, factor = rule["low_freq_factor"], rule["high_freq_factor"], rule["factor"]
        return e * (1 + max(low * (factor - 1), high * (1 - 1 / factor)) / (high - low))
    return e


def differences(ropes: dict, near: dict, far: dict) -> list[str]:
    found = []
    if ropes.keys() != near["plans"].keys():
        return [f"ropes {sorted(ropes)}, the plan has {sorted(near['plans'])}"]
    for layers, rope in ropes.items():
        for plan, theta, factor, words in ((near["plans"][layers], rope.theta, rope.factor, "two tokens"),
                                           (far["plans"][layers], *rope.far, "many tokens")):
            if len(theta) != len(plan["theta"]):
                found.append(f"{layers} {len(theta)} pairs, the plan has {len(plan['theta'])}")
                continue
            limit = allowed(rope, plan["base"])
            worst = max(abs(float(t) - p) - limit * abs(p) for t, p in zip(theta, plan["theta"], strict=True))
            if worst > 0:
                found.append(f"{layers} theta differs for {words}: {theta[:3].tolist()}.., {plan['theta'][:3]}")
            if abs(factor - plan["lambda"]) > 2.0**-23 * abs(factor):
                found.append(f"{layers} lambda differs for {words}: {factor}, {plan['lambda']}")
    return found


def released() -> list[tuple[str, dict, dict]]:
    """The files beside this one that transformers reads: name, configuration, ropes of its language model."""
    found = []
    for file in sorted((Path(__file__).parent / "configs").glob("*.json")):
        config = json.loads(file.read_text())
        if file.stem == "granite_swa":  # its model makes a rotary class for each base
            continue
        try:
            made = config_of(config["model_type"], {k: v for k, v in config.items() if k != "model_type"})
            part = next((getattr(made, p) for p in PARTS if getattr(made, p, None) is not None), made)
            found.append((file.stem, config, ropes_of_config(part)))
        except Exception:  # noqa: BLE001  a type or a file that transformers does not read
            continue
    return found


def asked(files: list[tuple[str, dict]]) -> list[dict]:
    lines = "".join(json.dumps({"config": {"model_type": t, **f}, "sequence_length": n}) + "\n"
                    for t, f in files for n in (2, FAR))
    done = subprocess.run([str(BUILD / "print_plans")], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    only = [t for argument in sys.argv[2:] if argument != "-v" for t in argument.split(",")]
    version, rows = model_types.read_table(model_types.TABLE)
    rows = {t: r for t, r in rows.items() if "ropes" in r and (not only or t in only)}
    if version != model_types.transformers.__version__:
        print(f"the table is of transformers {version}, here is {model_types.transformers.__version__}: model_types.py")
        return 1
    seed = os.environ.get("SEED", "20260101")
    files, expected = [], []
    for model_type, row in sorted(rows.items()):
        if model_type in model_types.WITHOUT_CLASS:
            continue
        defaults = model_types.config_of(model_type, {}).to_dict()
        ropes = ropes_of(model_type, {})
        draw = random.Random(f"{seed} {model_type}")  # the same files if only some types are compared
        for file in files_of(model_type, row, defaults, {k: len(r.theta) for k, r in ropes.items()}, draw):
            made = of_class(model_type, file)
            if made is not None:
                files.append((model_type, file))
                expected.append(made)
    if not only:
        for name, file, ropes in released():
            files.append((file["model_type"], file | {"_name_or_path": name}))
            expected.append(ropes)
    answers = asked(files)
    wrong, refused, compared, reasons = 0, 0, 0, {}
    for i, ((model_type, file), ropes) in enumerate(zip(files, expected, strict=True)):
        near, far = answers[2 * i], answers[2 * i + 1]
        found = []
        if "refused" in near:
            refused += 1
            reasons[near["refused"]] = reasons.get(near["refused"], 0) + 1
            found = [near["refused"]] if not file and model_type not in ODD_DEFAULTS and even(ropes) else []
        else:
            compared += 1
            found = differences(ropes, near, far)
            heads = {plan["head_dim"] for plan in near["plans"].values()}
            of_head = rows.get(model_type, {}).get("of_head")
            if not file and of_head and "whole" not in json.dumps(rows[model_type]) and heads != {of_head}:
                found.append(f"the layers get heads of {of_head} features, the plan has {heads}")
        wrong += bool(found)
        if found and wrong <= 60:
            print(model_type, json.dumps(file)[:300], *found[:3], sep="\n    ")
    assert compared > 10 * len(rows), "few files were compared"
    found = ernie_has_the_order_of_the_page()
    wrong += len(found)
    print("".join(f"{line}\n" for line in found), end="")
    assert_that_differences_are_seen(expected, answers)
    if "-v" in sys.argv:
        print(*sorted(f"{n} {r}" for r, n in reasons.items()), sep="\n")
    print(f"{len(rows)} types: {compared} files agree but for {wrong}, {refused} are refused")
    return 1 if wrong else 0


def ernie_has_the_order_of_the_page() -> list[str]:
    """docs/model-configurations.md says which spec ERNIE 4.5 VL is, whose row the table refuses."""
    config = config_of("ernie4_5_vl_moe_text", {"head_dim": 128})
    rotary = rotary_classes(type(config))[0](config=config)
    spec = {"head_dim": 128, "pairing": "interleaved", "base": config.rope_parameters["rope_theta"],
            "axes": {"sections": [20, 22, 22], "order": "others_first"}}
    line = json.dumps({"spec": spec, "sequence_length": 1}) + "\n"
    done = subprocess.run([str(BUILD / "print_plans")], input=line, capture_output=True, text=True, check=True)
    pairs = json.loads(done.stdout)["pairs"]
    found = []
    for a in range(3):
        ids = torch.zeros(3, 1, 1, dtype=torch.long)
        ids[a] = 1
        sines = rotary(torch.zeros(1, 1, 8), ids)[1].flatten()
        wanted = torch.zeros(128)
        for theta, first, second, axis in pairs:
            wanted[[first, second]] = math.sin(float(theta)) if axis == a else 0.0
        # Up to 1 radian, sin's relative error is at most the angle's, and its own rounding.
        if not torch.allclose(sines, wanted, rtol=bound(spec["base"]) + 2.0**-23, atol=0):
            found.append(f"axis {a} of ernie4_5_vl_moe_text turns other pairs, or by other angles")
    return found


def even(ropes: dict) -> bool:
    """A few defaults have an odd number of features, which no spec has."""
    return not any(model_types.odd_features(rope) for rope in ropes.values())


def assert_that_differences_are_seen(expected: list[dict], answers: list[dict]) -> None:
    i = next(i for i, answer in enumerate(answers) if i % 2 == 0 and "plans" in answer)
    for field, change in (("theta", lambda v: [t * (1 + 1e-5) for t in v]), ("lambda", lambda v: v * 1.001)):
        changed = copy.deepcopy(answers[i])
        for plan in changed["plans"].values():
            plan[field] = change(plan[field])
        assert differences(expected[i // 2], changed, answers[i + 1]), f"a wrong {field} was accepted"


if __name__ == "__main__":
    sys.exit(main())
