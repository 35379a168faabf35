"""The answers of `golden regenerate`, `--check` and `--with` to a set with a difference, and what is written. Runs no
package: the fresh set is the committed one, with the difference put in.

    regenerate_test.py ROOT       exit code 77 where build/golden-venv is not there: ctest then counts it as skipped
"""

import contextlib
import copy
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fresh_set import (
    HERE,
    PYTHON,
    ROOT,
    STORED,
    THERE,
    add,
    changed,
    folder,
    host,
    hosts_of,
    one_ulp,
    regenerate,
    reported,
    set_version,
    written,
)

import check  # isort: skip
import store  # isort: skip


def an_unchanged_set_agrees() -> None:
    result = check.compare(changed(lambda fresh: None), STORED)
    assert result.differences == [] and result.identical == sum(result.compared.values()) > 35
    status, text = reported(changed(lambda fresh: None))
    assert status == 0 and f"{len(STORED)} cases: {len(STORED)} the same bit for bit" in text, text


def each_layer_names_its_own_difference() -> None:
    for layer, case, name, amount in (
        ("inputs", "labml/d64", "q", 1.0),
        ("inputs", "labml/d64", "positions", 1),
        ("frequencies", "labml/d64", "theta", 1.0),
        ("tables", "labml/d64", "cos", 2.0**-20),
        ("outputs", "labml/d64", "q_out", 2.0**-10),
        ("scores", "labml/scores-full", "scores", 1.0),
        ("weights", "published/report-attention", "weights", 2.0**-10),
        ("attended", "published/report-attention", "attended", 2.0**-10),
    ):
        differences = check.compare(changed(add(case, name, amount)), STORED).differences
        assert any(line.startswith(f"{layer}: {case}") for line in differences), (layer, differences)


def the_description_of_a_case_is_compared() -> None:
    for key, value in (("instead", {"rule": "other_positions"}), ("version", "9"), ("score_scale", 2.0)):
        fresh = changed(lambda fresh: fresh["labml/d64"].entry.update({key: value}))  # noqa: B023 (called at once)
        assert check.compare(fresh, STORED).differences == [f"cases: labml/d64: {key} is {value!r}, committed " + repr(
            STORED["labml/d64"].entry.get(key)
        )]
    fresh = changed(lambda fresh: fresh["labml/d64"].entry.update(version="9"))
    assert reported(fresh)[0] == 0  # --with asks for another version


def a_changed_output_is_reported_with_its_case_layer_array_and_size() -> None:
    status, text = reported(changed(add("labml/d64", "q_out", 0.5)))
    row = next(line for line in text.splitlines() if line.startswith("labml/d64 "))
    assert status == 1 and row.split()[1:6] == ["outputs", "q_out", "1", "of", "2048"], text
    assert "0.5," in row and row.endswith("changed"), row


def a_change_that_another_cpu_may_make_is_no_difference() -> None:
    status, text = reported(changed(one_ulp("labml/scores-full", "scores")))
    assert status == 0 and "as another CPU may" in text, text
    status, text = reported(changed(one_ulp("published/report-eq-4", "cos")))
    assert status == 1 and "outputs: published/report-eq-4 q_out, fresh" in text, text  # q_out should have followed


def a_missing_case_and_a_source_that_failed_are_said() -> None:
    status, text = reported(changed(lambda fresh: fresh.pop("labml/d96")))
    assert status == 1 and "labml/d96 is no longer generated" in text, text
    only_report = changed(lambda fresh: [fresh.pop(k) for k in list(fresh) if k.startswith("labml/")])
    status, text = reported(only_report, {"labml": "ImportError: gone"})
    assert status == 1 and "labml: stopped after 0 cases: ImportError: gone" in text, text
    assert "no longer generated" not in text, text


def what_another_cpu_moves_stays_with_the_host_that_made_it() -> None:
    with folder() as target, set_version("1.0.0"):
        before = (target / "manifest.json").read_text()
        status, text, manifest = written(changed(one_ulp("labml/scores-full", "scores")), target)
        assert status == 0 and manifest["cases"] == json.loads(before)["cases"], text
        assert set(hosts_of(manifest).values()) == {THERE["fingerprint"]}


