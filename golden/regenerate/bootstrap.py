"""Makes the pinned environment under build/golden-venv if it is missing or stale, and runs the regeneration in it.

Standard library only: this is what `ropecheck golden regenerate` starts with whatever Python 3 there is.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE.parents[1] / "build" / "golden-venv"
REQUIREMENTS = HERE / "requirements.txt"
STAMP = VENV / "ropecheck-stamp"  # written last, so an interrupted installation is stale


def fingerprint() -> str:
    return hashlib.sha256(sys.version.encode() + REQUIREMENTS.read_bytes()).hexdigest()


def is_current() -> bool:
    return STAMP.is_file() and STAMP.read_text() == fingerprint()


def say(text: str) -> None:
    print(f"golden regenerate: {text}", file=sys.stderr, flush=True)


def install() -> None:
    say(f"installing the pinned packages into {VENV} (about a minute, once)")
    shutil.rmtree(VENV, ignore_errors=True)
    venv.create(VENV, with_pip=True)
    python = str(VENV / "bin" / "python")
    pip = [python, "-m", "pip", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-deps", "--requirement", str(REQUIREMENTS)], check=True)
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode != 0:
        raise SystemExit(
            "golden regenerate: torch was installed but cannot be imported, most likely because pip found a build for"
            " GPUs; tell pip where the CPU build of torch 2.13.0 lies (PIP_FIND_LINKS or PIP_INDEX_URL) and try again"
        )
    STAMP.write_text(fingerprint())


def main() -> None:
    VENV.parent.mkdir(parents=True, exist_ok=True)
    with open(VENV.parent / "golden-venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once would install over each other
        if not is_current():
            try:
                install()
            except subprocess.CalledProcessError as error:
                say(f"pip failed with exit status {error.returncode}; its message is above")
                raise SystemExit(3) from None
    python = str(VENV / "bin" / "python")
    os.execv(python, [python, str(HERE), *sys.argv[1:]])


if __name__ == "__main__":
    main()
