"""Golden files on disk: arrays under names that carry their content's hash, and a manifest that names them.

A changed array has a new name. So new files never overwrite old ones. Only the rename of manifest.json switches from the
old set to the new: an interruption at any moment leaves a complete set.
"""

import fcntl
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import numpy as np
import torch

from case import TORCH_DTYPES, Array, Case

SCHEMA = Path(__file__).resolve().parents[1] / "manifest.schema.json"
SCHEMA_VERSION = 1
SET_VERSION = "1.1.1"  # of the set of files; golden/README.md says which change raises which part


@dataclass
class Record:
    """A case as in the manifest, with its arrays. Comparisons use this for cases that were read and for new ones."""

    entry: dict
    arrays: dict[str, torch.Tensor]
    files: dict[str, bytes]  # path in the manifest: content; empty if the record was read

    @property
    def id(self) -> str:
        return self.entry["id"]


def _npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array.numpy(), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _offset(case: Case) -> int | None:
    """The offset, if positions are offset + 0 .. seq-1 on every axis of every sequence."""
    positions = case.array("positions")
    if positions is None:
        return None
    first = int(positions.values.flatten()[0])
    if first < 0 or positions.values.dtype.is_floating_point:
        return None
    plain = first + torch.arange(positions.values.shape[-1])
    return first if bool((positions.values == plain).all()) else None


def record(case: Case, version: str) -> Record:
    files: dict[str, bytes] = {}
    arrays = []
    for array in case.arrays:
        content = _npy(array)
        digest = hashlib.sha256(content).hexdigest()
        path = f"arrays/{case.id}.{array.name}.{digest[:8]}.npy"
        files[path] = content
        stored = array.numpy()
        arrays.append(
            {
                "name": array.name,
                "role": array.role,
                "axes": array.axes,
                "dtype": array.dtype,
                "storage": stored.dtype.str,
            }
            | {"shape": list(stored.shape), "file": path, "sha256": digest}
            | ({"seed": array.seed} if array.seed is not None else {})
            | ({"printed": array.printed} if array.printed else {})
        )
    output = next((a for a in case.arrays if a.role == "output"), None)
    entry = {
        "id": case.id,
        "package": case.package,
        "version": version,
        "function": case.function,
        "description": case.description,
        "after": case.after,
        "status": case.status,
        "reason": case.reason,
        "instead": case.instead,
        "requirements": ["GLD"],
        "spec": case.spec,
        "sequence_length": case.sequence_length,
        "position_offset": _offset(case),
        "position_divisor": case.position_divisor,
        "attention_factor": case.attention_factor,
        "tables_include_attention_factor": case.tables_include_attention_factor,
        "theta_is_given": case.theta_is_given or None,
        "score_scale": case.score_scale if case.score_scale != 1 else None,
        "masked_score": case.masked_score,
        "beyond_contract": case.beyond_contract or None,
        "layout": case.spec["pairing"],
        "axes": case.axes,
        "dtype": case.dtype,
        "output_dtype": output.dtype if output else None,
        "rounding": case.rounding,
        "c": case.c,
        "arrays": arrays,
    }
    entry = {key: value for key, value in entry.items() if value is not None}
    return Record(entry, {a.name: a.values for a in case.arrays}, files)


def read(folder: Path) -> dict[str, Record]:
    """The committed set, every hash checked."""
    manifest = json.loads((folder / "manifest.json").read_text())
    records = {}
    for entry in manifest["cases"]:
        arrays = {}
        for array in entry["arrays"]:
            content = (folder / array["file"]).read_bytes()
            if hashlib.sha256(content).hexdigest() != array["sha256"]:
                raise SystemExit(f"{folder / array['file']}: sha256 is not the manifest's; restore the file from git")
            values = torch.from_numpy(np.load(io.BytesIO(content), allow_pickle=False))
            arrays[array["name"]] = values.view(TORCH_DTYPES[array["dtype"]])
        records[entry["id"]] = Record(entry, arrays, {})
    return records


def hosts_of(manifest: dict) -> dict[str, dict]:
    """By fingerprint; the first made every case that names no host."""
    return {host["fingerprint"]: host for host in [manifest["host"], *manifest.get("hosts", [])]}