def a_changed_array_asks_for_a_major_version_and_is_named() -> None:
    fresh = changed(add("labml/d64", "q_out", 0.5))
    with folder() as target:
        before = (target / "manifest.json").read_text()
        with set_version("1.9.0"):
            status, text, _ = written(fresh, target)
        assert status == 1 and "labml/d64 q_out: 1 of 2048 values changed, by up to 0.5" in text, text
        assert "asks for 2.0.0 or later, not 1.9.0" in text, text
        assert (target / "manifest.json").read_text() == before and store.read(target)
        with set_version("2.0.0"):
            status, text, manifest = written(fresh, target)
        assert status == 0 and manifest["version"] == "2.0.0", text
        hosts = hosts_of(manifest)
        assert [k for k, v in hosts.items() if v == HERE["fingerprint"]] == ["labml/d64"], hosts
        assert manifest["host"] == THERE and manifest["hosts"] == [HERE] and store.schema_errors(manifest) == []
        assert len(list(target.rglob("d64.q_out.*.npy"))) == 1 and store.read(target)


def of_array(fresh: dict, case: str, name: str) -> dict:
    return next(array for array in fresh[case].entry["arrays"] if array["name"] == name)


def another_meaning_of_an_array_asks_for_a_major_version() -> None:
    digits = {"digits": 1, "form": "fixed"}
    for key, value in (("role", "table"), ("axes", "seq, heads"), ("seed", 1), ("printed", digits)):
        fresh = changed(lambda fresh: of_array(fresh, "labml/d64", "q").update({key: value}))  # noqa: B023
        with folder() as target, set_version("1.9.0"):
            status, text, _ = written(fresh, target)
            assert status == 1 and f"labml/d64 q: {key} is {value!r}, was " in text, text
            assert "asks for 2.0.0 or later" in text, text
    fresh = changed(one_ulp("labml/scores-full", "scores"))  # and the values stay as the other host made them
    of_array(fresh, "labml/scores-full", "q")["seed"] = 1
    with folder() as target, set_version("2.0.0"):
        status, text, manifest = written(fresh, target)
        entry = next(c for c in manifest["cases"] if c["id"] == "labml/scores-full")
        assert status == 0 and "seed is 1" in text and entry["arrays"][0]["seed"] == 1, (text, entry)
        assert [a["sha256"] for a in entry["arrays"]] == [a["sha256"] for a in STORED[entry["id"]].entry["arrays"]]
        assert hosts_of(manifest)["labml/scores-full"] == THERE["fingerprint"]


def a_case_with_a_new_array_is_of_the_host_that_made_the_array() -> None:
    def add_one(fresh: dict) -> None:
        fresh["labml/d96"].arrays["q_scale"] = fresh["labml/d96"].arrays["cos"].clone()
        of_cos = of_array(fresh, "labml/d96", "cos")
        fresh["labml/d96"].entry["arrays"].append(of_cos | {"name": "q_scale"})

    with folder() as target, set_version("1.1.0"):
        status, text, manifest = written(changed(add_one), target)
        assert status == 0 and "labml/d96: array q_scale is new" in text, text
        hosts = hosts_of(manifest)
        assert [k for k, v in hosts.items() if v == HERE["fingerprint"]] == ["labml/d96"], hosts


def a_new_case_asks_for_a_minor_version_and_words_for_a_patch() -> None:
    whole = changed(lambda fresh: None)
    with folder() as target, set_version("1.0.0"):
        assert "asks for 2.0.0" in written(changed(lambda fresh: fresh.pop("labml/d96")), target)[1]
        words = changed(lambda fresh: fresh["labml/d96"].entry.update(description="Another word"))
        assert "asks for 1.0.1" in written(words, target)[1]
        whole["labml/d95"] = copy.deepcopy(whole["labml/d96"])
        whole["labml/d95"].entry["id"] = "labml/d95"
        assert "labml/d95 is new" in (text := written(whole, target)[1]) and "asks for 1.1.0" in text, text
    with folder() as target, set_version("1.1.0"):
        status, text, manifest = written(whole, target)
        assert status == 0 and hosts_of(manifest)["labml/d95"] == HERE["fingerprint"], text


