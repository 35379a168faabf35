"""ropecheck golden regenerate: runs the real packages and writes, or checks, the golden files."""

import argparse
import contextlib
import importlib.metadata
import io
import json
import logging
import os
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here needs the network
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

GOLDEN = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "numpy", "transformers", "labml-nn", "rotary-embedding-torch")


EXIT_CODES = """exit codes:
  0    written; with --check: everything agrees
  1    with --check or --with: something differs, or a case could not be computed; without: the changes ask for
       another version of the set, and nothing was written
  2    usage, or nothing to compare with
  3    the Python environment, or a version named by --with, cannot be installed
  130  interrupted: the files are as they were
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="ropecheck golden regenerate",
        description="Runs the real packages and writes, or checks, the golden files.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with the committed files, layer by layer; write nothing"
    )
    parser.add_argument("--exact", action="store_true", help="with --check: bit for bit, the cases that this host made")
    parser.add_argument(
        "--only", metavar="SOURCE", help="labml, huggingface, lucidrains or published; others stay as they are"
    )
    parser.add_argument(
        "--with",
        metavar="PACKAGE==VERSION",
        dest="tried",
        action="append",
        default=[],
        help="try another version, in an environment of its own, and report what changed; writes nothing; repeatable",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=GOLDEN, help="folder of manifest.json (default: golden/)"
    )
    return parser.parse_args()


def progress(count: int, name: str, total: int = 0) -> None:
    """A bar, as far as the number of cases is known: ids.txt does not have new cases yet."""
    if sys.stderr.isatty():
        done = 30 * min(count, total) // total if total else 0
        print(f"\r\x1b[K[{'#' * done:30}] {count} {name}", end="", file=sys.stderr, flush=True)


def in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def generate(only: str | None, failures: dict[str, str] | None = None) -> dict:
    """failures: if given, a case or a source that raises does not end the run: its name and the reason are added."""
    # Our output must not contain what packages print and log: labml prints on import, transformers warns of its configs.
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        import store
        from case import Case, Deferred
        from sources import SOURCES, cases

        if only is not None and only not in SOURCES:
            print(f"--only {only}: no such source; use one of {', '.join(SOURCES)}", file=sys.stderr)
            raise SystemExit(2)
        ids = (GOLDEN / "ids.txt").read_text().split()
        total = len(ids) if only is None else sum(i.startswith(f"{only}/") for i in ids)
        records = {}
        for name, package in SOURCES.items():
            if only not in (None, name):
                continue
            progress(len(records), f"importing {package}", total)
            try:
                for case in cases(name):
                    try:
                        case = case.make() if isinstance(case, Deferred) else case
                    except Exception as error:
                        if failures is None:
                            raise
                        failures[Case.begun] = in_words(error)
                        continue
                    version = "as printed" if case.package == "published" and case.rounding == "printed" else None
                    assert case.id not in records, f"two cases are called {case.id}"
                    records[case.id] = store.record(case, version or importlib.metadata.version(package))
                    progress(len(records), case.id, total)
            except Exception as error:
                if failures is None:
                    raise
                failures[name] = in_words(error)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return records


def installed(tried: list[str]) -> bool:
    """Whether this environment holds the versions to try; bootstrap.py makes one that does."""
    for requirement in tried:
        name, _, version = requirement.partition("==")
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "not installed"
        if found != version:
            print(f"--with {requirement}: {name} is {found} here; run `ropecheck golden regenerate`", file=sys.stderr)
            return False
    return True


def of_source(records: dict, only: str | None) -> dict:
    return {k: v for k, v in records.items() if only is None or k.startswith(f"{only}/")}


def try_versions(options: argparse.Namespace) -> int:
    import answers

    failures: dict[str, str] = {}
    fresh = generate(options.only, failures)
    import store
    import tried

    pinned = {p["name"]: p["version"] for p in json.loads((options.out / "manifest.json").read_text())["packages"]}
    versions = [
        f"{name} {version} (committed: {pinned.get(name, 'not recorded')})"
        for name, _, version in (requirement.partition("==") for requirement in options.tried)
    ]
    status = tried.report(fresh, of_source(store.read(options.out), options.only), failures, versions)
    changed = answers.differences(
        answers.make(options.only), answers.read(options.out), options.only, ignored=("version",)
    )
    for _, line in changed:
        print(line)
    return 1 if changed else status


def check(fresh: dict, errors: dict, only: str | None, target: Path, exact: bool, host: dict) -> int:
    import answers
    import check as layers
    import store

    manifest = json.loads((target / "manifest.json").read_text())
    stored = of_source(store.read(target), only)
    default, this = manifest["host"]["fingerprint"], host["fingerprint"]
    made_here = {k for k, r in stored.items() if r.entry.get("host", default) == this}
    if exact and not made_here:
        makers = ", ".join(sorted({r.entry.get("host", default) for r in stored.values()}))
        print(
            f"--exact: the files were made on host {makers}, this is {this}; use --check without --exact",
            file=sys.stderr,
        )
        return 2
    result = layers.compare(fresh, stored)
    result.differences += store.schema_errors(manifest)
    result.differences += [line for _, line in answers.differences(errors, answers.read(target), only)]
    total = sum(result.compared.values())
    if exact:
        result.differences += [line for k in sorted(made_here & fresh.keys()) for line in layers.exact(fresh[k], stored[k])]
    for line in result.differences:
        print(line)
    counts = ", ".join(f"{layer} {count}" for layer, count in result.compared.items())
    verdict = "differs" if result.differences else "agrees"
    print(f"{verdict}: {len(fresh)} cases, {total} arrays ({counts}), {result.identical} identical bit for bit")
    if exact and len(made_here) < len(stored):
        print(f"{len(stored) - len(made_here)} cases were made on another host: their arrays may differ within the bounds")
    return 1 if result.differences else 0


def replace(fresh: dict, errors: dict, only: str | None, target: Path, host: dict) -> int:
    import answers
    import store
    import update as updates

    manifest = json.loads((target / "manifest.json").read_text()) if (target / "manifest.json").exists() else None
    hosts = store.hosts_of(manifest) if manifest else {}
    default = next(iter(hosts.values()), host)
    stored = store.read(target) if manifest else {}
    update = updates.plan(fresh, stored, only, host["fingerprint"], default["fingerprint"])
    answered = answers.read(target)
    for level, line in answers.differences(errors, answered, only):
        update.note(level, line)
    if manifest:
        for line in update.lines:
            print(line)
        if not updates.is_enough(store.SET_VERSION, manifest["version"], update.level):
            least = updates.least_version(manifest["version"], update.level)
            print(
                f"nothing was written: these are {updates.LEVELS[update.level]} change of version {manifest['version']}, "
                f"which asks for {least} or later, not {store.SET_VERSION}; set SET_VERSION in "
                f"golden/regenerate/store.py (golden/README.md, Versions)",
                file=sys.stderr,
            )
            return 1
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    others = [other for name, other in (hosts | {host["fingerprint"]: host}).items() if name != default["fingerprint"]]
    new = store.manifest_of(update.records, versions, default, others)
    broken = store.schema_errors(new)
    assert not broken, "\n".join(broken)
    with store.staging(target) as folder:
        store.write(folder, update.records, new)
        (folder / answers.FILE).write_text(answers.text(answers.merged(errors, answered, only)))
        store.commit(folder, target)
    files = {array["file"] for entry in new["cases"] for array in entry["arrays"]}
    size = sum((target / file).stat().st_size for file in files)
    print(f"{target / 'manifest.json'}: {len(update.records)} cases, {size / 1e6:.2f} MB of arrays")
    return 0


def main() -> int:
    options = arguments()
    if options.exact and (options.tried or not options.check):
        print("--exact goes with --check, and not with --with", file=sys.stderr)
        return 2
    if options.tried and not installed(options.tried):
        return 3
    if (options.check or options.tried) and not (options.out / "manifest.json").exists():
        print(f"{options.out / 'manifest.json'}: not there; run without --check to make it", file=sys.stderr)
        return 2
    started = time.monotonic()
    progress(0, "importing torch")
    import torch

    torch.set_num_threads(1)  # the order of a sum must not depend on the machine
    import answers
    import host

    if options.tried:
        status = try_versions(options)
    elif options.check:
        status = check(
            generate(options.only),
            answers.make(options.only),
            options.only,
            options.out,
            options.exact,
            host.describe(),
        )
    else:
        status = replace(
            generate(options.only), answers.make(options.only), options.only, options.out, host.describe()
        )
    if sys.stderr.isatty():
        print(f"{time.monotonic() - started:.1f} s", file=sys.stderr)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\ninterrupted; the files are as they were", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        print(f"golden regenerate: {error}; the files are as they were", file=sys.stderr)
        sys.exit(2)