def manifest_of(records: list[Record], packages: dict[str, str], host: dict, others: list[dict]) -> dict:
    """host: of every case that names no other. others: those that cases may name; who names none is left out."""
    named = {r.entry.get("host") for r in records}
    hosts = [other for other in others if other["fingerprint"] in named]
    return {
        "schema": SCHEMA_VERSION,
        "version": SET_VERSION,
        "packages": [{"name": name, "version": version} for name, version in sorted(packages.items())],
        "host": host,
        **({"hosts": hosts} if hosts else {}),
        "cases": [r.entry for r in records],
    }


def format_manifest(manifest: dict) -> str:
    """One line for each field of a case and one for each array, so that a diff shows what moved."""

    def block(pairs: Iterator[tuple[str, object]], indent: str) -> str:
        return ",\n".join(f"{indent}{json.dumps(key)}: {text}" for key, text in pairs)

    def case_text(entry: dict) -> str:
        arrays = ",\n".join("      " + json.dumps(a, ensure_ascii=False) for a in entry["arrays"])
        fields = {k: json.dumps(v, ensure_ascii=False) for k, v in entry.items()} | {"arrays": f"[\n{arrays}\n    ]"}
        return "  {\n" + block(iter(fields.items()), "    ") + "\n  }"

    head = {k: json.dumps(v, ensure_ascii=False) for k, v in manifest.items()}
    head["cases"] = "[\n" + ",\n".join(case_text(entry) for entry in manifest["cases"]) + "\n]"
    return "{\n" + block(iter(head.items()), "") + "\n}\n"


def schema_errors(manifest: dict) -> list[str]:
    """The places where the manifest breaks its schema, one per line."""
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    found = jsonschema.Draft202012Validator(schema).iter_errors(manifest)
    return [f"manifest: {error.json_path}: {error.message}" for error in found]


@contextmanager
def staging(target: Path) -> Iterator[Path]:
    """A temporary folder beside the arrays; only one regeneration of a target at a time."""
    target.mkdir(parents=True, exist_ok=True)
    handle = os.open(target, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for left in target.glob(".regenerate-*"):  # of a run that was killed
            _drop_unnamed(target, _files_left_by(left / NEXT) | _files_left_by(left / BEFORE))
            shutil.rmtree(left)
        with tempfile.TemporaryDirectory(prefix=".regenerate-", dir=target) as folder:
            yield Path(folder)
    finally:
        os.close(handle)


def write(folder: Path, records: list[Record], manifest: dict) -> None:
    for r in records:
        for path, content in r.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    (folder / "manifest.json").write_text(format_manifest(manifest))


# Copies of the manifest that is about to be committed, and of the one that it replaces.
NEXT, BEFORE = "next.json", "before.json"


def _files_of(manifest: Path) -> set[str]:
    if not manifest.exists():
        return set()
    return {a["file"] for entry in json.loads(manifest.read_text())["cases"] for a in entry["arrays"]}


def _files_left_by(copy: Path) -> set[str]:
    """If the run was killed while it made this copy, it had not moved a file yet."""
    try:
        return _files_of(copy)
    except ValueError:
        return set()


def _drop_unnamed(target: Path, known: set[str]) -> None:
    """Deletes the files of `known` that the manifest no longer names. Other files are not ours: they stay."""
    for file in known - _files_of(target / "manifest.json"):
        path = target / file
        path.unlink(missing_ok=True)
        for parent in path.relative_to(target).parents:
            if parent.name and (target / parent).is_dir() and not any((target / parent).iterdir()):
                (target / parent).rmdir()


def commit(folder: Path, target: Path) -> None:
    """Moves a complete set from `folder` to `target`. Then drops the files that the old manifest named and the new one
    does not. If that is killed, what is left of `folder` tells the next run which files to drop."""
    shutil.copyfile(folder / "manifest.json", folder / NEXT)
    before = _files_of(target / "manifest.json")
    if before:
        shutil.copyfile(target / "manifest.json", folder / BEFORE)
    for source in sorted(folder.glob("arrays/**/*.npy")):
        destination = target / source.relative_to(folder)
        destination.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, destination)
    for other in folder.glob("*.json"):
        if other.name not in ("manifest.json", NEXT, BEFORE):
            os.replace(other, target / other.name)
    os.replace(folder / "manifest.json", target / "manifest.json")
    _drop_unnamed(target, before)