def only_one_source_leaves_the_others_alone() -> None:
    labml = {k: r for k, r in changed(add("labml/d64", "q_out", 0.5)).items() if k.startswith("labml/")}
    with folder() as target, set_version("2.0.0"):
        status, text, manifest = written(labml, target, "labml")
        assert status == 0 and len(manifest["cases"]) == len(STORED), text
        assert {v for k, v in hosts_of(manifest).items() if k.startswith("published/")} == {THERE["fingerprint"]}


def exact_names_each_array_and_knows_who_made_it() -> None:
    def exact(target: Path, fresh: dict) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = regenerate.check(fresh, {}, None, target, True, HERE)
        return status, out.getvalue()

    with folder() as target:
        status, text = exact(target, STORED)
        assert status == 2 and "were made on host 1111111111111111, this is 0000000000000000" in text, text
    fresh = changed(one_ulp("labml/scores-full", "scores"))
    with folder(HERE["fingerprint"]) as target:
        status, text = exact(target, fresh)
        assert status == 1 and "exact: labml/scores-full scores: 1 of 144 values differ, by up to" in text, text


def files_that_the_set_does_not_know_stay() -> None:
    with folder() as target, set_version("2.0.0"):
        for file in ("arrays/mine/users_own.npy", "arrays/labml/notes.npy"):
            (target / file).parent.mkdir(exist_ok=True)
            (target / file).write_text("mine")
        status, text, _ = written(changed(lambda fresh: fresh.pop("labml/d96")), target)
        assert status == 0 and not list(target.rglob("d96.*.npy")), text
        assert (target / "arrays/mine/users_own.npy").read_text() == "mine"
        assert (target / "arrays/labml/notes.npy").read_text() == "mine"


def what_a_killed_run_left_is_cleaned_up() -> None:
    """Killed after the arrays were moved, before and after the manifest was: the next run drops what nobody names."""
    fresh = changed(add("labml/d64", "q_out", 0.5))
    for killed_at in ("manifest.json", "_drop_unnamed"):
        with folder() as target:
            real_replace, real_drop = os.replace, store._drop_unnamed

            def killed_replace(source: Path, destination: Path) -> None:
                if killed_at == Path(destination).name:  # noqa: B023 (called at once)
                    raise KeyboardInterrupt
                real_replace(source, destination)  # noqa: B023

            def killed_drop(*arguments: object) -> None:
                raise KeyboardInterrupt

            with tempfile.TemporaryDirectory() as kept, set_version("2.0.0"):
                real_clean = tempfile.TemporaryDirectory.cleanup

                def keep(self: tempfile.TemporaryDirectory) -> None:  # SIGKILL cleans up nothing
                    shutil.copytree(self.name, Path(kept) / Path(self.name).name)  # noqa: B023
                    real_clean(self)  # noqa: B023

                store.os.replace, tempfile.TemporaryDirectory.cleanup = killed_replace, keep
                if killed_at == "_drop_unnamed":
                    store._drop_unnamed = killed_drop
                try:
                    written(fresh, target)
                except KeyboardInterrupt:
                    pass
                finally:
                    store.os.replace, store._drop_unnamed = real_replace, real_drop
                    tempfile.TemporaryDirectory.cleanup = real_clean
                for left in Path(kept).glob(".regenerate-*"):
                    shutil.copytree(left, target / left.name)
                assert len(list(target.rglob("d64.q_out.*.npy"))) == 2 and list(target.glob(".regenerate-*"))
                status, text, manifest = written(fresh, target)
                assert status == 0 and not list(target.glob(".regenerate-*")), text
                named = {a["file"] for c in manifest["cases"] for a in c["arrays"]}
                assert {str(p.relative_to(target)) for p in target.rglob("*.npy")} == named
    with folder() as target:  # killed while it copied the manifest
        (target / ".regenerate-x").mkdir()
        (target / ".regenerate-x" / store.NEXT).write_text('{"cases": [')
        with store.staging(target):
            pass
        assert not list(target.glob(".regenerate-*"))
    assert ".regenerate-*/" in (ROOT / ".gitignore").read_text().splitlines()


