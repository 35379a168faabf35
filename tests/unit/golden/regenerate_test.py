"""The answers of `golden regenerate --check` and `--with` to a set with a difference. Runs no package: the fresh set is
the committed one, with the difference put in.

    regenerate_test.py ROOT       exit code 77 where build/golden-venv is not there: ctest then counts it as skipped
"""

import contextlib
import io
import os
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
PYTHON = ROOT / "build" / "golden-venv" / "bin" / "python"
if Path(sys.prefix) != PYTHON.parents[1]:
    if not (PYTHON.parents[1] / "ropecheck-stamp").is_file():
        print("build/golden-venv is missing; `ropecheck golden regenerate --check` makes it")
        sys.exit(77)
    os.execv(PYTHON, [str(PYTHON), *sys.argv])
sys.path.insert(0, str(ROOT / "golden" / "regenerate"))

import copy  # noqa: E402
from collections.abc import Callable  # noqa: E402

import check  # noqa: E402
import store  # noqa: E402
import torch  # noqa: E402
import tried  # noqa: E402

STORED = {k: r for k, r in store.read(ROOT / "golden").items() if k.startswith(("labml/", "published/report"))}


def changed(change: Callable[[dict], object]) -> dict:
    fresh = {
        k: store.Record(copy.deepcopy(r.entry), {n: a.clone() for n, a in r.arrays.items()}, {})
        for k, r in STORED.items()
    }
    change(fresh)
    return fresh


def add(case: str, name: str, amount: float) -> Callable[[dict], None]:
    def change(fresh: dict) -> None:
        fresh[case].arrays[name].view(-1)[-1] += amount

    return change


def one_ulp(case: str, name: str) -> Callable[[dict], None]:
    def change(fresh: dict) -> None:
        flat = fresh[case].arrays[name].view(-1)
        flat[-1] = torch.nextafter(flat[-1], torch.tensor(2.0))

    return change


def reported(fresh: dict, failures: dict | None = None) -> tuple[int, str]:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = tried.report(fresh, STORED, failures or {}, ["labml-nn 9"])
    return status, text.getvalue()


def an_unchanged_set_agrees() -> None:
    result = check.compare(changed(lambda fresh: None), STORED)
    assert result.differences == [] and result.identical == sum(result.compared.values()) > 100
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


for test in (
    an_unchanged_set_agrees,
    each_layer_names_its_own_difference,
    the_description_of_a_case_is_compared,
    a_changed_output_is_reported_with_its_case_layer_array_and_size,
    a_change_that_another_cpu_may_make_is_no_difference,
    a_missing_case_and_a_source_that_failed_are_said,
):
    test()
    print(test.__name__.replace("_", " "))
