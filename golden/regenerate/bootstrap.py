"""Makes the pinned environment under build/golden-venv if it is missing or stale, and runs the regeneration in it. For
--with it makes another one beside it, which holds the versions to try and finds everything else in the first.

Standard library only: this is what `ropecheck golden regenerate` starts with whatever Python 3 there is.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
VENV = BUILD / "golden-venv"
REQUIREMENTS = HERE / "requirements.txt"
CANNOT_START = 3  # exit code
INTERRUPTED = 130
# What --with takes: one distribution, one version.
REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*")


def say(text: str) -> None:
    print(f"golden regenerate: {text}", file=sys.stderr, flush=True)


def stop(text: str, status: int) -> None:
    say(text)
    raise SystemExit(status)


def versions_to_try(arguments: list[str]) -> list[str]:
    """The values of --with, sorted; the rest of the command line is __main__.py's business."""
    wanted = []
    for i, argument in enumerate(arguments):
        if argument == "--with" and i + 1 < len(arguments):
            wanted.append(arguments[i + 1])
        elif argument.startswith("--with="):
            wanted.append(argument.removeprefix("--with="))
    for text in wanted:
        if not REQUIREMENT.fullmatch(text):
            stop(f"--with {text}: expected PACKAGE==VERSION, such as transformers==5.22.0", 2)
    return sorted(wanted)


def pip_install(python: Path, *arguments: str, capture: bool = False) -> subprocess.CompletedProcess:
    command = [str(python), "-m", "pip", "-qq", "--disable-pip-version-check", "install", "--no-deps", *arguments]
    return subprocess.run(command, capture_output=capture, text=True)


def install_pinned(folder: Path) -> None:
    say(f"installing the pinned packages into {folder} (about a minute, once)")
    python = folder / "bin" / "python"
    status = pip_install(python, "--requirement", str(REQUIREMENTS)).returncode
    if status != 0:
        stop(f"pip failed with exit status {status}; its message is above", CANNOT_START)
    if subprocess.run([str(python), "-c", "import torch"], stderr=subprocess.DEVNULL).returncode != 0:
        stop(
            "torch was installed but cannot be imported, most likely because pip found a build for GPUs; tell pip where"
            " the CPU build of torch 2.13.0 lies (PIP_FIND_LINKS or PIP_INDEX_URL) and try again",
            CANNOT_START,
        )


def install_tried(folder: Path, wanted: list[str]) -> None:
    say(f"installing {', '.join(wanted)} into {folder}")
    # Found after its own packages: what is not to be tried comes from the pinned environment.
    libraries = [f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"]
    for library in libraries:
        (folder / library / "pinned.pth").write_text(f"{VENV / library}\n")
    result = pip_install(folder / "bin" / "python", "--ignore-installed", *wanted, capture=True)
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if line.strip()] or ["pip gave no message"]
        reason = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
        shutil.rmtree(folder, ignore_errors=True)
        stop(f"--with {' --with '.join(wanted)} cannot be installed: {reason.removeprefix('ERROR: ')}", CANNOT_START)


def environment(folder: Path, fingerprint: str, install: Callable[[Path], None]) -> Path:
    """The Python of an environment that is complete and current."""
    stamp = folder / "ropecheck-stamp"  # written last, so an interrupted installation is stale
    if not stamp.is_file() or stamp.read_text() != fingerprint:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        install(folder)
        stamp.write_text(fingerprint)
    return folder / "bin" / "python"


def main() -> None:
    arguments = sys.argv[1:]
    wanted = versions_to_try(arguments)
    BUILD.mkdir(parents=True, exist_ok=True)
    pinned = hashlib.sha256(sys.version.encode() + REQUIREMENTS.read_bytes()).hexdigest()
    with open(BUILD / "golden-venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once would install over each other
        python = environment(VENV, pinned, install_pinned)
        if wanted:
            tried = hashlib.sha256(f"{pinned} {' '.join(wanted)}".encode()).hexdigest()
            folder = BUILD / f"golden-venv-{tried[:12]}"
            python = environment(folder, tried, lambda made: install_tried(made, wanted))
    os.execv(python, [str(python), str(HERE), *arguments])


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        stop("interrupted; nothing was changed", INTERRUPTED)