def a_case_that_cannot_be_computed_is_one_line() -> None:
    status, text = reported(
        changed(lambda fresh: fresh.pop("labml/d96")), {"labml/d96": "KeyError: 'proportional'"}
    )
    assert status == 1 and "labml/d96: cannot be computed: KeyError: 'proportional'\n" in text, text
    assert "no longer generated" not in text and f"{len(STORED)} cases: {len(STORED) - 1} the same" in text, text
    assert ", 1 cannot be computed" in text, text


def another_version_comes_with_what_it_needs() -> None:
    """Its own requirements, except torch, which stays as it is."""
    import bootstrap  # noqa: PLC0415

    needed = bootstrap.requirements_of(PYTHON, ["transformers==5.23.0"])
    names = {line.split("=")[0].split(">")[0].split("<")[0].split("!")[0].replace("_", "-") for line in needed}
    assert {"huggingface-hub", "tokenizers", "safetensors"} <= names and "torch" not in names, needed
    assert "torch" not in {line.split(">")[0] for line in bootstrap.requirements_of(PYTHON, ["rotary-embedding-torch==0"])}

    calls: list[tuple[str, ...]] = []
    environment = bootstrap.pinned_environment
    real = environment.pip_install, environment.look_into
    environment.pip_install, environment.look_into = lambda _, *words: calls.append(words), lambda *_: None
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            bootstrap.install_tried(PYTHON, ["transformers==5.23.0"])
    finally:
        environment.pip_install, environment.look_into = real
    assert calls[0] == ("--no-deps", "--ignore-installed", "transformers==5.23.0"), calls
    assert calls[1] == (*needed, "--constraint", str(ROOT / "golden" / "regenerate" / "kept.txt")), calls


