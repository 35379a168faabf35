"""Virtual environments under build/ that hold exactly what one of our requirements.txt files pins. Each is made if it
is missing or stale, by one process at a time.

Only the standard library is used: any Python 3 can run this.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
STAMP = "ropecheck-stamp"  # written last, so an interrupted installation is stale
GOLDEN = BUILD / "golden-venv"
GOLDEN_REQUIREMENTS = ROOT / "golden" / "regenerate" / "requirements.txt"


class Unavailable(Exception):
    """The environment is not available here; the message says why and what to do."""


class NoSuchVersion(Unavailable):
    """The package index answers, and has no version that is pinned for this Python: the pins are wrong."""


def fingerprint(*parts: str | Path) -> str:
    """A hash of this Python, and of texts and requirement files."""
    texts = [part.read_bytes() if isinstance(part, Path) else part.encode() for part in parts]
    return hashlib.sha256(b" ".join([sys.version.encode() + texts[0], *texts[1:]])).hexdigest()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A lock: two runs at once would install over each other."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_current(folder: Path, wanted: str) -> bool:
    """Whether the environment is complete and has this fingerprint."""
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text() == wanted


def environment(folder: Path, wanted: str, install: Callable[[Path], None]) -> Path:
    """The Python of an environment that is complete and current. Call it within locked()."""
    python = folder / "bin" / "python"
    if is_current(folder, wanted):
        return python
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, with_pip=True)
    except subprocess.CalledProcessError:
        raise Unavailable("no virtual environment with pip can be made here (Debian package python3-venv)") from None
    try:
        install(python)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    (folder / STAMP).write_text(wanted)
    return python


def pip(python: Path, *words: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs pip with few retries: without a network they would only cost time."""
    command = [str(python), "-m", "pip", "-q", "--disable-pip-version-check", "--retries", "1", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(variables or {})})


def pip_install(python: Path, *arguments: str, variables: dict[str, str] | None = None) -> None:
    """Raises Unavailable with pip's own reason."""
    done = pip(python, "install", *arguments, variables=variables)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["pip gave no message"]
        reason = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
        is_reached = "from versions: " in done.stderr and "from versions: none" not in done.stderr
        raise (NoSuchVersion if is_reached else Unavailable)(f"pip cannot install: {reason.removeprefix('ERROR: ')}")


def look_into(folder: Path, *others: Path) -> None:
    """Packages that an environment lacks are found in the others, the first one first."""
    packages = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    (folder / packages / "pinned.pth").write_text("".join(f"{other / packages}\n" for other in others))


def _install_golden(python: Path) -> None:
    pip_install(python, "--no-deps", "--requirement", str(GOLDEN_REQUIREMENTS))
    if subprocess.run([str(python), "-c", "import torch"], stderr=subprocess.DEVNULL).returncode != 0:
        raise Unavailable(
            "torch was installed but cannot be imported, most likely because pip found a build for GPUs; tell pip where"
            " the CPU build of torch 2.13.0 lies (PIP_FIND_LINKS or PIP_INDEX_URL) and try again"
        )


def golden_fingerprint() -> str:
    """The fingerprint of the environment that golden_python makes."""
    return fingerprint(GOLDEN_REQUIREMENTS)


def golden_python(say: Callable[[str], None]) -> Path:
    """torch, transformers, labml-nn and rotary-embedding-torch, as used to make the golden files."""
    def install(python: Path) -> None:
        say(f"installing the pinned packages into {GOLDEN} (about a minute, once)")
        _install_golden(python)

    with locked(GOLDEN):
        return environment(GOLDEN, golden_fingerprint(), install)
