"""golden/verify.py: it accepts the committed set, and tells each fault that is put into it. golden/README.md: it has what
the verifier needs.

    verifier_test.py ROOT       exit code 77 where numpy is missing: ctest then counts the test as skipped
"""

import contextlib
import copy
import io
import json
import os
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("numpy is missing; install python3-numpy")
    sys.exit(77)

ROOT = Path(sys.argv[1]).resolve()
GOLDEN = ROOT / "golden"
sys.path.insert(0, str(GOLDEN))

import bounds  # noqa: E402
import seeds  # noqa: E402
import verify  # noqa: E402
from definition import axes_of, lambda_of  # noqa: E402

CASES = {case["id"]: case for case in json.loads((GOLDEN / "manifest.json").read_text())["cases"]}
CONTROLS = [case for case in CASES.values() if case["status"] == "deviates"]


def faults(case: dict, changed: dict | None = None) -> list[str]:
    """changed: values of arrays by name, in place of the files'."""
    real = verify.load
    verify.load = lambda folder, array: (changed or {}).get(array["name"], real(folder, array))
    try:
        return verify.faults_of(case, GOLDEN)
    finally:
        verify.load = real


def the_committed_set_is_as_its_manifest_says() -> None:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        assert verify.main([str(GOLDEN)]) == 0, text.getvalue()
    assert f"{len(CONTROLS)} deviate; all as the manifest says" in text.getvalue(), text.getvalue()
    readme = (GOLDEN / "README.md").read_text()
    assert text.getvalue().splitlines()[-1] in readme, "README.md shows other numbers"


def every_control_is_found() -> None:
    assert len(CONTROLS) >= 18
    for case in CONTROLS:
        assert faults(case), f"{case['id']}: no fault found"


def axes_are_in_the_order_that_the_page_says() -> None:
    for order, sections, axes in (("spread", [16, 24, 24], "012120121"), ("spread", [2, 3, 3], "01212120"),
                                  ("spread", [1, 6, 1], "12111110"), ("others_first", [3, 1, 4], "12222000"),
                                  ("interleaved", [5, 1, 2], "01200200")):  # fmt: skip
        found = axes_of({"rotary_dim": 2 * sum(sections), "axes": {"sections": sections, "order": order}})
        assert "".join(map(str, found)).startswith(axes), (order, sections, found)


def verdict_on(*cases: dict) -> tuple[int, list[str]]:
    """What the verifier prints of a set of these cases."""
    text = io.StringIO()
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(text):
        (Path(name) / "arrays").symlink_to(GOLDEN / "arrays")
        (Path(name) / "manifest.json").write_text(json.dumps({"cases": cases}))
        return verify.main([name]), text.getvalue().splitlines()


def a_status_that_the_numbers_do_not_show_is_told() -> None:
    right, control = CASES["labml/d64"], CONTROLS[0]
    assert verdict_on(right, control)[0] == 0
    for case, other, status in ((right, control, "deviates"), (control, right, "conforms")):
        exit_code, lines = verdict_on(case | {"status": status}, other)
        assert exit_code == 1 and lines[0].startswith(f"WRONG {case['id']}: {status}; "), lines
        assert len(lines) == 2 and "1 are not as the manifest says" in lines[1], lines


def every_field_of_a_spec_matters() -> None:
    """A spec with one wrong value no longer yields the case: the verifier uses each of them."""
    longer = {"sequence_length": 2000}
    for name, path, value in (
        ("labml/d64", "base", 10001),
        ("labml/d64", "pairing", "interleaved"),
        ("huggingface/qwen2_vl/mrope-f32", "axes", {"sections": [12, 12, 8]}),
        ("huggingface/qwen2_vl/mrope-f32", "axes", {"sections": [12, 10, 10], "order": "interleaved"}),
        ("huggingface/qwen2_vl/vision-f32", "axes", {"sections": [16, 16]}),
        ("huggingface/llama/linear-f32", "scaling", {"kind": "linear", "factor": 4.001}),
        ("huggingface/llama/yarn-attention-factor", "attention_factor", 1.2501),
        ("lucidrains/xpos", "xpos", {"gamma": 0.41, "scale_base": 512, "center": 4}),
        ("lucidrains/xpos", "xpos", {"gamma": 0.4, "scale_base": 511, "center": 4}),
        ("lucidrains/xpos", "xpos", {"gamma": 0.4, "scale_base": 512, "center": 0}),
        ("lucidrains/theta-rescale-4", "scaling", {"kind": "ntk", "factor": 4.01}),
        ("lucidrains/pixel", "scaling", {"kind": "pixel", "max_frequency": 10.01}),
    ):
        case = copy.deepcopy(CASES[name])
        case["spec"][path] = value
        case["rounding"] = "f32" if path == "pairing" else case["rounding"]
        assert faults(case), (name, path)
    rules = {
        "yarn-f32": ("factor", "original_max_position_embeddings"),
        "yarn-betas": ("beta_fast", "beta_slow"),
        "yarn-mscale": ("mscale", "mscale_all_dim"),
        "longrope-short-f32": ("factor", "original_max_position_embeddings"),
        "llama3-f32": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
        "dynamic-long-f32": ("factor", "original_max_position_embeddings"),
        "proportional-f32": ("proportion",),
    }
    for name, keys in rules.items():
        for key in keys:
            case = copy.deepcopy(CASES[f"huggingface/llama/{name}"])
            case["spec"]["scaling"][key] *= 0.5
            assert faults(case), (name, key)
    no_truncate = copy.deepcopy(CASES["huggingface/llama/yarn-no-truncate"])
    no_truncate["spec"]["scaling"]["truncate"] = True
    assert faults(no_truncate)
    assert faults(CASES["huggingface/llama/longrope-short-f32"] | longer)
    assert faults(CASES["huggingface/llama/dynamic-short-f32"] | longer)