def help_installs_nothing() -> None:
    with tempfile.TemporaryDirectory() as name:  # a clone without build/
        for part in ("golden/regenerate", "tools"):
            (Path(name) / part).parent.mkdir(exist_ok=True)
            (Path(name) / part).symlink_to(ROOT / part)
        copy_of_ours = Path(name) / "golden" / "regenerate" / "bootstrap.py"
        done = subprocess.run([sys.executable, str(copy_of_ours), "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("usage: ropecheck golden regenerate"), done
        assert done.stderr == "" and sorted(os.listdir(name)) == ["golden", "tools"], (done, os.listdir(name))


def an_error_is_a_golden_result() -> None:
    answer = {"id": "labml/x", "function": "f", "package": "p", "raises": {"type": "RuntimeError", "message": "3 and 4"}}
    values = answer | {"id": "labml/y", "returns": {"shape": [2], "values": [1.0, 2.0]}}
    values.pop("raises")
    whole = changed(lambda fresh: None)
    with folder() as target, set_version("1.1.0"):
        status, text, _ = written(whole, target, errors={"labml/x": answer, "labml/y": values})
        assert status == 0 and "errors.json: labml/x is new" in text, text
        stored = (target / "errors.json").read_text()
        moved = values | {"returns": {"shape": [2], "values": [1.0, 2.0 + 2**-22]}}
        status, text, _ = written(whole, target, errors={"labml/x": answer, "labml/y": moved})
        assert status == 0 and (target / "errors.json").read_text() == stored, text
        other = answer | {"raises": {"type": "RuntimeError", "message": "5 and 6"}}
        status, text, _ = written(whole, target, errors={"labml/x": other, "labml/y": values})
        assert status == 1 and "errors.json: labml/x: raises is" in text and "asks for 2.0.0" in text, text
        assert "labml/y is withdrawn" in written(whole, target, errors={"labml/x": answer})[1]
        for key, least in (("description", "1.1.1"), ("version", "1.2.0")):
            again = {"labml/x": answer | {key: "9"}, "labml/y": moved}
            status, text, _ = written(whole, target, errors=again)
            assert status == 1 and f"errors.json: labml/x: {key} is '9', was None" in text, text
            assert f"asks for {least}" in text and (target / "errors.json").read_text() == stored, text
            with set_version(least):
                assert written(whole, target, errors=again)[0] == 0
            kept = json.loads((target / "errors.json").read_text())
            assert kept[0][key] == "9" and kept[1]["returns"] == values["returns"], kept
            (target / "errors.json").write_text(stored)
            manifest = json.loads((target / "manifest.json").read_text()) | {"version": "1.1.0"}
            (target / "manifest.json").write_text(store.format_manifest(manifest))


def the_committed_errors_are_what_the_real_code_answers() -> None:
    import answers  # noqa: PLC0415

    committed = answers.read(ROOT / "golden")
    assert answers.differences(answers.make(None), committed, None) == []
    assert committed["labml/test-rotary-d3"]["raises"]["message"].startswith("The size of tensor a (3) must match")
    assert committed["labml/test-rotary-d1"]["returns"]["shape"] == [3, 1, 1, 5]


def a_package_that_cannot_be_imported_is_an_answer() -> None:
    from sources import errors  # noqa: PLC0415

    for source, package in (("labml", "labml_nn.transformers.rope"), ("lucidrains", "rotary_embedding_torch")):
        real = sys.modules.get(package)
        sys.modules[package] = None
        try:
            answered = list(errors.answers(source))
        finally:
            sys.modules.pop(package)
            if real is not None:
                sys.modules[package] = real
        assert [a["raises"]["type"] for a in answered] == ["ModuleNotFoundError"] * 3, answered


def a_case_that_raises_does_not_end_its_source() -> None:
    import sources  # noqa: PLC0415
    from case import Case, deferred  # noqa: PLC0415

    @deferred
    def made(name: str, works: bool) -> Case:
        case = Case(name, "p", "f", "d", {"rotary_dim": 2, "pairing": "half_split"}, "a", "f32", "f32", None)
        if not works:
            raise KeyError("proportional")
        print("a package prints")
        regenerate.logging.getLogger("transformers").error("a package logs")
        return case

    real = sources.cases
    sources.cases = lambda name: iter((made("labml/a", False), made("labml/b", True)) if name == "labml" else ())
    failures: dict[str, str] = {}
    err = io.StringIO()
    try:
        with contextlib.redirect_stderr(err):
            records = regenerate.generate(None, failures)
    finally:
        sources.cases = real
    assert list(records) == ["labml/b"] and failures == {"labml/a": "KeyError: 'proportional'"}, (records, failures)
    assert "a package" not in err.getvalue(), err.getvalue()


for test in (
    an_unchanged_set_agrees,
    each_layer_names_its_own_difference,
    the_description_of_a_case_is_compared,
    a_changed_output_is_reported_with_its_case_layer_array_and_size,
    a_change_that_another_cpu_may_make_is_no_difference,
    a_missing_case_and_a_source_that_failed_are_said,
    what_another_cpu_moves_stays_with_the_host_that_made_it,
    a_changed_array_asks_for_a_major_version_and_is_named,
    another_meaning_of_an_array_asks_for_a_major_version,
    a_case_with_a_new_array_is_of_the_host_that_made_the_array,
    a_new_case_asks_for_a_minor_version_and_words_for_a_patch,
    only_one_source_leaves_the_others_alone,
    exact_names_each_array_and_knows_who_made_it,
    files_that_the_set_does_not_know_stay,
    what_a_killed_run_left_is_cleaned_up,
    a_case_that_cannot_be_computed_is_one_line,
    a_case_that_raises_does_not_end_its_source,
    another_version_comes_with_what_it_needs,
    help_installs_nothing,
    an_error_is_a_golden_result,
    the_committed_errors_are_what_the_real_code_answers,
    a_package_that_cannot_be_imported_is_an_answer,
):
    test()
    print(test.__name__.replace("_", " "))
