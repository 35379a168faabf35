"""Root folders of Debian, where a command runs as on another machine. Each is made once, in build/portable/roots."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOTS = ROOT / "build" / "portable" / "roots"
INSIDE = "; ".join((  # with the arguments: root, work, shared folders, command
    "set -e",
    "root=$1 work=$2 shared=$3",
    "shift 3",
    'mount -t proc proc "$root/proc"',
    """printf '%s' "$shared" | while read -r path""",
    'do mkdir -p "$root$path"',
    'mount --bind "$path" "$root$path"',
    "done",
    """exec chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$work" "$@" """,
))


class Unavailable(Exception):
    """The root cannot be made here; the message says why and what to do."""


def made(name: str, release: str, packages: Sequence[str]) -> Path:
    """The folder of this name, with these packages. It is made again if the list of packages has changed."""
    folder = ROOTS / name
    stamp, wanted = folder / "made", " ".join([release, *packages])
    if stamp.is_file() and stamp.read_text() == wanted:
        return folder
    if os.geteuid() != 0:
        raise Unavailable("only root can make a root folder of Debian")
    if not shutil.which("debootstrap"):
        raise Unavailable("debootstrap is missing (Debian package debootstrap)")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", release, str(folder)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"debootstrap {release} failed: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
    stamp.write_text(wanted)
    return folder


def command(folder: Path, *words: str, work: Path | str = "/", shared: Sequence[Path] = (),
            network: bool = False) -> list[str]:
    """A command in the root, which starts in `work`. The `shared` folders have the same path there as here.

    It has namespaces of its own, so what it starts and mounts ends with it.
    """
    lines = "".join(f"{path}\n" for path in shared)
    return ["unshare", *([] if network else ["--net"]), "--mount", "--pid", "--fork", "--kill-child",
            "/bin/sh", "-c", INSIDE, "sh", str(folder), str(work), lines, *words]