def each_array_is_checked() -> None:
    for name, array, amount in (
        ("labml/d64", "theta", 2.0**-20),
        ("labml/d64", "cos", 2.0**-23),
        ("huggingface/llama/yarn-f32", "sin", 2.0**-21),
        ("labml/d64", "q_out", 2.0**-20),
        ("huggingface/llama/d64-bf16", "k_out", 2.0**-4),
        ("labml/scores-full", "scores", 2.0**-8),
        ("published/report-attention", "weights", 2.0**-18),
        ("published/report-attention", "attended", 2.0**-14),
        ("published/worked-example", "q_out", 2.0**-13),
        ("published/theta-d128", "theta", 2.0**-18),
        ("published/report-cross-attention", "k_cos", 2.0**-23),
        ("lucidrains/xpos", "q_scale", 2.0**-20),
        ("lucidrains/xpos-bf16", "k_scale", 2.0**-5),
    ):
        case = CASES[name]
        values = verify.load(GOLDEN, next(a for a in case["arrays"] if a["name"] == array)).copy()
        values.reshape(-1)[-1] += amount
        found = faults(case, {array: values})
        assert any(line.startswith(array) for line in found), (name, array, found)


def a_damaged_file_is_named() -> None:
    for good in (CASES["labml/d64"], CONTROLS[0]):  # nor does a control deviate as said
        case = copy.deepcopy(good)
        case["arrays"][0]["sha256"] = "0" * 64
        exit_code, lines = verdict_on(case)
        assert exit_code == 1 and lines[0].startswith(f"WRONG {case['id']}: "), lines
        assert f"{case['arrays'][0]['file']}: sha256 is not the manifest's" in lines[0], lines
        for field, other in (("shape", [1, 1, 1, 64]), ("storage", "<f8")):
            case = copy.deepcopy(good)
            case["arrays"][0][field] = other
            exit_code, lines = verdict_on(case)
            assert exit_code == 1 and "dtype or shape is not the manifest's" in lines[0], lines


def a_manifest_that_cannot_be_used_is_told() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "manifest.json"

        def said() -> str:
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                assert verify.main([name]) == 2, text.getvalue()
            return text.getvalue()

        assert "not a regular file" in said()
        os.mkfifo(path)
        assert "not a regular file" in said()
        path.unlink()
        path.symlink_to("/dev/zero")
        assert "not a regular file" in said()
        path.unlink()
        path.write_text('{"cases": ' + "[" * 100_000 + "]" * 100_000 + "}")
        assert "nested too deep" in said()
        with path.open("wb") as file:
            file.truncate(1 << 40)
        assert "allowed are 67108864" in said()
        path.write_text("[]")
        assert "cannot be used" in said()


def another_attention_factor_is_told() -> None:
    """The field of the case, which porters use, has to be the spec's lambda."""
    for name, wrong in (("labml/d64", 1.001), ("huggingface/llama/yarn-f32", 1.0)):
        assert faults(CASES[name] | {"attention_factor": wrong})[0].startswith("attention_factor: "), name


def a_feature_that_does_not_turn_is_copied() -> None:
    case = next(c for c in CASES.values() if c["spec"]["rotary_dim"] < c["spec"]["head_dim"])
    values = verify.load(GOLDEN, next(a for a in case["arrays"] if a["name"] == "q_out")).copy()
    values[..., -1] = np.nextafter(values[..., -1], values.dtype.type(9))
    assert any(" from feature " in line for line in faults(case, {"q_out": values})), case["id"]


