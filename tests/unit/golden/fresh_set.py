"""The committed golden set with a difference put in, as if a source had made it, and what `golden regenerate` says to
it. For scripts whose first argument is the root: runs them again with the Python of build/golden-venv, or ends them with
exit code 77 where that is not there.
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
import importlib.util  # noqa: E402
import json  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
from collections.abc import Callable  # noqa: E402

import check  # noqa: E402
import store  # noqa: E402
import torch  # noqa: E402
import tried  # noqa: E402

_spec = importlib.util.spec_from_file_location("regenerate", ROOT / "golden" / "regenerate" / "__main__.py")
regenerate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(regenerate)

torch.set_num_threads(1)
FEW = ("labml/d64", "labml/d96", "labml/scores-full", "published/report-attention", "published/report-eq-4")
STORED = {k: r for k, r in store.read(ROOT / "golden").items() if k in FEW}


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


def host(fingerprint: str) -> dict:
    return json.loads((ROOT / "golden" / "manifest.json").read_text())["host"] | {"fingerprint": fingerprint}


HERE, THERE = host("0" * 16), host("1" * 16)


@contextlib.contextmanager
def folder(fingerprint: str = THERE["fingerprint"], version: str = "1.0.0"):  # noqa: ANN201
    """A set of STORED, made by another host."""
    with tempfile.TemporaryDirectory() as name:
        target = Path(name) / "golden"
        records = list(changed(lambda fresh: None).values())
        for record in records:
            record.entry.pop("host", None)
            for array in record.entry["arrays"]:
                (target / array["file"]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / "golden" / array["file"], target / array["file"])
        manifest = store.manifest_of(records, {"torch": "2"}, host(fingerprint), []) | {"version": version}
        (target / "manifest.json").write_text(store.format_manifest(manifest))
        yield target


def with_files(fresh: dict) -> dict:
    """As a source made them: with the bytes of each array."""
    made = {}
    for k, r in fresh.items():
        files, arrays = {}, []
        for array in r.entry["arrays"]:
            values = r.arrays[array["name"]]
            content = store._npy(store.Array(array["name"], array["role"], array["axes"], values))
            digest = store.hashlib.sha256(content).hexdigest()
            file = f"arrays/{k}.{array['name']}.{digest[:8]}.npy"
            files[file] = content
            arrays.append(array | {"file": file, "sha256": digest})
        made[k] = store.Record({key: v for key, v in r.entry.items() if key != "host"} | {"arrays": arrays}, r.arrays, files)
    return made


def written(fresh: dict, target: Path, only: str | None = None, errors: dict | None = None) -> tuple[int, str, dict]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = regenerate.replace(with_files(fresh), errors or {}, only, target, HERE)
    return status, out.getvalue() + err.getvalue(), json.loads((target / "manifest.json").read_text())


def hosts_of(manifest: dict) -> dict[str, str]:
    return {c["id"]: c.get("host", manifest["host"]["fingerprint"]) for c in manifest["cases"]}


@contextlib.contextmanager
def set_version(version: str):  # noqa: ANN201
    before, store.SET_VERSION = store.SET_VERSION, version
    try:
        yield
    finally:
        store.SET_VERSION = before