def the_readme_names_every_field_of_a_spec() -> None:
    readme = (GOLDEN / "README.md").read_text()
    schema = json.loads((ROOT / "reference" / "rope_spec.schema.json").read_text())

    def names(part: object) -> set[str]:
        if isinstance(part, list):
            return set().union(*map(names, part)) if part else set()
        if not isinstance(part, dict):
            return set()
        own = set(part.get("properties", {})) | set(part.get("enum", [])) | {part.get("const")}
        return own.union(*map(names, part.values()))

    words = {w for w in names(schema) if isinstance(w, str)} - {"$schema"}
    assert {"sections", "order", "restart", "yarn", "llama3", "center", "truncate"} <= words
    text = readme.split("## The reader")[0]
    aliases = words - {w for w in words if w in text}
    assert not aliases, f"golden/README.md does not explain {sorted(aliases)}"


def the_guide_says_who_computed_what() -> None:
    """Cases by package, and how many of the documents' were copied as printed."""
    counts: dict[str, int] = {}
    for case in CASES.values():
        counts[case["package"]] = counts.get(case["package"], 0) + 1
    documents = counts.pop("published")
    printed = sum(case["rounding"] == "printed" for case in CASES.values())
    assert printed == 2
    guide = (ROOT / "docs" / "golden-files.md").read_text()
    text = " ".join(guide.split())
    assert f"{sum(counts.values())} cases were computed by three packages. {documents} come from documents: two" in text
    assert f"the other {documents - printed} computed by code that a document prints" in text
    for package, count in counts.items():
        assert any(line.startswith(f"| {package} ") and f" | {count} | " in line for line in guide.splitlines()), package
    ours = (GOLDEN / "regenerate" / "sources" / "printed.py").read_text()
    readme = (GOLDEN / "README.md").read_text()
    for function in ("equation_3", "equation_4_tables", "inner_product"):
        assert f"def {function}(" in ours and f"`{function}`" in readme, function


def every_claim_of_the_seeds_is_checked() -> None:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        assert seeds.main([]) == 0, text.getvalue()
    page = (ROOT / "docs" / "seeds.md").read_text()
    for name, (_, expected) in seeds.CLAIMS.items():
        row = next((line for line in page.splitlines() if line.startswith(f"| `{name}` |")), "")
        assert row.split(" | ")[2] == ("holds" if expected else "false"), f"docs/seeds.md: {name}: {row}"
    assert page.count("\n| `") == len(seeds.CLAIMS)


def an_unexpected_claim_is_told() -> None:
    real = seeds.BLEU
    seeds.BLEU = ([0.4] * 5, real[1])
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            assert seeds.main(["bleu-averages"]) == 1
    finally:
        seeds.BLEU = real


def the_bound_of_tables_holds_and_one_unit_does_not() -> None:
    """Only entries with lambda above 1 exceed 1 u, and some exceed 2 u. The bound of README.md holds for all."""
    beyond, most = set(), 0.0
    for case in CASES.values():
        dtypes = {a["name"]: a["dtype"] for a in case["arrays"]}
        if case["status"] != "conforms" or dtypes.get("cos") != "f32":
            continue
        rows = bounds.rows_of(case, verify.arrays_of(case, GOLDEN), dtypes)
        off = max(float(np.abs(values - exact).max()) for name, values, exact, _ in rows if name in ("cos", "sin"))
        lam = lambda_of(case["spec"])
        assert off <= lam * bounds.U * (1 if lam == 1 else 3), (case["id"], off / bounds.U)
        if off > bounds.U:
            assert lam > 1, case["id"]
            beyond.add(case["id"])
        most = max(most, off / bounds.U)
    assert len(beyond) >= 8 and most > 2, (len(beyond), most)


for test in (
    the_committed_set_is_as_its_manifest_says,
    every_control_is_found,
    axes_are_in_the_order_that_the_page_says,
    a_status_that_the_numbers_do_not_show_is_told,
    every_field_of_a_spec_matters,
    each_array_is_checked,
    a_damaged_file_is_named,
    a_manifest_that_cannot_be_used_is_told,
    another_attention_factor_is_told,
    a_feature_that_does_not_turn_is_copied,
    the_readme_names_every_field_of_a_spec,
    the_guide_says_who_computed_what,
    every_claim_of_the_seeds_is_checked,
    an_unexpected_claim_is_told,
    the_bound_of_tables_holds_and_one_unit_does_not,
):
    test()
    print(test.__name__.replace("_", " "))
